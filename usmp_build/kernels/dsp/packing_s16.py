"""Weights for int16 as the kernels for Arm's DSP extension read them, with all that they need proven; layouts:
c/dot_s16_dsp.h and c/channels_s16_dsp.h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import Constant
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.packed_filters import Filters, constant, in_blocks
from usmp_build.kernels.weights import BLOCK

_PAIR = 2
"""Elements in a word."""
_WIDEST_SUM = 1 << 31
_WIDEST_LANE = 1 << 15
_SHIFTS = range(-17, 0)
"""With these, a multiplier of 15 bits is shifted left by 16 bits at most, and to nowhere right of its lowest bit."""


def packed_s16(each: Filters, runs: int) -> Constant:
    """Return filters over so many equal runs of input elements, in blocks of four."""
    multipliers = _multipliers(each)
    outputs, taps = each.weights.shape
    weights, sums = in_blocks(each.weights, BLOCK), in_blocks(each.sums, BLOCK)
    words = _words(weights.reshape(*weights.shape[:2], runs, taps // runs))
    lanes = 256 * words[:, ::2] + words[:, 1::2]
    if int(lanes.min()) < -_WIDEST_LANE:
        raise Declined("weights of -128 are next to others below 0")
    # axes of lanes: block, pair of outputs, run, word, lane -> block, run, word, pair of outputs
    body = _halves(lanes).transpose(0, 2, 3, 1)
    both = 256 * sums[:, ::2] + sums[:, 1::2]
    heads = np.stack([both, both >> 32, sums[:, 1::2]], axis=-1)
    count = -(-outputs // BLOCK)
    parts = heads.reshape(count, -1), body.reshape(count, -1), in_blocks(multipliers, BLOCK)
    return _constant(np.concatenate(parts, axis=1).ravel())


def packed_depthwise_s16(each: Filters) -> Constant:
    """Return filters of one channel, four side by side; then those that are left over, a word for each weight."""
    multipliers = _multipliers(each)
    channels, taps = each.weights.shape
    full = channels - channels % BLOCK
    fours = each.weights[:full].reshape(-1, BLOCK, taps).transpose(0, 2, 1) & 0xFF
    by_tap = (fours << np.array([0, 16, 8, 24])).sum(axis=-1)
    sums, factors = each.sums[:full].reshape(-1, BLOCK), multipliers[:full].reshape(-1, BLOCK)
    parts = [np.concatenate([sums, by_tap, factors], axis=1).ravel()]
    for channel in range(full, channels):
        parts += [each.sums[channel : channel + 1], multipliers[channel : channel + 1], each.weights[channel]]
    return _constant(np.concatenate(parts))


def _multipliers(each: Filters) -> NDArray[np.int64]:
    """Return for each output what a sum is multiplied by, over 2^32; decline sums and factors that do not fit."""
    widest = np.abs(each.sums) + (np.abs(each.weights) << 15).sum(axis=1)
    if int(widest.max()) >= _WIDEST_SUM:
        raise Declined("its sums may not fit 32 bits")
    if int(each.shifts.max()) > _SHIFTS[-1]:
        raise Declined("it scales by 1/2 or more")
    if int(each.shifts.min()) < _SHIFTS[0]:
        raise Declined("it scales by less than 1/2^18")
    result: NDArray[np.int64] = each.multipliers << (17 + each.shifts)
    return result


def _words(runs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split the last axis in pairs; the last one may overlap the one before, and has 0 for what that has."""
    if runs.shape[-1] % _PAIR:
        repeated = np.zeros((*runs.shape[:-1], 1), np.int64)
        runs = np.concatenate([runs[..., :-1], repeated, runs[..., -1:]], axis=-1)
    return runs.reshape(*runs.shape[:-1], -1, _PAIR)


def _halves(lanes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join the two halves of the last axis to a word, the first one lower."""
    return (lanes[..., 0] & 0xFFFF) | (lanes[..., 1] & 0xFFFF) << 16


def _constant(words: NDArray[np.int64]) -> Constant:
    return constant((words & 0xFFFFFFFF).astype("<u4").tobytes())
