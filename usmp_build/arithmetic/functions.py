"""Functions of one integer as tables: the 256 values of int8, and 513 of int16, between which C interpolates.

In TensorFlow Lite Micro's arithmetic; what that does not have, in LiteRT's: EXP, GELU, LOG and SQRT.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from usmp_build.arithmetic import fixed_point
from usmp_build.arithmetic.fixed_point import ONE, Factor, multiply_high, shift_left, shift_right, single
from usmp_build.arithmetic.interpolated import table as interpolated_table
from usmp_build.arithmetic.limits import LEAST, MOST, Quantized, within

_ONE, _HALF = np.float32(1), np.float32(0.5)
_ROOT_OF_HALF, _ROOT_OF_2_OVER_PI = np.float32(math.sqrt(0.5)), np.float32(math.sqrt(2 / math.pi))
_CUBIC = np.float32(0.044715)
_HALF_ROOT_OF_2 = 1518500250
"""With 31 bits after the point."""
_THREE_HALVES = 3 << 27
"""With 28 bits after the point."""
RSQRT_BITS = 20
"""After the point, before the result is scaled."""


@lru_cache(maxsize=64)
def absolute(source: Quantized, output: Quantized) -> bytes:
    """ABS."""
    factor = fixed_point.quantize(source.scale / output.scale)

    def value(distance: int) -> int:
        magnitude = abs(distance)
        return magnitude if source.scale == output.scale else fixed_point.scale(magnitude, factor)

    return _table(value, source, output)


def elu(x: np.float32, _: np.float32) -> np.float32:
    """ELU: x, but e^x - 1 below 0."""
    result: np.float32 = np.float32(math.exp(x)) - _ONE if x < 0 else x
    return result


def exp(x: np.float32, _: np.float32) -> np.float32:
    """e^x."""
    result: np.float32 = np.float32(np.exp(np.float64(x)))
    return result


def gelu(x: np.float32, _: np.float32) -> np.float32:
    """GELU by the error function."""
    result: np.float32 = _HALF * x * (_ONE + np.float32(math.erf(x * _ROOT_OF_HALF)))
    return result


def gelu_tanh(x: np.float32, _: np.float32) -> np.float32:
    """GELU by the hyperbolic tangent."""
    inner = _ROOT_OF_2_OVER_PI * (x + _CUBIC * x * x * x)
    result: np.float32 = _HALF * x * (_ONE + np.float32(math.tanh(inner)))
    return result


def log(x: np.float32, least: np.float32) -> np.float32:
    """The natural logarithm; of what has none, the least output."""
    return np.float32(math.log(x)) if x > 0 else least


Function: TypeAlias = Callable[[np.float32, np.float32], np.float32]
"""Of a real number, in float32; the second one is the least that the output's type can be."""


@lru_cache(maxsize=64)
@np.errstate(over="ignore", invalid="ignore")
def table(function: Function, source: Quantized, output: Quantized) -> bytes:
    """Return the values of a function for all of int8."""
    scale, per_step = np.float32(source.scale), _ONE / np.float32(output.scale)
    least = np.float32(output.scale) * np.float32(LEAST - output.zero_point)

    def value(distance: int) -> int:
        steps = float(function(scale * np.float32(distance), least) * per_step)
        return fixed_point.round_half_away(steps) if abs(steps) < ONE else ONE if steps > 0 else -ONE

    return _table(value, source, output)


@lru_cache(maxsize=64)
@np.errstate(over="ignore", invalid="ignore")
def interpolated(function: Function, source: float, output: float) -> bytes:
    """Return the values of a function for all of int16 between which C interpolates; both ends have a scale only."""
    low, high, least, most = (single(scale * end) for scale in (source, output) for end in (-32768, 32767))
    per_one = single(65536 / single(most - least))

    def value(x: float) -> float:
        return float(function(np.float32(x), np.float32(least)))

    return interpolated_table(value, low, high, per_one)


@lru_cache(maxsize=64)
@np.errstate(over="ignore")
def sqrt(source: Quantized, output: Quantized) -> bytes:
    """SQRT, rounded down; of what has no root, 0."""
    scale, per_output = np.float32(source.scale), np.float32(output.scale)

    def value(distance: int) -> int:
        steps = float(np.sqrt(np.float32(max(distance, 0)) * scale) / per_output)
        return math.floor(min(steps, ONE))

    return _table(value, source, output)


@lru_cache(maxsize=64)
def rsqrt(source: Quantized, output: Quantized) -> bytes:
    """RSQRT; 0, and what is below it and has no root, becomes the largest number."""
    multiplier, shift = fixed_point.quantize(rsqrt_factor(source, output))
    factor = Factor(multiplier, shift - RSQRT_BITS)

    def value(distance: int) -> int:
        if distance <= 0:
            return MOST - output.zero_point
        root, up = _rsqrt(distance)
        fine = fixed_point.scale(1, Factor(root, up + RSQRT_BITS))
        return fixed_point.scale(fine, factor)

    return _table(value, source, output)


def rsqrt_factor(source: Quantized, output: Quantized) -> float:
    """Return what the inverse root of an integer is multiplied with."""
    return 1.0 / (math.sqrt(source.scale) * output.scale)


def _table(value: Callable[[int], int], source: Quantized, output: Quantized) -> bytes:
    """Return the values for -128 to 127 of a function from steps above zero to steps above zero."""
    values = (value(each - source.zero_point) + output.zero_point for each in range(LEAST, MOST + 1))
    return bytes(within((each, each), (LEAST, MOST))[0] & 0xFF for each in values)


def _rsqrt(x: int) -> tuple[int, int]:
    """Return 1 / sqrt(x) as a factor with 31 bits after the point, and its shift to the left: five of Newton's steps.

    x is moved to between 1/2 and 2, by an even number of bits, with three bits before the point.
    """
    if x <= 1:
        return ONE - 1, 0
    pairs = (32 - x.bit_length() - 1) // 2 - 1
    shift = 11 - pairs
    near = (x << 2 * pairs) >> 1
    half = shift_right(near, 1)
    y = 1 << 28
    for _ in range(5):
        cube = shift_left(multiply_high(multiply_high(y, y), y), 6)
        y = shift_left(multiply_high(_THREE_HALVES, y) - multiply_high(half, cube), 3)
    root = multiply_high(y, _HALF_ROOT_OF_2)
    return (root << -shift, 0) if shift < 0 else (root, -shift)
