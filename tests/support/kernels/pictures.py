"""Random models of one operator on one image, which kernels can make row by row; see `cases`."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np

from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case, Random, case, pick, span, values
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.kernels.reference import Reference, library
from usmp_build.operators.pooling import Pool2D

BINARY = ["ADD", "MUL", "SUB"]
UNARY = ["DEQUANTIZE", "HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "QUANTIZE", "RELU", "RELU6", "TANH"]
PICTURES = ["AVERAGE_POOL_2D", *BINARY, *UNARY]
"""Kinds of operators that have a kernel by rows for an image."""

_KERNEL = Reference.kernel
"""What tests replace."""


def pictures(kind: str, count: int) -> list[Case]:
    """Draw the first cases of a kind: the same ones for everybody."""
    return [_picture(kind, np.random.default_rng([4, zlib.crc32(kind.encode()), i])) for i in range(count)]


def by_rows(made: Case) -> Kernel | None:
    """Return the kernel of a case's only operator that goes by rows."""
    kernel = library.kernel(made.graph.operators[0], made.graph)
    assert isinstance(kernel, Kernel), kernel
    return kernel.by_rows


def by_rows_only(reference: Reference, operator: Operator, graph: Subgraph) -> Kernel:
    """Return the kernel of an operator that goes by rows, in place of `Reference.kernel`; fails if there is none."""
    kernel = _KERNEL(reference, operator, graph)
    assert isinstance(kernel, Kernel), kernel
    assert kernel.by_rows is not None
    return kernel.by_rows


def _picture(kind: str, r: Random) -> Case:
    """Draw an operator of its kind, and put an image of several rows in place of its tensors."""
    drawn = CASES[kind](r).graph
    image = (1, span(r, 2, 6), span(r, 1, 5), span(r, 1, 9))
    output = replace(drawn.tensors[-1], shape=image)
    inputs = [replace(tensor, shape=image, data=None) for tensor in drawn.tensors[:-1]]
    options = drawn.operators[0].options
    if isinstance(options, Pool2D):
        output = replace(output, shape=(1, 1, 1, image[3]))
        options = replace(options, filter_h=image[1], filter_w=image[2], stride_h=image[1], stride_w=image[2])
    elif kind in BINARY and r.integers(2):
        place = span(r, 0, 1)
        inputs[place] = _stretched(r, inputs[place])
    return case(r, kind, inputs, output, options)


def _stretched(r: Random, tensor: Tensor) -> Tensor:
    """Return an operand that is stretched to the image; it may be a constant unless it has rows of its own."""
    _, rows, width, channels = tensor.shape
    shapes = [(), (1,), (channels,), (1, 1, channels), (1, 1, 1, channels), (width, 1), (1, width, channels)]
    shapes += [(1, rows, 1, 1), (1, rows, 1, channels), (1, rows, width, 1)]
    stretched = replace(tensor, shape=pick(r, shapes))
    has_rows = len(stretched.shape) == 4 and stretched.shape[1] > 1
    if has_rows or r.integers(2):
        return stretched
    return replace(stretched, data=values(r, stretched).tobytes())
