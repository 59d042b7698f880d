"""Kernels read and write in the order that the library promises: outputs may lie over inputs that have been read."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case
from tests.support.kernels.driver import Runner, optimized
from tests.support.kernels.samples import draw, kernel_of
from tests.support.planned import Shared
from tests.support.tools import needs_gcc
from usmp_build.interfaces.kernels import Kernel, Reduce, Rows
from usmp_build.ir.schedule import Direction

pytestmark = needs_gcc

ROWS = [kind for kind in CASES if kind.endswith("_2D")]
IN_PLACE = [
    "ADD",
    "DEQUANTIZE",
    "HARD_SWISH",
    "LOGISTIC",
    "MUL",
    "QUANTIZE",
    "RELU",
    "RELU6",
    "RESHAPE",
    "SOFTMAX",
    "SUB",
    "TANH",
]


@pytest.fixture(scope="session", params=["-O2", "-O3"])
def runner(request: pytest.FixtureRequest, shared: Shared) -> Runner:
    return Runner(optimized(request.param, shared))


both_ways = pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.BACKWARD])


@both_ways
@pytest.mark.parametrize("kind", ROWS)
def test_a_row_kernel_may_write_over_what_it_has_read(kind: str, direction: Direction, runner: Runner) -> None:
    for case in draw(kind):
        check(runner, case, separation(case, kernel_of(case), direction), direction)


@both_ways
@pytest.mark.parametrize("kind", IN_PLACE)
def test_an_elementwise_kernel_may_work_in_place(kind: str, direction: Direction, runner: Runner) -> None:
    for case in draw(kind):
        source, *_, target = case.graph.tensors
        kernel = kernel_of(case)
        fits = source.dtype.bits == target.dtype.bits and source.size == target.size
        if fits and not kernel.calls[0].function.endswith("_stretched") and not source.is_constant:
            check(runner, case, 0, direction)


@pytest.mark.parametrize("kind", ["DEQUANTIZE", "QUANTIZE"])
def test_where_elements_grow_backward_fits_and_where_they_shrink_forward(kind: str, runner: Runner) -> None:
    for case in draw(kind):
        source, target = case.graph.tensors
        if source.size < target.size:
            check(runner, case, 0, Direction.BACKWARD)
        else:
            check(runner, case, 0, Direction.FORWARD)


@pytest.mark.parametrize("kind", ["PAD", "PADV2"])
def test_an_image_may_lie_at_the_begin_of_its_padded_one(kind: str, runner: Runner) -> None:
    """Backward, a line is written at or behind where it was read, and its frame over lines that are done."""
    for case in draw(kind):
        check(runner, case, 0, Direction.BACKWARD)


@both_ways
def test_a_mean_may_lie_over_its_image(direction: Direction, runner: Runner) -> None:
    for case in draw("MEAN"):
        source, *_, target = case.graph.tensors
        form = kernel_of(case).calls[0].form
        if isinstance(form, Reduce) and form.output_row_elements <= form.rows * form.input_row_elements:
            to_the_end = target.size - source.size
            check(runner, case, to_the_end if direction is Direction.BACKWARD else 0, direction)


def check(runner: Runner, case: Case, distance: int, direction: Direction) -> None:
    """The output is the same `distance` bytes before the input as it is elsewhere."""
    kernel = kernel_of(case, direction)
    (apart,) = runner.run(case.graph, kernel, case.inputs)
    (over,) = runner.run(case.graph, kernel, case.inputs, distance)
    np.testing.assert_array_equal(over, apart)


def separation(case: Case, kernel: Kernel, direction: Direction) -> int:
    """Return how far before the input the output must begin if every pixel is written before it is read.

    Forward that is at least the greatest distance, over all pixels, from the first byte that is still to be read to the
    end of what has been written; backward, at most the least from the end of what is still to be read to the begin of
    what has been written.
    """
    call = kernel.calls[0]
    assert isinstance(call.form, Rows)
    assert call.parameters is not None
    form, p = call.form, {name: int(value) for name, value in call.parameters.fields if isinstance(value, int)}
    width = case.graph.tensors[0].dtype.bits // 8
    columns, pixel = p["output_width"], form.output_row_elements // p["output_width"] * width
    written, first, last = [], [], []
    for image in range(form.images):
        for y in range(form.rows):
            taps = [y * form.stride - form.before + k * form.dilation for k in range(form.window)]
            rows = [image * form.input_rows + tap for tap in taps if 0 <= tap < form.input_rows]
            for x in range(columns):
                taps = [x * p["stride"] - p["before"] + k * p.get("dilation", 1) for k in range(p["window_width"])]
                inside = [tap for tap in taps if 0 <= tap < p["input_width"]] if rows else []
                places = [row * p["input_width"] + column for row in rows for column in inside]
                written.append(((image * form.rows + y) * columns) + x)
                first.append(min(places, default=0))
                last.append(max(places, default=form.images * form.input_rows * p["input_width"] - 1))
    read = form.input_row_elements // p["input_width"] * width
    if direction is Direction.FORWARD:
        to_come = np.minimum.accumulate(np.array(first)[::-1])[::-1] * read
        return int(((np.array(written) + 1) * pixel - to_come).max())
    to_come = (np.maximum.accumulate(np.array(last)) + 1) * read
    return int((np.array(written) * pixel - to_come).min())
