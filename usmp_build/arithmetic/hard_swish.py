"""x * relu6(x + 3) / 6 of int8 as a table: TensorFlow Lite Micro's arithmetic on 16 bits.

Numbers are int16 with 15 bits after the point.
"""

from __future__ import annotations

from functools import lru_cache

from usmp_build.arithmetic.fixed_point import Factor, quantize, shift_right, single
from usmp_build.arithmetic.limits import LEAST, MOST, Quantized, within

_ONE = 1 << 15
_HIGH_BITS = 7
"""An input of eight bits, less its zero point, is moved up by as many."""
_LARGEST_SHIFT = 15


@lru_cache(maxsize=64)
def hard_swish(source: Quantized, output: Quantized) -> bytes | None:
    """Return the values for -128 to 127; None where the scales leave TensorFlow Lite Micro's arithmetic undefined."""
    fine = single(source.scale) / (1 << _HIGH_BITS)
    to_output, to_gate = fine / single(output.scale), fine / (3 / _ONE)
    if not 0 < to_output < 1 or not 0 < to_gate < _ONE:
        return None
    scale, gate = _factor(to_output), _factor(to_gate)
    if min(scale.shift, gate.shift) < -_LARGEST_SHIFT or scale.shift > 0:
        return None
    values = (_value(value - source.zero_point, scale, gate) + output.zero_point for value in range(LEAST, MOST + 1))
    return bytes(min(max(value, LEAST), MOST) & 0xFF for value in values)


def _factor(real: float) -> Factor:
    """Return a factor whose multiplier has 16 bits."""
    multiplier, shift = quantize(real)
    return Factor(min(_ONE - 1, (multiplier + _ONE) >> 16), shift)


def _value(distance: int, scale: Factor, gate: Factor) -> int:
    fine = distance << _HIGH_BITS
    opened = _saturated(fine << max(0, gate.shift - 1))
    opened = _rounded(opened * gate.multiplier)
    opened = _saturated(opened << 1) if gate.shift > 0 else shift_right(opened, -gate.shift)
    product = ((opened + _ONE) >> 1) * _rounded(fine * scale.multiplier)
    return shift_right(_cut(product), -scale.shift)


def _rounded(product: int) -> int:
    """Take the high bits of a product; halves go up, as gemmlowp's nudge makes them."""
    return _cut(product + (1 << 14 if product >= 0 else 1 - (1 << 14)))


def _cut(product: int) -> int:
    """Take the high bits of a product, towards zero."""
    return product // _ONE if product >= 0 else -(-product // _ONE)


def _saturated(value: int) -> int:
    return within((value, value), (-_ONE, _ONE - 1))[0]
