"""Filters of int8 for kernels that read weights, biases and factors as one constant, packed at build time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.interfaces.kernels import Absent, Constant, Derived, Input, Kernel, Operand, Output, Parameters, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Nest, kernel
from usmp_build.kernels.node import Node
from usmp_build.kernels.weights import BLOCK

MOST_TAPS = 64
"""Most pixels under a window: pointers to them are on the stack."""


_WIDEST_SUM = 1 << 30
"""What sums are scaled to has room for rounding, unless it is shifted right by `_ROOM` bits first."""
_ROOM = 2
_WIDEST_INT32 = 1 << 31
WIDEST_STEEP_SUM = 1 << 29
"""After the shift to the left: what these are scaled to is doubled."""
_MOST_LEFT = 3
"""What fits the bits of a shift to the left."""
_STEEP = 0x80
"""The bit of usmp_scaled_steep_s8_dsp."""


class Filters(NamedTuple):
    """Filters, and how their sums become outputs; the first axis of all is that of the outputs."""

    weights: NDArray[np.int64]
    """Of shape (outputs, taps)."""
    sums: NDArray[np.int64]
    """Biases less the input's zero point times the sum of the weights."""
    multipliers: NDArray[np.int64]
    shifts: NDArray[np.int64]
    """To the left; that of a multiplier of 0 is negative."""


def filters(node: Node, weights: NDArray[np.int64], factors: Sequence[Factor]) -> Filters:
    """Return filters of shape (outputs, taps) with their biases and factors."""
    multipliers, shifts = np.array(factors, np.int64).T
    shifts = np.where(multipliers == 0, -1, shifts)
    if node.optional(2) is None:
        sums = np.zeros(len(weights), np.int64)
    else:
        sums = node.array(2, "biases").ravel().astype(np.int64)
    return Filters(weights, sums - node.zero_point(node.input(0)) * weights.sum(axis=1), multipliers, shifts)


def in_blocks(array: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Split the first axis in blocks, the last one filled up with zeros."""
    padding = [(0, -len(array) % size), *((0, 0) for _ in array.shape[1:])]
    return np.pad(array, padding).reshape(-1, size, *array.shape[1:])


def reach(weights: NDArray[np.int64], sums: NDArray[np.int64] | int, zero_point: int = 0) -> NDArray[np.int64]:
    """Return the largest magnitude that sums with products along the last axis of weights can reach.

    A zero point is taken off the input, so that every product can be 0: any of them may be left out.
    """
    from_lowest, from_highest = weights * (-128 - zero_point), weights * (127 - zero_point)
    least = sums + np.minimum(from_lowest, from_highest).sum(axis=-1)
    greatest = sums + np.maximum(from_lowest, from_highest).sum(axis=-1)
    widest: NDArray[np.int64] = np.maximum(np.abs(least), np.abs(greatest))
    return widest


def in_steep_blocks(each: Filters) -> NDArray[np.bool_]:
    """Return for each output whether one of its block of four is scaled by 1/2 or more."""
    steep = in_blocks((each.shifts >= 0).astype(np.int64), BLOCK).any(axis=1)
    return np.repeat(steep, BLOCK)[: len(each.shifts)]


def check_scaling(each: Filters, are_steep: NDArray[np.bool_], widest: NDArray[np.int64]) -> None:
    """Decline sums of these largest magnitudes that are too large to be scaled.

    `are_steep` are the outputs with shifts of usmp_scaled_steep_s8_dsp.
    """
    left = np.maximum(each.shifts, 0)
    if int(left.max()) > _MOST_LEFT:
        raise Declined(f"it scales by {1 << _MOST_LEFT} or more")
    most = np.where(each.shifts <= -_ROOM, _WIDEST_INT32, _WIDEST_SUM)
    if np.any(widest << left >= np.where(are_steep, WIDEST_STEEP_SUM, most)):
        raise Declined("its sums may not fit 30 bits, or 32 where it scales by less than 1/4")


def scaling(each: Filters, are_steep: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each output the multiplier, doubled, less 2^32, and the right shift less 1 or steep shifts."""
    are_zero = each.multipliers == 0  # factors so small that all becomes 0
    excess = 2 * np.where(are_zero, 1 << 30, each.multipliers) - (1 << 32)
    right = np.where(are_zero, 31, np.maximum(-each.shifts, 0))
    steep = _STEEP | np.maximum(each.shifts, 0) << 5 | right
    less = np.where(are_zero, 31, right - 1)
    return np.stack([excess, np.where(are_steep, steep, less)], axis=1)


def constant(little_endian_words: bytes) -> Constant:
    """Return packed filters as a constant, which is aligned to words."""
    return Constant("packed", DType.INT32, little_endian_words)


def zeros(node: Node, channels: int) -> Constant:
    """Return a pixel of the input's zero point, for taps outside of the image."""
    source = node.input(0)
    pixel = np.full(channels, node.zero_point(source), f"<i{source.dtype.bits // 8}")
    return Constant("zeros", source.dtype, pixel.tobytes())


def as_conv_2d(portable: Kernel, channels: int) -> Parameters:
    """Return the parameters of a DEPTHWISE_CONV_2D of int8 as those of a CONV_2D, which another function takes."""
    (call,) = portable.calls
    assert call.parameters is not None
    fields = tuple(
        ("output_channels", channels) if name == "depth_multiplier" else (name, value)
        for name, value in call.parameters.fields
    )
    return Parameters(c_name("conv_2d", DType.INT8, part="parameters"), fields)


def packed_kernel(
    node: Node,
    portable: Kernel,
    function: str,
    constants: tuple[Constant | None, ...],
    traffic: Mapping[int, Traffic],
    nest: Nest,
    parameters: Parameters | None = None,
) -> Kernel:
    """Return the portable kernel with another function, which gets these constants in place of weights and factors.

    `traffic` is that of the input and of these constants, by position.  `parameters` are those of the portable kernel
    unless they are given.
    """
    (call,) = portable.calls
    parameters = parameters or call.parameters
    assert parameters is not None
    given = tuple(each for each in constants if each is not None)
    packed = (Absent() if each is None else Derived(given.index(each)) for each in constants)
    operands: tuple[Operand, ...] = (Input(0), *packed, Output(0))
    faster = kernel(
        node,
        function,
        nest,
        parameters.fields,
        struct=parameters.struct,
        form=call.form,
        operands=operands,
        constants=given,
        moved={operands[position]: each for position, each in traffic.items()},
    )
    return replace(portable, calls=faster.calls, constants=given)
