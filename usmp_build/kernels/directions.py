"""The two directions of a kernel: the same turns, from the first to the last, or from the last to the first."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.interfaces.kernels import Kernel, KernelCall

_FORWARD, _BACKWARD = 1, -1
"""What `direction` is, the last member of every struct of parameters in `c/`."""


def in_both_directions(kernel: Kernel) -> Kernel:
    """Complete the parameters of a kernel's calls, and give it its backward form.

    That has the last call first; each call has its last image, row, pixel, block of channels or element first.  The
    same is done to the kernel that goes by rows.
    """
    by_rows = kernel.by_rows and in_both_directions(kernel.by_rows)
    backward = replace(kernel, calls=tuple(_towards(call, _BACKWARD) for call in reversed(kernel.calls)), by_rows=None)
    forward = tuple(_towards(call, _FORWARD) for call in kernel.calls)
    return replace(kernel, calls=forward, backward=backward, by_rows=by_rows)


def _towards(call: KernelCall, direction: int) -> KernelCall:
    assert call.parameters is not None
    parameters = replace(call.parameters, fields=(*call.parameters.fields, ("direction", direction)))
    return replace(call, parameters=parameters, backward=direction == _BACKWARD)
