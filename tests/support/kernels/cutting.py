"""Random models of operators that take parts of a tensor; see `cases`."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.support.kernels.drawing import FLOAT, INT8, INT16, Case, Random, activation, case, constant, pick, span
from usmp_build.ir.graph import DType
from usmp_build.operators.joining import Unpack


def unpack(r: Random) -> Case:
    dtype = pick(r, [INT8, INT16, DType.INT32, FLOAT])
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 5))]
    axis = span(r, 0, len(shape) - 1)
    part = [*shape[:axis], *shape[axis + 1 :]]
    outputs = [activation(f"y{i}", part, dtype, 0.1, 3) for i in range(shape[axis])]
    options = Unpack(shape[axis], pick(r, [axis, axis - len(shape)]))
    return case(r, "UNPACK", (activation("x", shape, dtype, 0.1, 3),), outputs, options)


def split_v(r: Random) -> Case:
    dtype = pick(r, [INT8, INT16, DType.INT32, FLOAT])
    shape = [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    axis, sizes = span(r, 0, len(shape) - 1), [span(r, 1, 4) for _ in range(span(r, 1, 4))]
    parts = [[*shape[:axis], size, *shape[axis + 1 :]] for size in sizes]
    source = activation("x", [*shape[:axis], sum(sizes), *shape[axis + 1 :]], dtype, 0.1, 3)
    axes = constant("axis", np.array(pick(r, [axis, axis - len(shape)]), np.int32))
    outputs = [activation(f"y{i}", part, dtype, 0.1, 3) for i, part in enumerate(parts)]
    return case(r, "SPLIT_V", (source, constant("sizes", np.array(sizes, np.int32)), axes), outputs)


def slice_(r: Random) -> Case:
    """The begins may come at run time, and the sizes."""
    dtype = pick(r, [INT8, INT16, DType.INT32, FLOAT, DType.BOOL])
    shape = [span(r, 1, 5) for _ in range(span(r, 1, 5))]
    begins = [pick(r, [0, span(r, 0, size - 1)]) for size in shape]
    rests = [size - begin for size, begin in zip(shape, begins, strict=True)]
    sizes = [pick(r, [span(r, 1, rest), rest]) for rest in rests]
    spelled = [pick(r, [size, -1]) if size == rest else size for size, rest in zip(sizes, rests, strict=True)]
    dtype_of_numbers = pick(r, [np.int32, np.int64])
    numbers = [constant(n, np.array(v, dtype_of_numbers)) for n, v in (("b", begins), ("s", spelled))]
    at_run_time = pick(r, [set(), set(), {"b"}, {"s"}, {"b", "s"}])
    given = [replace(each, data=None) if each.name in at_run_time else each for each in numbers]
    source, output = activation("x", shape, dtype, 0.1, 3), activation("y", sizes, dtype, 0.1, 3)
    example = case(r, "SLICE", (source, *given), output)
    return Case(example.graph, (example.inputs[0], *(each.as_array() for each in numbers if each.name in at_run_time)))


CASES: dict[str, Callable[[Random], Case]] = {"SLICE": slice_, "SPLIT_V": split_v, "UNPACK": unpack}
