"""Kernels read and write in the order that the library promises: outputs may lie over inputs that have been read."""

import numpy as np
import pytest

from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Case
from tests.support.kernels.driver import Runner, optimized
from tests.support.kernels.overlap import separation
from tests.support.kernels.samples import draw, kernel_of
from tests.support.planned import Shared
from tests.support.tools import few, needs_gcc
from usmp_build.interfaces.kernels import Reduce
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


@pytest.fixture(scope="session", params=["-O2", pytest.param("-O3", marks=pytest.mark.slow)])
def runner(request: pytest.FixtureRequest, shared: Shared) -> Runner:
    return Runner(optimized(request.param, shared))


both_ways = pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.BACKWARD])


@both_ways
@pytest.mark.parametrize("kind", few(ROWS, 3))
@pytest.mark.long
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
