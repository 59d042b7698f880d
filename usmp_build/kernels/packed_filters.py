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
from usmp_build.kernels.nest import Nest, kernel
from usmp_build.kernels.node import Node

MOST_TAPS = 64
"""Most pixels under a window: pointers to them are on the stack."""


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


def constant(little_endian_words: bytes) -> Constant:
    """Return packed filters as a constant, which is aligned to words."""
    return Constant("packed", DType.INT32, little_endian_words)


def zeros(node: Node, channels: int) -> Constant:
    """Return a pixel of the input's zero point, for taps outside of the image."""
    source = node.input(0)
    pixel = np.full(channels, node.zero_point(source), f"<i{source.dtype.bits // 8}")
    return Constant("zeros", source.dtype, pixel.tobytes())


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
