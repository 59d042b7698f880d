"""Weights as the kernels for Helium read them, with all that they need proven; layouts: c/dot_mve.h and
c/channels_mve.h.
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

VECTOR = 16
"""Bytes of a vector."""
SHORT = 4 * VECTOR
"""Bytes of a pixel's inputs that fit registers."""
FACTORS = 9
"""Bytes of an output's bias, multiplier and shift."""
_WIDEST_PAIR = 255
"""Of two taps, products with an int8 fit 16 bits if the magnitudes of their weights add up to no more."""


class Filters(NamedTuple):
    """Filters of int8, and how their sums become outputs; the first axis of all is that of the outputs."""

    weights: NDArray[np.int64]
    """Of shape (outputs, taps)."""
    sums: NDArray[np.int64]
    """Biases less the input's zero point times the sum of the weights."""
    multipliers: NDArray[np.int64]
    shifts: NDArray[np.int64]
    """To the left: all are negative."""


def filters(node: Node, weights: NDArray[np.int64], factors: Sequence[Factor]) -> Filters:
    """Return filters of shape (outputs, taps) with their biases and factors; decline what cannot be scaled exactly.

    Sums wrap around as int32 does: those that the portable kernels have are exact.
    """
    multipliers, shifts = np.array(factors, np.int64).T
    shifts = np.where(multipliers == 0, -1, shifts)
    if shifts.max() > -1:
        raise Declined("it scales by 1/2 or more")
    bias = node.optional(2)
    sums = np.zeros(len(weights), np.int64) if bias is None else bias.as_array().ravel().astype(np.int64)
    return Filters(weights, sums - node.zero_point(node.input(0)) * weights.sum(axis=1), multipliers, shifts)


def packed(each: Filters, runs: int) -> Constant:
    """Return filters over so many equal runs of input bytes, in blocks of four."""
    outputs, taps = each.weights.shape
    run = taps // runs
    weights = np.pad(each.weights.reshape(outputs, runs, run), ((0, 0), (0, 0), (0, -run % VECTOR)))
    vectors = _blocks(weights.reshape(outputs, -1, VECTOR), BLOCK).transpose(0, 2, 1, 3)
    sums, multipliers = _words(_blocks(each.sums, BLOCK)), _words(_blocks(each.multipliers, BLOCK))
    body, shifts = _bytes(vectors.reshape(len(vectors), -1)), _bytes(_blocks(each.shifts, BLOCK))
    return _constant(np.concatenate([sums, body, multipliers, shifts], axis=1))


def packed_channels(each: Filters, size: int) -> Constant:
    """Return filters of one channel each, in blocks of eight or sixteen."""
    magnitudes = np.abs(each.weights)
    pairs = magnitudes[:, 0:-1:2] + magnitudes[:, 1::2]
    if pairs.size and pairs.max() > _WIDEST_PAIR:
        raise Declined("it has two weights of -128 side by side")
    weights = _bytes(_blocks(each.weights, size).transpose(0, 2, 1))
    count, vectors = len(weights), size // BLOCK
    lanes = np.arange(size).reshape(BLOCK, vectors).T
    lanes = lanes[[0, 2, 1, 3]] if vectors == BLOCK else lanes

    def by_lane(array: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return blocks in the order of lanes; of shape (blocks, vectors, lanes)."""
        return _blocks(array, size)[:, lanes]

    factors = np.concatenate([_words(by_lane(each.multipliers)), _bytes(by_lane(each.shifts))], -1)
    parts = (_words(by_lane(each.sums)), weights, factors)
    return _constant(np.concatenate([part.reshape(count, -1) for part in parts], 1))


def _blocks(array: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Split the first axis in blocks, the last one filled up with zeros."""
    padding = [(0, -len(array) % size), *((0, 0) for _ in array.shape[1:])]
    return np.pad(array, padding).reshape(-1, size, *array.shape[1:])


def _words(array: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the bytes of words, along the last axis."""
    return (array & 0xFFFFFFFF).astype("<u4")[..., np.newaxis].view(np.uint8).reshape(*array.shape[:-1], -1)


def _bytes(array: NDArray[np.int64]) -> NDArray[np.uint8]:
    return array.astype(np.int8).view(np.uint8)


def _constant(data: NDArray[np.uint8]) -> Constant:
    return Constant("packed", DType.INT32, data.tobytes())
