"""Jobs of a call, and the rows that each reads and writes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usmp_build.interfaces.accesses import Accesses, Part
from usmp_build.interfaces.kernels import (
    Absent,
    Derived,
    Form,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Pieces,
    Prototype,
    Reduce,
    Rows,
    Scratch,
    Whole,
)
from usmp_build.interfaces.row_jobs import job_count, row_call, row_of, row_shapes, rows_touched

SOME = Accesses((Part((1,), ()),), (1, 1))


def call(form: Form, *operands: Operand, backward: bool = False) -> KernelCall:
    return KernelCall("f", form, operands or (Input(0), Output(0)), backward=backward, accesses=SOME)


@st.composite
def forms(draw: st.DrawFn) -> Rows:
    rows, input_rows, window = (draw(st.integers(1, 12)) for _ in range(3))
    stride, dilation, before = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 12))
    repeat = draw(st.integers(1, 3))
    phase = draw(st.integers(0, repeat - 1))
    return Rows(1, rows, input_rows, 3, 2, window, stride, dilation, before, repeat=repeat, phase=phase)


@given(forms(), st.booleans())
def test_a_job_reads_the_rows_under_the_window_that_are_inside(form: Rows, backward: bool) -> None:
    by_rows = call(form, backward=backward)
    for job in range(form.rows):
        y = form.rows - 1 - job if backward else job
        window = [
            (y + form.phase) // form.repeat * form.stride - form.before + k * form.dilation for k in range(form.window)
        ]
        assert [*rows_touched(by_rows, Input(0), job)] == [row for row in window if 0 <= row < form.input_rows]
        assert [*rows_touched(by_rows, Output(0), job)] == [y] == [row_of(by_rows, job)]


@pytest.mark.parametrize(
    ("form", "backward", "rows"),
    [
        (Pieces(3, (4, 4)), False, [0, 1, 2]),
        (Pieces(3, (4, 4)), True, [2, 1, 0]),
        (Reduce(1, 3, 4, 4, any_order=True), True, [2, 1, 0]),
        (Reduce(1, 3, 4, 4), True, [0, 1, 2]),
        (Reduce(1, 3, 4, 4), False, [0, 1, 2]),
    ],
)
def test_the_last_row_is_first_if_order_does_not_matter(form: Form, backward: bool, rows: list[int]) -> None:
    by_rows = call(form, backward=backward)
    assert job_count(by_rows) == 3
    assert [row_of(by_rows, job) for job in range(3)] == rows
    assert [[*rows_touched(by_rows, Input(0), job)] for job in range(3)] == [[row] for row in rows]


def test_operands_that_come_row_by_row() -> None:
    assert row_shapes(call(Rows(1, 3, 5, 7, 9))) == {Input(0): (5, 7), Output(0): (3, 9)}
    assert row_shapes(call(Reduce(1, 3, 7, 9), Input(0), Scratch(0), Output(0))) == {Input(0): (3, 7)}
    pieces = call(Pieces(3, (7, 0, 1, 2, 9)), Input(0), Input(1), Derived(0), Absent(), Output(0))
    assert row_shapes(pieces) == {Input(0): (3, 7), Output(0): (3, 9)}
    assert row_shapes(call(Whole())) == {}


BY_ROWS = Kernel((call(Pieces(3, (4, 4))),))
TWO_IMAGES = Rows(images=2, rows=3, input_rows=3, input_row_elements=4, output_row_elements=4)


def test_a_call_that_can_be_divided() -> None:
    assert row_call(BY_ROWS) == BY_ROWS.calls[0]


@pytest.mark.parametrize(
    "kernel",
    [
        replace(BY_ROWS, calls=BY_ROWS.calls * 2),
        replace(BY_ROWS, updates=frozenset({0})),
        Kernel((call(TWO_IMAGES),)),
        Kernel((call(Reduce(2, 3, 4, 4)),)),
        Kernel((call(Whole()),)),
        Kernel((call(Pieces(1, (4, 4))),)),
        Kernel((replace(BY_ROWS.calls[0], accesses=None),)),
        Kernel((replace(BY_ROWS.calls[0], prototype=Prototype("", (), ())),)),
    ],
    ids=["two calls", "state", "two images", "sums of two images", "whole", "one row", "undeclared", "application"],
)
def test_calls_that_cannot_be(kernel: Kernel) -> None:
    assert row_call(kernel) is None
