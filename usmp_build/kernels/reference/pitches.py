"""How far pixels are from one another: side by side, or further apart where a tensor is channels of another one."""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Operand, Output
from usmp_build.ir.graph import Tensor
from usmp_build.ir.options import Pitched

PITCHED: frozenset[Operand] = frozenset({Input(0), Output(0)})
"""What may be channels of another tensor, of all operators with windows."""


class Pitches(NamedTuple):
    """Elements from one pixel to the next."""

    input: int
    output: int


def pitches(options: Pitched, source: Tensor, output: Tensor) -> Pitches:
    """Return the pitches of an operator's images."""
    return Pitches(*options.pitches) if options.pitches else Pitches(source.shape[3], output.shape[3])


def pitch_fields(found: Pitches) -> tuple[tuple[str, int], ...]:
    """Return them as parameters, as all structs of such operators end."""
    return ("input_pitch", found.input), ("output_pitch", found.output)
