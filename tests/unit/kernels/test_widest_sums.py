"""Sums of int16 that are as large as they can be, beside the window from which on they do not fit 32 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.kernels.drawing import INT16, case, constant
from tests.support.kernels.driver import Runner, build
from tests.support.kernels.samples import first_kernel
from tests.support.kernels.sums import image
from tests.support.tools import needs_gcc
from usmp_build.ir.options import Padding
from usmp_build.operators.sums import DepthwiseConv2D


@needs_gcc
@pytest.mark.parametrize("multiplier", [1, 4])
def test_windows_of_depthwise_convolutions(multiplier: int, tmp_path: Path) -> None:
    flags = "-fsanitize=undefined", "-fno-sanitize-recover=all"
    runner = Runner(build(tmp_path, *flags, names={"depthwise_conv_2d_s16_row"}))
    for window in (16, 16), (30, 30):
        r, channels = np.random.default_rng(0), 4
        source = image(r, "x", (1, *window, channels), INT16, 1.0)
        outputs = channels * multiplier
        weights = constant("w", np.full((1, *window, outputs), -128, np.int8), np.ones(1), axis=3)
        bias = constant("b", np.zeros(outputs, np.int64), np.ones(1))
        output = image(r, "y", (1, 1, 1, outputs), INT16, 2.0**17)
        options = DepthwiseConv2D(padding=Padding.VALID, depth_multiplier=multiplier)
        graph = case(r, "DEPTHWISE_CONV_2D", (source, weights, bias), output, options).graph
        (made,) = runner.run(graph, first_kernel(graph), (np.full(source.shape, -(1 << 15), np.int16),))
        np.testing.assert_array_equal(made, np.full(output.shape, window[0] * window[1] << 5))
