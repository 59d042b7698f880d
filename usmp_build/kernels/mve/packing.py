"""Weights as the kernels for Helium read them, with all that they need proven; layouts: c/dot_mve.h and
c/channels_mve.h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import Constant
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.packed_filters import Filters, constant, in_blocks
from usmp_build.kernels.weights import BLOCK

VECTOR = 16
"""Bytes of a vector."""
SHORT = 4 * VECTOR
"""Bytes of a pixel's inputs that fit registers."""
FACTORS = 9
"""Bytes of an output's bias, multiplier and shift."""
_WIDEST_PAIR = 255
"""Of two taps, products with an int8 fit 16 bits if the magnitudes of their weights add up to no more."""


def packed(each: Filters, runs: int) -> Constant:
    """Return filters over so many equal runs of input bytes, in blocks of four."""
    _check(each)
    outputs, taps = each.weights.shape
    run = taps // runs
    weights = np.pad(each.weights.reshape(outputs, runs, run), ((0, 0), (0, 0), (0, -run % VECTOR)))
    vectors = in_blocks(weights.reshape(outputs, -1, VECTOR), BLOCK).transpose(0, 2, 1, 3)
    sums, multipliers = _words(in_blocks(each.sums, BLOCK)), _words(in_blocks(each.multipliers, BLOCK))
    body, shifts = _bytes(vectors.reshape(len(vectors), -1)), _bytes(in_blocks(each.shifts, BLOCK))
    return constant(np.concatenate([sums, body, multipliers, shifts], axis=1).tobytes())


def packed_channels(each: Filters, size: int) -> Constant:
    """Return filters of one channel each, in blocks of eight or sixteen."""
    _check(each)
    magnitudes = np.abs(each.weights)
    pairs = magnitudes[:, 0:-1:2] + magnitudes[:, 1::2]
    if pairs.size and pairs.max() > _WIDEST_PAIR:
        raise Declined("it has two weights of -128 side by side")
    weights = _bytes(in_blocks(each.weights, size).transpose(0, 2, 1))
    count, vectors = len(weights), size // BLOCK
    lanes = np.arange(size).reshape(BLOCK, vectors).T
    lanes = lanes[[0, 2, 1, 3]] if vectors == BLOCK else lanes

    def by_lane(array: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return blocks in the order of lanes; of shape (blocks, vectors, lanes)."""
        return in_blocks(array, size)[:, lanes]

    factors = np.concatenate([_words(by_lane(each.multipliers)), _bytes(by_lane(each.shifts))], -1)
    parts = (_words(by_lane(each.sums)), weights, factors)
    return constant(np.concatenate([part.reshape(count, -1) for part in parts], 1).tobytes())


def _check(each: Filters) -> None:
    if each.shifts.max() > -1:
        raise Declined("it scales by 1/2 or more")


def _words(array: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the bytes of words, along the last axis."""
    return (array & 0xFFFFFFFF).astype("<u4")[..., np.newaxis].view(np.uint8).reshape(*array.shape[:-1], -1)


def _bytes(array: NDArray[np.int64]) -> NDArray[np.uint8]:
    return array.astype(np.int8).view(np.uint8)
