"""Indices that an axis does not have: the nearest that it has is taken, and nothing else is touched."""

import numpy as np
import pytest

from tests.support.kernels.drawing import case
from tests.support.kernels.driver import Runner
from tests.support.kernels.gathering import placed
from tests.support.kernels.samples import draw, kernel_of
from tests.support.tools import needs_gcc
from usmp_build.ir.graph import DType, Quantization, Tensor
from usmp_build.ir.schedule import Direction
from usmp_build.operators.gathering import Gather

WILD = [-(2**31), -1, 0, 1, 7, 2**31 - 1]


@needs_gcc
@pytest.mark.parametrize("kind", ["EMBEDDING_LOOKUP", "GATHER", "GATHER_ND"])
def test_the_nearest_index_is_taken(kind: str, runner: Runner) -> None:
    r = np.random.default_rng(7)
    for number, example in enumerate(draw(kind)):
        tensors = example.graph.tensors
        (places,) = (
            given for t, given in zip(example.graph.inputs, example.inputs, strict=True) if tensors[t].name == "i"
        )
        wild = r.choice(WILD, places.shape).astype(np.int32)
        options = example.graph.operators[0].options
        (shape,) = (tensor.shape for tensor in tensors if tensor.name == "x")
        axis = options.axis if isinstance(options, Gather) else 0
        last = np.array(shape[: places.shape[-1]] if kind == "GATHER_ND" else shape[axis]) - 1
        kernel = kernel_of(example)
        outputs = [
            runner.run(example.graph, kernel, placed(example, indices).inputs)[0]
            for indices in (wild, np.clip(wild, 0, last).astype(np.int32))
        ]
        np.testing.assert_array_equal(*outputs, f"case {number}")


@needs_gcc
def test_rows_of_int4_become_floats(runner: Runner) -> None:
    """The first element of a byte is in its lower half."""
    scales = (0.5, 0.25, 2.0)
    table = Tensor("x", (3, 3), DType.INT4, Quantization(scales, (0, 0, 0), 0), bytes([0x21, 0xF3, 0x78, 0x9E, 0x04]))
    indices, output = Tensor("i", (4,), DType.INT32), Tensor("y", (4, 3), DType.FLOAT32)
    example = placed(
        case(np.random.default_rng(1), "EMBEDDING_LOOKUP", (indices, table), output), np.array([2, 0, 1, 9], np.int32)
    )
    for direction in Direction:
        (rows,) = runner.run(example.graph, kernel_of(example, direction), example.inputs)
        last = [-4.0, -14.0, 8.0]
        np.testing.assert_array_equal(rows, [last, [0.5, 1, 1.5], [-0.25, -2, 1.75], last])
