"""Operators that kernels for the instructions of a target could run, but no faster than portable ones."""

import numpy as np
import pytest

from tests.support.kernels.drawing import case, constant
from tests.support.kernels.sums import image
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Padding
from usmp_build.kernels.reference import Reference
from usmp_build.operators.sums import DepthwiseConv2D
from usmp_build.request import Isa


@pytest.mark.parametrize(("dtype", "window", "is_left"), [
    (DType.INT8, 4, False),
    (DType.INT8, 5, True),
    (DType.INT16, 2, False),
    (DType.INT16, 3, True),
])  # fmt: skip
def test_filters_in_fours_for_a_channel_under_large_windows(dtype: DType, window: int, is_left: bool) -> None:
    r = np.random.default_rng(0)
    source = image(r, "x", (1, 6, 6, 3), dtype, 0.05)
    weights = constant("w", r.integers(-127, 128, (1, window, window, 12), np.int8), np.full(12, 0.01), axis=3)
    biases = np.zeros(12, np.int32 if dtype is DType.INT8 else np.int64)
    output = image(r, "y", (1, 6, 6, 12), dtype, 0.05 * 0.01 * 400)
    operands = source, weights, constant("b", biases, np.full(12, 0.0005))
    drawn = case(r, "DEPTHWISE_CONV_2D", operands, output, DepthwiseConv2D(padding=Padding.SAME, depth_multiplier=4))
    kernel = Reference(Isa.DSP).kernel(drawn.graph.operators[0], drawn.graph)
    assert isinstance(kernel, Kernel)
    assert bool(kernel.declined) == is_left
