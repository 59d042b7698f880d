"""TRANSPOSE and SPACE_TO_DEPTH go by rows where an output row reads few input rows; else all at once."""

import numpy as np
import pytest

from tests.support.kernels.drawing import INT8, Case, activation, case, constant
from tests.support.kernels.samples import kernel_of
from usmp_build.interfaces.kernels import Input, Output, Rows
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.operators.rearranging import Blocks


def turned(shape: tuple[int, ...], order: tuple[int, ...]) -> Case:
    source, output = activation("x", shape, INT8, 0.1, 0), activation("y", [shape[a] for a in order], INT8, 0.1, 0)
    axes = constant("axes", np.array(order, np.int32))
    return case(np.random.default_rng(1), "TRANSPOSE", (source, axes), output)


@pytest.mark.parametrize(
    ("shape", "order", "window", "input_rows"),
    [
        ((1, 3, 8, 5), (0, 2, 3, 1), 3, 24),
        ((1, 3, 8, 5), (0, 2, 1, 3), 3, 24),
        ((1, 8, 5, 3), (0, 1, 3, 2), 1, 8),
        ((8, 5, 3), (0, 2, 1), 1, 8),
        ((1, 3, 2, 8, 5), (0, 3, 4, 1, 2), 6, 48),
    ],
    ids=["channels last", "channels in the middle", "rows keep their places", "three axes", "two axes of planes"],
)
def test_an_output_row_reads_one_row_of_each_plane(
    shape: tuple[int, ...], order: tuple[int, ...], window: int, input_rows: int
) -> None:
    jobs = row_jobs(kernel_of(turned(shape, order)))
    assert jobs is not None
    (call,) = jobs.calls
    assert isinstance(call.form, Rows)
    assert call.form.window == window
    assert jobs.shapes[Input(0)] == (input_rows, np.prod(shape) // input_rows)
    assert jobs.shapes[Output(0)] == (8, np.prod(shape) // 8)
    assert [*jobs.rows_touched(Input(0), 1)] == [*range(1, input_rows, 8)]


@pytest.mark.parametrize(
    ("shape", "order"),
    [((1, 8, 5, 3), (0, 3, 1, 2)), ((1, 33, 8, 5), (0, 2, 3, 1)), ((3, 4), (1, 0)), ((1, 8, 1, 1), (2, 1, 0, 3))],
    ids=["each row needs all", "too many planes", "each row needs all of two axes", "one axis"],
)
def test_else_it_makes_all_at_once(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    assert row_jobs(kernel_of(turned(shape, order))) is None


def test_output_rows_of_more_than_four_groups_of_axes_are_computed_together() -> None:
    assert row_jobs(kernel_of(turned((2, 2, 2, 2, 2, 2), (0, 2, 1, 4, 3, 5)))) is not None
    assert row_jobs(kernel_of(turned((2, 2, 2, 2, 2, 2, 2, 2), (0, 2, 1, 4, 3, 6, 5, 7)))) is None


def test_a_row_of_blocks_reads_all_rows_under_it() -> None:
    source, output = activation("x", (1, 6, 4, 3), INT8, 0.1, 0), activation("y", (1, 3, 2, 12), INT8, 0.1, 0)
    jobs = row_jobs(kernel_of(case(np.random.default_rng(1), "SPACE_TO_DEPTH", (source,), output, Blocks(2))))
    assert jobs is not None
    assert [[*jobs.rows_touched(Input(0), row)] for row in range(3)] == [[0, 1], [2, 3], [4, 5]]
