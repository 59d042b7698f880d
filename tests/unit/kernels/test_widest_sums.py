"""Sums that are as large as they can be: of int16, beside the window that makes them too large; and of int8."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.kernels.drawing import INT8, INT16, activation, case, constant
from tests.support.kernels.driver import Runner, build
from tests.support.kernels.samples import first_kernel
from tests.support.kernels.sums import image
from tests.support.tools import needs_gcc
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.options import Padding
from usmp_build.ir.schedule import Direction
from usmp_build.kernels.reference import Reference
from usmp_build.operators.sums import DepthwiseConv2D, FullyConnected
from usmp_build.request import Isa


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
        (result,) = runner.run(graph, first_kernel(graph), (np.full(source.shape, -(1 << 15), np.int16),))
        np.testing.assert_array_equal(result, np.full(output.shape, window[0] * window[1] << 5))


@needs_gcc
@pytest.mark.parametrize(("inputs", "lowest", "bits", "form"), [
    (64, -127, 31, (1, 1, 0)),
    (64, -127, 29, (1, 0, 1)),
    (1024, -127, 29, (2, 0, 2)),
    (1600, -127, 29, (4, 0, 2)),
    (1600, -128, 29, (1, 1, 0)),
    (1021, -127, 29, (1, 1, 0)),
])  # fmt: skip
def test_fully_connected_with_the_dsp_extension(
    inputs: int, lowest: int, bits: int, form: tuple[int, ...], tmp_path: Path
) -> None:
    """Sums of two outputs share a register: wide biases and products must not run into each other."""
    flags = "-fsanitize=undefined", "-fno-sanitize-recover=all"
    names = {"fully_connected_s8", "conv_2d_1x1_s8_dsp_row", "conv_2d_s8_dsp_row"}
    runner, forms = Runner(build(tmp_path, *flags, names=names)), set()
    for number, factor in enumerate((0.24, 2.0**-8, 2.0**-22, 2.0**-24)):
        r = np.random.default_rng(number)
        source = activation("x", (1, inputs), INT8, 1.0, 0, r)
        filters = r.choice(np.array([lowest, 127], np.int8), (9, inputs))
        weights = constant("w", filters, np.ones(1))
        reach = np.abs(filters.astype(np.int64)).sum(axis=1) * 128
        biases = (2**bits - 1 - reach) * np.array([1, -1, 0, 1, -1, 1, 1, -1, 0])
        bias = constant("b", biases.astype(np.int32), np.ones(1))
        output = activation("y", (1, 9), INT8, 1 / factor, 0, r)
        drawn = case(r, "FULLY_CONNECTED", (source, weights, bias), output, FullyConnected())
        kernel = Reference(Isa.DSP).kernel(drawn.graph.operators[0], drawn.graph)
        assert isinstance(kernel, Kernel)
        parameters = kernel.calls[0].parameters
        assert parameters is not None
        fields = dict(parameters.fields)
        forms.add((fields["window_width"], fields["is_wide"], fields["is_divided"]))
        for x in np.full(source.shape, -128, np.int8), np.full(source.shape, 127, np.int8), drawn.inputs[0]:
            (expected,) = runner.run(drawn.graph, first_kernel(drawn.graph), (x,))
            for direction in Direction.FORWARD, Direction.BACKWARD:
                (result,) = runner.run(drawn.graph, kernel.towards(direction), (x,))
                np.testing.assert_array_equal(result, expected)
    assert forms == {form}
