"""How the values of outputs follow from those of operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from usmp_build.arithmetic import fixed_point, vectors
from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.arithmetic.limits import LEAST
from usmp_build.arithmetic.vectors import Integers
from usmp_build.ir.graph import Tensor
from usmp_build.ir.options import Activation
from usmp_build.operators.values.interval import Interval, full
from usmp_build.operators.values.quantized import factor, limits, quantized

Transfer: TypeAlias = Callable[[Sequence[Interval]], Interval]
"""From the intervals of the operands, one for each channel of the output, to that of the output."""


def scaled(ends: Interval, by: Factor, zero_point: int, limited: tuple[int, int]) -> Interval:
    """Scale, move and limit numbers; what may wrap may become anything within the limits."""
    safe = vectors.fits(ends.low, [by]) & vectors.fits(ends.high, [by])
    anything = full(len(ends.low), *limited)
    low, high = (
        np.clip(vectors.scale(np.where(safe, end, 0), [by]) + zero_point, *limited) for end in (ends.low, ends.high)
    )
    return Interval(np.where(safe, low, anything.low), np.where(safe, high, anything.high))


def rescaled(source: Tensor, output: Tensor, activation: Activation, count: int = 1) -> Transfer:
    """The mean of `count` elements, at another scale and zero point: the factor that scales their sum divides, too."""
    before, after = quantized(source), quantized(output)
    by = fixed_point.divided(factor(before.scale / after.scale), count)
    limited = limits(activation, output)

    def transfer(operands: Sequence[Interval]) -> Interval:
        low, high = ((end - before.zero_point) * count for end in (operands[0].low, operands[0].high))
        return scaled(Interval(low, high), by, after.zero_point, limited)

    return transfer


def looked_up(values: Integers) -> Transfer:
    """Look a value of int8 up; tables need not be monotone, so at every value between the ends."""

    def transfer(operands: Sequence[Interval]) -> Interval:
        x = operands[0]
        if x.is_constant.all():
            return Interval(values[x.low - LEAST], values[x.low - LEAST])
        parts = [values[a - LEAST : b - LEAST + 1] for a, b in zip(x.low.tolist(), x.high.tolist(), strict=True)]
        return Interval(np.array([part.min() for part in parts]), np.array([part.max() for part in parts]))

    return transfer
