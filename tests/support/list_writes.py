"""A loop that doubles the rows of its input, one on each turn, as converters write layers with a loop of their own."""

import numpy as np

from tests.support.kernels.drawing import FLOAT, constant, plain
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import While
from usmp_build.operators.binary import Binary
from usmp_build.operators.gathering import Gather
from usmp_build.operators.joining import Concatenation

ROWS, SHAPE = 4, (4, 1, 3)
INDEX, NEXT, ITEM, BEGIN, LIST, OLD = 5, 10, 17, 12, 18, 2
"""Tensors of the body: the index of a row and the one behind it, a row, where those behind begin, the lists."""


def integers(name: str, *values: int) -> Tensor:
    """Return a constant."""
    return constant(name, np.array(values, np.int32))


def doubling(step: int = 1, zero: int = 0, every: int = -1, axis: int = 0, shared: bool = False) -> list[Subgraph]:
    """Return the main subgraph, the condition and the body; other arguments than these make no write of one row."""
    scalar = plain("i", (), DType.INT32)
    x, rows = plain("x", SHAPE, FLOAT), constant("rows", np.zeros(SHAPE, np.float32))
    first = constant("first", np.array(0, np.int32))
    loop = Operator("WHILE", (1, 0, 3), (4, 5, 2), While(1, 2), 0)
    main = Subgraph("main", (x, first, plain("y", SHAPE, FLOAT), rows, scalar, x), (0,), (2,), (loop,))
    less = Operator("LESS", (0, 3), (4,), None, 0)
    end = constant("end", np.array(ROWS, np.int32))
    condition = Subgraph("cond", (scalar, x, x, end, plain("c", (), DType.BOOL)), (0, 1, 2), (4,), (less,))
    return [main, condition, _body(step, zero, every, axis, shared)]


def _body(step: int, zero: int, every: int, axis: int, shared: bool) -> Subgraph:
    scalar, one, three = (plain("i", shape, DType.INT32) for shape in ((), (1,), (3,)))
    row, part, rows = (plain("r", shape, FLOAT) for shape in (SHAPE[1:], (1, 1, 3), SHAPE))
    less = plain("before", (1, 1, 1), FLOAT)
    tensors = (scalar, rows, rows, constant("one", np.array(step, np.int32)), scalar, one)
    tensors += (integers("all", every, every), three, integers("zeros", 0, 0, 0), less, one)
    tensors += (integers("none", zero, zero), three, integers("rest", every, every, every), part, row, row, part, rows)
    join = Concatenation(axis=0)
    steps = (
        ("ADD", (0, 3), (4,), Binary()),
        ("RESHAPE", (0,), (INDEX,), None),
        ("CONCATENATION", (INDEX, 6), (7,), join),
        ("SLICE", (OLD, 8, 7), (9,), None),
        ("RESHAPE", (4,), (NEXT,), None),
        ("CONCATENATION", (NEXT, 11), (BEGIN,), join),
        ("SLICE", (OLD, BEGIN, 13), (14,), None),
        ("GATHER", (1, 0), (15,), Gather()),
        ("ADD", (15, 15), (16,), Binary()),
        ("RESHAPE", (16,), (ITEM,), None),
        ("CONCATENATION", (9, ITEM, 14), (LIST,), Concatenation(axis=axis)),
        *[("RESHAPE", (9,), (len(tensors),), None)] * shared,
    )
    tensors += (less,) * shared
    operators = (Operator(kind, *rest, position) for position, (kind, *rest) in enumerate(steps))
    return Subgraph("body", tensors, (0, 1, 2), (4, 1, LIST), tuple(operators))
