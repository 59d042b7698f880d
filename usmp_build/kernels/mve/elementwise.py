"""ADD, SUB and MUL with Helium, from their portable kernels."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.interfaces.kernels import Kernel, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node
from usmp_build.request import Isa

_HALF = 1 << 30
"""The multiplier for a factor of 1/2."""
_TURN = 8
"""Elements that MUL makes at once."""


def add_mve(node: Node, portable: Kernel) -> Kernel:
    """Return the kernel of ADD and SUB with Helium, which reads four elements before it writes them."""
    _check(node)
    (call,) = portable.calls
    assert call.parameters is not None
    fields = dict(call.parameters.fields)
    factors = [(fields[f"{each}_multiplier"], fields[f"{each}_shift"]) for each in ("first", "second")]
    if fields["output_shift"] == 0 or any(shift == 0 and by not in (0, _HALF) for by, shift in factors):
        raise Declined("it scales by 1/2 or more")
    return replace(portable, calls=(replace(call, function=c_name("add", DType.INT8, isa=Isa.MVE)),))


def mul_mve(node: Node, portable: Kernel, run: int, steps: tuple[int, ...], part: str = "") -> Kernel:
    """Return the kernel of MUL with Helium, which reads eight elements of a run before it writes them.

    Runs have `run` elements of the output; `steps` are those from one element of each operand to the next.
    """
    _check(node)
    (call,) = portable.calls
    assert call.parameters is not None
    fields = dict(call.parameters.fields)
    size, shift = fields["size"], fields["shift"]
    assert isinstance(size, int)
    assert isinstance(shift, int)
    if shift >= 0:
        raise Declined("it scales by 1/2 or more")
    if run < _TURN:
        raise Declined(f"it has runs of fewer than {_TURN} elements")
    # an element for all of a run is read for its whole turns, and for the last one
    turns = size // run * (2 if run % _TURN else 1)
    once = {position: Traffic(turns) for position, step in enumerate(steps) if step == 0}
    function = c_name("mul", DType.INT8, isa=Isa.MVE, part=part)
    return replace(portable, calls=(replace(call, function=function, traffic={**call.traffic, **once}),))


def _check(node: Node) -> None:
    if node.output.dtype is not DType.INT8:
        raise Declined(f"it is for int8, not {node.output.dtype.name}")
