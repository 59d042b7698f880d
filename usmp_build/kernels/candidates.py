"""Faster kernels for the instructions of a target: the first whose preconditions hold is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from usmp_build.interfaces.kernels import Kernel
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.request import Isa

_RUNS: Mapping[Isa, tuple[Isa, ...]] = {
    Isa.PORTABLE: (),
    Isa.SCALAR: (Isa.SCALAR,),
    Isa.DSP: (Isa.DSP,),
    Isa.MVE: (Isa.MVE, Isa.DSP),
}
"""The instructions that a target has beyond those of any C compiler, fastest first."""


class Declined(Exception):
    """A faster kernel cannot run the operator; the text is a clause: "it scales by more than 1/2"."""


def fastest(node: Node, candidates: Mapping[Isa, Callable[[], Kernel]], portable: Kernel) -> Kernel:
    """Return the fastest kernel that the target can run, with the reasons against those that were faster yet."""
    declined: list[str] = []
    for isa in _RUNS[node.isa]:
        if isa not in candidates:
            continue
        try:
            return replace(candidates[isa](), declined=tuple(declined))
        except (Declined, Unsupported) as reason:
            declined.append(f"{isa.value}: {reason}")
    return replace(portable, declined=tuple(declined))
