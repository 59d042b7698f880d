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
from usmp_build.interfaces.row_jobs import RowJobs, row_jobs

SOME = Accesses((Part((1,), ()),), (1, 1))


def call(form: Form, *operands: Operand, backward: bool = False) -> KernelCall:
    return KernelCall("f", form, operands or (Input(0), Output(0)), backward=backward, accesses=SOME)


def jobs_of(*calls: KernelCall) -> RowJobs:
    jobs = row_jobs(Kernel(calls))
    assert jobs is not None
    return jobs


@st.composite
def forms(draw: st.DrawFn) -> Rows:
    rows, input_rows, window = (draw(st.integers(least, 12)) for least in (2, 1, 1))
    stride, dilation, before = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 12))
    repeat = draw(st.integers(1, 3))
    phase = draw(st.integers(0, repeat - 1))
    return Rows(1, rows, input_rows, 3, 2, window, stride, dilation, before, repeat=repeat, phase=phase)


@given(forms(), st.booleans())
def test_a_job_reads_the_rows_under_the_window_that_are_inside(form: Rows, backward: bool) -> None:
    by_rows = jobs_of(call(form, backward=backward))
    for job in range(form.rows):
        y = form.rows - 1 - job if backward else job
        window = [
            (y * form.stride + form.phase) // form.repeat - form.before + k * form.dilation for k in range(form.window)
        ]
        assert [*by_rows.rows_touched(Input(0), job)] == [row for row in window if 0 <= row < form.input_rows]
        assert [*by_rows.rows_touched(Output(0), job)] == [y] == [by_rows.row_of(job)]


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
    by_rows = jobs_of(call(form, backward=backward))
    assert by_rows.count == 3
    assert [by_rows.row_of(job) for job in range(3)] == rows
    assert [[*by_rows.rows_touched(Input(0), job)] for job in range(3)] == [[row] for row in rows]


def test_operands_that_come_row_by_row() -> None:
    assert jobs_of(call(Rows(1, 3, 5, 7, 9))).shapes == {Input(0): (5, 7), Output(0): (3, 9)}
    assert jobs_of(call(Reduce(1, 3, 7, 9), Input(0), Scratch(0), Output(0))).shapes == {Input(0): (3, 7)}
    pieces = call(Pieces(3, (7, 0, 1, 2, 9)), Input(0), Input(1), Derived(0), Absent(), Output(0))
    assert jobs_of(pieces).shapes == {Input(0): (3, 7), Output(0): (3, 9)}


def test_each_of_several_calls_brings_its_operands() -> None:
    """The output must come in the same rows in all of them."""
    first, second = call(Pieces(3, (4, 6)), Input(0), Output(0)), call(Pieces(3, (2, 6)), Input(1), Output(0))
    assert jobs_of(first, second).shapes == {Input(0): (3, 4), Input(1): (3, 2), Output(0): (3, 6)}
    at_once = call(Pieces(3, (2, 0)), Input(1), Output(0))
    assert jobs_of(first, at_once).shapes == {Input(0): (3, 4), Input(1): (3, 2)}


BY_ROWS = Kernel((call(Pieces(3, (4, 4))),))
TWO_IMAGES = Rows(images=2, rows=3, input_rows=3, input_row_elements=4, output_row_elements=4)


def test_a_call_that_can_be_divided() -> None:
    assert jobs_of(*BY_ROWS.calls).calls == BY_ROWS.calls
    assert not jobs_of(*BY_ROWS.calls).adds_up


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel((*BY_ROWS.calls, call(Pieces(2, (4, 4))))),
        Kernel((call(Rows(1, 3, 3, 4, 4)),) * 2),
        Kernel(()),
        replace(BY_ROWS, updates=frozenset({0})),
        Kernel((call(TWO_IMAGES),)),
        Kernel((call(Reduce(2, 3, 4, 4)),)),
        Kernel((call(Whole()),)),
        Kernel((call(Pieces(1, (4, 4))),)),
        Kernel((replace(BY_ROWS.calls[0], accesses=None),)),
        Kernel((replace(BY_ROWS.calls[0], prototype=Prototype("", (), ())),)),
    ],
    ids=[
        "other rows",
        "windows twice",
        "no call",
        "state",
        "two images",
        "sums of two images",
        "whole",
        "one row",
        "undeclared",
        "application",
    ],
)
def test_calls_that_cannot_be(kernel: Kernel) -> None:
    assert row_jobs(kernel) is None
