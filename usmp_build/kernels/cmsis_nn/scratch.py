"""The scratch of CMSIS-NN's functions, in bytes: what their `*_get_buffer_size` returns in any of its versions 6 and 7.

And tails: how many bytes behind constants they read, which changes no result.  With Helium, loops load the next 16
bytes of weights before they know that there are none, and depthwise ones load four channels where fewer are left.

Arguments are named as the fields of CMSIS-NN's structs.  Where compilers or versions differ, it is the most.
"""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.request import Isa

_BLOCK = 124
"""Channels of a block of depthwise convolutions with Helium: CH_IN_BLOCK_MVE."""


_VECTOR = 16
"""Bytes of a vector of Helium."""


class Dims(NamedTuple):
    """A shape: of filters, `n` counts them."""

    n: int
    h: int
    w: int
    c: int


class Pair(NamedTuple):
    """Down and across."""

    h: int
    w: int


class Tail(NamedTuple):
    """Most bytes that are read behind weights, and behind biases, multipliers and shifts."""

    weights: int
    numbers: int


def convolution_tail(isa: Isa) -> Tail:
    """Return the tail of what arm_convolve_wrapper_s8 reads."""
    return Tail(_VECTOR if isa is Isa.MVE else 0, 0)


def depthwise_tail(isa: Isa, source: Dims, filters: Dims, dilation: Pair) -> Tail:
    """Return the tail of what arm_depthwise_conv_wrapper_s8 reads; `filters.c` are all channels of the output."""
    if isa is not Isa.MVE or source.c != filters.c or source.n != 1 or dilation != Pair(1, 1):
        return Tail(0, 0)
    lanes = -filters.c % 4
    return Tail(lanes, 4 * lanes)


def convolution(isa: Isa, source: Dims, filters: Dims, stride: Pair, padding: Pair, dilation: Pair) -> int:
    """Return the scratch of arm_convolve_wrapper_s8."""
    if (filters.h, filters.w, padding, dilation) == (1, 1, Pair(0, 0), Pair(1, 1)):
        # Armclang's code for the DSP extension has columns of two pixels here, other compilers' has none.
        return 2 * source.c * 2 if isa is Isa.DSP and stride == Pair(1, 1) else 0
    return _columns(isa, filters.h * filters.w * source.c)


def _columns(isa: Isa, elements: int) -> int:
    """Return the bytes of the columns that are multiplied: four of int8 with Helium, else two of int16."""
    return 4 * (-(-elements // 16) * 16) if isa is Isa.MVE else 2 * (-(-elements // 4) * 4) * 2


def depthwise(isa: Isa, source: Dims, filters: Dims, padding: Pair, dilation: Pair) -> int:
    """Return the scratch of arm_depthwise_conv_wrapper_s8; `filters.c` are all channels of the output."""
    taps = filters.h * filters.w
    if isa is Isa.MVE and source.c == 1 < filters.c:  # it is computed as an ordinary one, with other filters
        return _columns(isa, taps) + _in_words(taps * filters.c) + convolution_tail(isa).weights
    if isa is Isa.PORTABLE or source.c != filters.c or source.n != 1 or dilation != Pair(1, 1):
        return 0
    if isa is Isa.MVE:
        return 4 * _BLOCK * taps
    is_3x3 = (filters.h, filters.w) == (3, 3) and max(padding) <= 1
    return 0 if is_3x3 else _in_words(source.c * taps * 2)


def _in_words(size: int) -> int:
    return -(-size // 4) * 4


def average_pool(isa: Isa, channels: int) -> int:
    """Return the scratch of arm_avgpool_s8 and arm_avgpool_s16: a sum for each channel."""
    return channels * 4 if isa is Isa.DSP else 0
