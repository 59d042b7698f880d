"""Weights as the kernels for Arm's DSP extension read them, with all that they need proven; layouts: c/dot_dsp.h
and c/channels_dsp.h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import Constant
from usmp_build.kernels.packed_filters import (
    WIDEST_STEEP_SUM,
    Filters,
    check_scaling,
    constant,
    in_blocks,
    in_steep_blocks,
    reach,
    scaling,
)
from usmp_build.kernels.weights import BLOCK

WORD = 4
"""Bytes of input that are read at once."""
_PAIR = 2
_WIDEST_PAIR = 1 << 23
"""Two sums share 32 bits: those of even channels must be smaller."""
_LOWEST_LANE = -1 << 15
"""Of two weights in 16 bits: -128 and one below 0 are less."""


class Packed(NamedTuple):
    """Filters as a constant."""

    constant: Constant
    is_wide: bool = False
    """Whether their sums are wide."""
    divided: int = 0
    """1 if each row of the window has sums of its own, 2 if each pixel has."""


def packed_pair(each: Filters, runs: int) -> Constant | None:
    """Return one filter or two over `runs` equal runs of input bytes, if their sums share a register."""
    outputs, taps = each.weights.shape
    if outputs > _PAIR:
        return None
    are_steep = in_steep_blocks(each)
    widest = reach(each.weights, each.sums)
    if int(widest[0]) >= _WIDEST_PAIR:
        return None
    check_scaling(each, are_steep, widest)
    weights, sums = _in_fours(each.weights)[0, :_PAIR], _in_fours(each.sums)[0, :_PAIR]
    both, lower = _words(weights.reshape(_PAIR, runs, taps // runs))
    lanes = 256 * both + lower
    if int(lanes.min()) < _LOWEST_LANE:
        return None
    factors = _of_blocks(scaling(each, are_steep))[0, [0, 1, -1]]
    head = np.array([256 * sums[0] + sums[1], sums[1]])
    return _constant(np.concatenate([head, _halves(lanes).ravel(), factors]))


def packed(each: Filters, runs: int, height: int = 1, zero_point: int = 0) -> Packed:
    """Return filters over `runs` equal runs of input bytes, in blocks of four.

    The runs are pixels under a window of `height` rows; a zero point is taken off the input, not folded into the sums.
    """
    outputs, taps = each.weights.shape
    weights, sums = _in_fours(each.weights), _in_fours(each.sums)
    words = _words(weights.reshape(*weights.shape[:2], runs, taps // runs))
    lanes = 256 * words[:, ::2] + words[:, 1::2]
    widest = reach(weights, sums, zero_point)
    is_together = bool(widest[:, ::2].max() < _WIDEST_PAIR)
    divided = (
        0 if is_together or widest.max() >= WIDEST_STEEP_SUM else _divided(weights[:, ::2], height, runs, zero_point)
    )
    is_wide = bool(lanes.min() < _LOWEST_LANE) or not (is_together or divided)
    divided = 0 if is_wide else divided
    are_steep = in_steep_blocks(each) | bool(divided)
    check_scaling(each, are_steep, widest.ravel()[:outputs])
    if is_wide:
        lanes = (words[:, ::2] & 0xFF) << 8 | words[:, 1::2] & 0xFF
    body = _halves(lanes.transpose(0, 2, 3, 1, 4))  # from block, pair, run, word, byte to block, run, word, pair, byte
    first = sums[:, ::2] if is_wide or divided else 256 * sums[:, ::2] + sums[:, 1::2]
    heads = np.stack([first, sums[:, 1::2]], axis=-1)
    count = -(-outputs // BLOCK)
    parts = heads.reshape(count, -1), body.reshape(count, -1), _of_blocks(scaling(each, are_steep))
    return Packed(_constant(np.concatenate(parts, axis=1).ravel()), is_wide, divided)


def _divided(weights: NDArray[np.int64], height: int, runs: int, zero_point: int) -> int:
    """Return which parts of the sums are proven to fit what two sums share: 1 rows, 2 pixels, or 0."""
    for number, parts in ((1, height), (2, runs)):
        by_part = weights.reshape(*weights.shape[:2], parts, -1)
        if int(reach(by_part, 0, zero_point).max()) < _WIDEST_PAIR:
            return number
    return 0


def _halves(lanes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join the four lanes of the last axis to two words, 0 and 2, 1 and 3."""
    low = lanes & 0xFFFF
    return np.stack([low[..., 0] | low[..., 2] << 16, low[..., 1] | low[..., 3] << 16], axis=-1)


def packed_depthwise(each: Filters) -> Constant:
    """Return filters of one channel, four side by side; then those that are left over, a word for each weight."""
    channels, taps = each.weights.shape
    full = channels - channels % BLOCK
    are_steep = in_steep_blocks(each)
    check_scaling(each, are_steep, reach(each.weights, each.sums))
    excess_and_shifts = scaling(each, are_steep)
    by_tap = _bytes(each.weights[:full].reshape(-1, BLOCK, taps).transpose(0, 2, 1))[..., 0]
    sums = each.sums[:full].reshape(-1, BLOCK)
    parts = [np.concatenate([sums, by_tap, _of_blocks(excess_and_shifts[:full])], axis=1).ravel()]
    for channel in range(full, channels):
        parts += [each.sums[channel : channel + 1], excess_and_shifts[channel], each.weights[channel]]
    return _constant(np.concatenate(parts))


def _words(runs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split the last axis in words; the last word may overlap the one before, and has zeros for what that has."""
    size = runs.shape[-1]
    rest = size % WORD
    if rest:
        last = runs[..., size - rest :]
        repeated = np.zeros((*runs.shape[:-1], WORD - rest), np.int64)
        runs = np.concatenate([runs[..., : size - rest], repeated, last], axis=-1)
    return runs.reshape(*runs.shape[:-1], -1, WORD)


def _in_fours(array: NDArray[np.int64]) -> NDArray[np.int64]:
    return in_blocks(array, BLOCK)


def _of_blocks(factors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each block of outputs four multipliers, and a word of four bytes of shifts."""
    excess, shifts = factors.T
    return np.concatenate([_in_fours(excess), _bytes(_in_fours(shifts))], axis=1)


def _bytes(fours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join the four bytes of the last axis to a word, the first one lowest."""
    words: NDArray[np.int64] = ((fours & 0xFF) << np.array([0, 8, 16, 24])).sum(axis=-1, keepdims=True)
    return words


def _constant(words: NDArray[np.int64]) -> Constant:
    return constant((words & 0xFFFFFFFF).astype("<u4").tobytes())
