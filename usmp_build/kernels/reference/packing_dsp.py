"""Weights as the kernels for Arm's DSP extension read them, with all that they need proven; layouts: c/dot_dsp.h
and c/depthwise_conv_2d_s8_dsp.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.interfaces.kernels import Constant
from usmp_build.ir.graph import DType
from usmp_build.kernels.reference.candidates import Declined
from usmp_build.kernels.reference.node import Node
from usmp_build.kernels.reference.weights import BLOCK

WORD = 4
"""Bytes of input that are read at once."""
_WIDEST_PAIR = 1 << 23
"""Two sums share 32 bits: those of even channels must be smaller."""
_WIDEST_SUM = 1 << 30
"""Sums are doubled before they are scaled."""


class Filters(NamedTuple):
    """Filters of int8, and how their sums become outputs; the first axis of all is that of the outputs."""

    weights: NDArray[np.int64]
    """Of shape (outputs, taps)."""
    sums: NDArray[np.int64]
    """Biases less the input's zero point times the sum of the weights."""
    excess: NDArray[np.int64]
    """Multipliers, doubled, less 2^32."""
    less: NDArray[np.int64]
    """Right shifts less 1."""


def filters(node: Node, weights: NDArray[np.int64], factors: Sequence[Factor]) -> Filters:
    """Return filters of shape (outputs, taps) with their biases and factors; decline what cannot be scaled exactly."""
    multipliers, shifts = np.array(factors, np.int64).T
    are_zero = multipliers == 0
    multipliers, shifts = np.where(are_zero, 1 << 30, multipliers), np.where(are_zero, -32, shifts)
    if shifts.max() > -1:
        raise Declined("it scales by 1/2 or more")
    bias = node.optional(2)
    sums = np.zeros(len(weights), np.int64) if bias is None else bias.as_array().ravel().astype(np.int64)
    sums = sums - node.zero_point(node.input(0)) * weights.sum(axis=1)
    result = Filters(weights, sums, 2 * multipliers - (1 << 32), -shifts - 1)
    if int(_widest(result).max()) >= _WIDEST_SUM:
        raise Declined("its sums may not fit 30 bits")
    return result


def _widest(filters: Filters) -> NDArray[np.int64]:
    """Return the largest magnitude that the sum of each output can reach."""
    weights, sums = filters.weights, filters.sums
    low, high = (
        np.where(weights > 0, weights * -128, weights * 127),
        np.where(weights > 0, weights * 127, weights * -128),
    )
    widest: NDArray[np.int64] = np.maximum(np.abs(sums + low.sum(axis=1)), np.abs(sums + high.sum(axis=1)))
    return widest


class Packed(NamedTuple):
    """Filters as a constant."""

    constant: Constant
    is_wide: bool
    """Whether their sums are wide."""


def packed(each: Filters, runs: int) -> Packed:
    """Return filters over so many equal runs of input bytes, in blocks of four."""
    outputs, taps = each.weights.shape
    weights, sums = _blocks(each.weights), _blocks(each.sums)
    words = _words(weights.reshape(*weights.shape[:2], runs, taps // runs))
    lanes = 256 * words[:, ::2] + words[:, 1::2]
    is_wide = int(_blocks(_widest(each))[:, ::2].max()) >= _WIDEST_PAIR or bool(lanes.min() < -1 << 15)
    if is_wide:
        lanes = (words[:, ::2] & 0xFF) << 8 | words[:, 1::2] & 0xFF
    # axes of lanes: block, pair, run, word, byte -> block, run, word, pair, (0, 2), (1, 3)
    halves = (lanes & 0xFFFF).transpose(0, 2, 3, 1, 4)
    body = np.stack([halves[..., 0] | halves[..., 2] << 16, halves[..., 1] | halves[..., 3] << 16], axis=-1)
    first = sums[:, ::2] if is_wide else 256 * sums[:, ::2] + sums[:, 1::2]
    heads = np.stack([first, sums[:, 1::2]], axis=-1)
    count = -(-outputs // BLOCK)
    parts = heads.reshape(count, -1), body.reshape(count, -1), _factors(each)
    return Packed(_constant(np.concatenate(parts, axis=1).ravel()), is_wide)


def packed_depthwise(each: Filters) -> Constant:
    """Return filters of one channel, four side by side; then those that are left over, a word for each weight."""
    channels, taps = each.weights.shape
    full = channels - channels % BLOCK
    fours = Filters(*(array[:full] for array in each))
    by_tap = _bytes(fours.weights.reshape(-1, BLOCK, taps).transpose(0, 2, 1))
    parts = [np.concatenate([fours.sums.reshape(-1, BLOCK), by_tap[..., 0], _factors(fours)], axis=1).ravel()]
    for channel in range(full, channels):
        parts.append(np.array([each.sums[channel], each.excess[channel], each.less[channel]]))
        parts.append(each.weights[channel])
    return _constant(np.concatenate(parts))


def _blocks(array: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split the first axis in blocks of four, the last one filled up with zeros."""
    padding = [(0, -len(array) % BLOCK), *((0, 0) for _ in array.shape[1:])]
    return np.pad(array, padding).reshape(-1, BLOCK, *array.shape[1:])


def _words(runs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split the last axis in words; the last word may overlap the one before, and has zeros for what that has."""
    size = runs.shape[-1]
    rest = size % WORD
    if rest:
        last = runs[..., size - rest :]
        repeated = np.zeros((*runs.shape[:-1], WORD - rest), np.int64)
        runs = np.concatenate([runs[..., : size - rest], repeated, last], axis=-1)
    return runs.reshape(*runs.shape[:-1], -1, WORD)


def _factors(each: Filters) -> NDArray[np.int64]:
    """Return for each block the multipliers and right shifts."""
    return np.concatenate([_blocks(each.excess), _bytes(_blocks(each.less))], axis=1)


def _bytes(fours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join the four bytes of the last axis to a word, the first one lowest."""
    words: NDArray[np.int64] = ((fours & 0xFF) << np.array([0, 8, 16, 24])).sum(axis=-1, keepdims=True)
    return words


def _constant(words: NDArray[np.int64]) -> Constant:
    return Constant("packed", DType.INT32, (words & 0xFFFFFFFF).astype("<u4").tobytes())


def zeros(node: Node, channels: int) -> Constant:
    """Return a pixel of the input's zero point."""
    zero_point = node.zero_point(node.input(0))
    return Constant("zeros", DType.INT8, np.full(channels, zero_point, np.int8).tobytes())
