"""Kernels read and write in the order that the library promises: outputs may lie over inputs that have been read."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from tests.unit.kernels.cases import CASES
from tests.unit.kernels.drawing import Case
from tests.unit.kernels.driver import Runner, build
from tests.unit.kernels.test_against_tflm import draw, kernel_of
from usmp_build.interfaces.kernels import Kernel, Reduce, Rows
from usmp_build.ir.graph import DType

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")

ROWS = [kind for kind in CASES if kind.endswith("_2D")]
IN_PLACE = ["ADD", "DEQUANTIZE", "LOGISTIC", "MUL", "QUANTIZE", "RELU", "RELU6", "RESHAPE", "SOFTMAX", "SUB", "TANH"]


@pytest.fixture(scope="module", params=["-O2", "-O3"])
def runner(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(build(tmp_path_factory.mktemp("kernels"), request.param))


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_kernel_may_write_over_rows_behind_it(kind: str, runner: Runner) -> None:
    for case in draw(kind):
        kernel = kernel_of(case)
        check(runner, case, separation(case, kernel))


@pytest.mark.parametrize("kind", IN_PLACE)
def test_an_elementwise_kernel_may_work_in_place(kind: str, runner: Runner) -> None:
    for case in draw(kind):
        source, *_, target = case.graph.tensors
        kernel = kernel_of(case)
        fits = source.dtype.bits == target.dtype.bits and source.size == target.size
        if fits and not kernel.calls[0].function.endswith("_stretched") and not source.is_constant:
            check(runner, case, 0)


def test_a_mean_may_lie_over_its_image(runner: Runner) -> None:
    for case in draw("MEAN"):
        kernel = kernel_of(case)
        form = kernel.calls[0].form
        assert isinstance(form, Reduce)
        if form.output_pitch <= form.rows * form.input_pitch:
            check(runner, case, 0)


def check(runner: Runner, case: Case, distance: int) -> None:
    """The output is the same `distance` bytes before the input as it is elsewhere."""
    kernel = kernel_of(case)
    (apart,) = runner.run(case.graph, kernel, case.inputs)
    (over,) = runner.run(case.graph, kernel, case.inputs, distance)
    np.testing.assert_array_equal(over, apart)


def separation(case: Case, kernel: Kernel) -> int:
    """Return how far before the input the output must begin if every pixel is written before it is read.

    That is the greatest distance, over all pixels, from the first byte that is still to be read to the end of what
    has been written.
    """
    call = kernel.calls[0]
    assert isinstance(call.form, Rows)
    assert call.parameters is not None
    form, p = call.form, {name: int(value) for name, value in call.parameters.fields if isinstance(value, int)}
    width = 4 if case.graph.tensors[0].dtype is DType.FLOAT32 else 1
    columns, pixel = p["output_width"], form.output_pitch // p["output_width"] * width
    written, read = [], []
    for image in range(form.images):
        for y in range(form.rows):
            taps = [y * form.stride - form.before + k * form.dilation for k in range(form.window)]
            row = image * form.input_rows + min(tap for tap in taps if tap >= 0)
            for x in range(columns):
                taps = [x * p["stride"] - p["before"] + k * p.get("dilation", 1) for k in range(p["window_width"])]
                column = min((tap for tap in taps if 0 <= tap < p["input_width"]), default=0)
                written.append((((image * form.rows + y) * columns) + x + 1) * pixel)
                read.append((row * form.input_pitch + column * form.input_pitch // p["input_width"]) * width)
    to_come = np.minimum.accumulate(np.array(read)[::-1])[::-1]
    return int((np.array(written) - to_come).max())
