"""Random models of one operator on one image, which kernels can make row by row; see `cases`."""

import functools
import itertools
import zlib
from dataclasses import replace

import numpy as np

from tests.support.kernels import elements, pairs
from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import INT8, Case, Random, case, constant, pick, span, values
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.kernels.node import Node
from usmp_build.kernels.reference import Reference, library
from usmp_build.kernels.turned import KINDS, turned
from usmp_build.operators.reductions import Reducer

BINARY = [*pairs.CASES]
UNARY = [*elements.CASES]
WITHIN_ROWS = ["L2_NORMALIZATION", "LOG_SOFTMAX", "SOFTMAX"]
WINDOWS = ["AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D"]
REDUCED = ["REDUCE_MAX", "REDUCE_MIN"]
PICTURES = [*WINDOWS, *BINARY, *UNARY, *WITHIN_ROWS, *REDUCED]
"""Kinds of operators that have a kernel by rows for an image."""

_KERNEL = Reference.kernel
"""What tests replace."""


@functools.cache
def pictures(kind: str, count: int) -> list[Case]:
    """Draw the first cases of a kind: the same ones for everybody."""
    return [_picture(kind, np.random.default_rng([4, zlib.crc32(kind.encode()), i])) for i in range(count)]


@functools.cache
def column() -> Case:
    """Draw an image of int8 under a window of one column, with channels that are no multiple of four."""
    drawn = (_picture("DEPTHWISE_CONV_2D", np.random.default_rng([7, i])) for i in itertools.count())
    return next(example for example in drawn if _is_column(example))


def _is_column(example: Case) -> bool:
    source, weights = example.graph.tensors[:2]
    channels = source.shape[3]
    is_simple = source.dtype is INT8 and weights.shape[2:] == (1, channels)
    return is_simple and channels > 4 and channels % 4 != 0


def by_rows(example: Case) -> Kernel | None:
    """Return the kernel of a case's only operator that goes by rows."""
    kernel = _KERNEL(library, example.graph.operators[0], example.graph)
    assert isinstance(kernel, Kernel), kernel
    return kernel.by_rows


def by_rows_only(reference: Reference, operator: Operator, graph: Subgraph) -> Kernel:
    """Return the kernel of an operator that goes by rows, in place of `Reference.kernel`; fails if there is none."""
    kernel = _KERNEL(reference, operator, graph)
    assert isinstance(kernel, Kernel), kernel
    if operator.kind == "RESHAPE":  # what a rewrite makes of a CAST to the same type
        return kernel
    assert kernel.by_rows is not None
    return kernel.by_rows


def gaps(kind: str, count: int) -> list[Case]:
    """Draw cases of windows as high as their image that some rows are not under: dilated ones, and lower ones."""
    drawn = (CASES[kind](np.random.default_rng([5, zlib.crc32(kind.encode()), i])) for i in itertools.count())
    return [
        *itertools.islice(
            (example for example in drawn if _rows_of_window(example) not in (None, {*_rows(example)})), count
        )
    ]


@functools.cache
def lines(kind: str, count: int) -> list[Case]:
    """Draw cases of windows that slide along an image of one row, which kernels can make pixel by pixel."""
    if kind not in KINDS:
        return []
    drawn = (CASES[kind](np.random.default_rng([6, zlib.crc32(kind.encode()), i])) for i in itertools.count())
    lying = (example for example in drawn if turned(Node(example.graph.operators[0], example.graph)))
    return [*itertools.islice(lying, count)]


def _window(kind: str, r: Random) -> Case:
    """Draw windows over all rows of an image until their sums take less than the image."""
    return next(
        example for example in iter(lambda: CASES[kind](r), None) if _rows_of_window(example) == {*_rows(example)}
    )


def _rows(example: Case) -> range:
    return range(example.graph.tensors[0].shape[1])


def _rows_of_window(example: Case) -> set[int] | None:
    """Return the rows of an image that are under its only window; None if it has no kernel by rows, or one row."""
    kernel = by_rows(example)
    if kernel is None or len(_rows(example)) == 1:
        return None
    (call,) = kernel.calls
    assert call.parameters is not None
    p = {name: int(value) for name, value in call.parameters.fields if isinstance(value, int)}
    if "first_row" in p:
        return {*range(p["first_row"], p["end_row"])}
    return {*range(-p["above"], p["window_height"] * p["dilation_down"] - p["above"], p["dilation_down"])} & {
        *_rows(example)
    }


def _reduced(kind: str, r: Random) -> Case:
    """Draw an image whose rows become one, perhaps with all pixels of a row."""
    (source, *_, output), options = CASES[kind](r).graph.tensors, Reducer(keep_dims=True)
    _, height, width, channels = image = (1, span(r, 4, 9), span(r, 3, 6), span(r, 2, 9))
    axes = pick(r, [[1], [1, 2], [-2, -3]])
    left = (1, 1, width if len(axes) == 1 else 1, channels)
    if len(axes) == 1:  # what is kept has four bytes
        image = (1, height + 12, width, channels)
    if r.integers(3) == 0:  # a signal
        image, axes, left = (1, height + 12, channels), [1], (1, channels)
        options = Reducer(keep_dims=False)
    tensors = (replace(source, shape=image), constant("axes", np.array(axes, np.int32)))
    return case(r, kind, tensors, replace(output, shape=left), options)


def _picture(kind: str, r: Random) -> Case:
    """Draw an operator of its kind, and put an image of several rows in place of its tensors."""
    if kind in WINDOWS:
        return _window(kind, r)
    if kind in REDUCED:
        return _reduced(kind, r)
    given = CASES[kind](r)
    drawn = given.graph
    image = (1, span(r, 2, 6), span(r, 1, 5), span(r, 1, 9))
    output = replace(drawn.tensors[-1], shape=image)
    inputs = [replace(tensor, shape=image, data=None) for tensor in drawn.tensors[:-1]]
    options = drawn.operators[0].options
    if kind in BINARY and kind not in {"ADD_N", "SELECT"} and r.integers(2):
        place = span(r, 0, 1)
        inputs[place] = _stretched(r, inputs[place])
    example = case(r, kind, inputs, output, options)
    if kind in UNARY:  # some have no answer to just anything
        return Case(example.graph, tuple(np.resize(each, image) for each in given.inputs))
    return example


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
