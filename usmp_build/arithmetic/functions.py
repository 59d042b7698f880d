"""Functions of one int8 as tables of their 256 values, in TensorFlow Lite Micro's arithmetic; GELU in LiteRT's."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from usmp_build.arithmetic import fixed_point
from usmp_build.arithmetic.fixed_point import ONE, Factor, multiply_high, shift_left, shift_right
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


@lru_cache(maxsize=64)
def elu(source: Quantized, output: Quantized) -> bytes:
    """ELU: x, but e^x - 1 below 0."""
    return _of_float32(lambda x: np.float32(math.exp(x)) - _ONE if x < 0 else x, source, output)


@lru_cache(maxsize=64)
def exp(source: Quantized, output: Quantized) -> bytes:
    """e^x."""
    return _of_float32(lambda x: np.float32(np.exp(np.float64(x))), source, output)


@lru_cache(maxsize=64)
def gelu(source: Quantized, output: Quantized) -> bytes:
    """GELU by the error function."""
    return _of_float32(lambda x: _HALF * x * (_ONE + np.float32(math.erf(x * _ROOT_OF_HALF))), source, output)


@lru_cache(maxsize=64)
def gelu_tanh(source: Quantized, output: Quantized) -> bytes:
    """GELU by the hyperbolic tangent."""

    def function(x: np.float32) -> np.float32:
        inner = _ROOT_OF_2_OVER_PI * (x + _CUBIC * x * x * x)
        result: np.float32 = _HALF * x * (_ONE + np.float32(math.tanh(inner)))
        return result

    return _of_float32(function, source, output)


def _of_float32(function: Callable[[np.float32], np.float32], source: Quantized, output: Quantized) -> bytes:
    """Return the values of a function of real numbers, with the scales, in float32."""
    scale, per_step = np.float32(source.scale), _ONE / np.float32(output.scale)

    def value(distance: int) -> int:
        with np.errstate(over="ignore"):
            steps = float(function(scale * np.float32(distance)) * per_step)
        return fixed_point.round_half_away(steps) if abs(steps) < ONE else ONE if steps > 0 else -ONE

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
