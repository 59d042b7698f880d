"""Where the rows of a kernel's loop begin, in C."""

from __future__ import annotations

from dataclasses import replace

import pytest

from usmp_build.arrange.calls import Index, Parameter, call_code
from usmp_build.interfaces.kernels import Form, Input, KernelCall, Output, Pieces, Reduce, Rows
from usmp_build.layout import CallCode

PLAIN, TABLE = Parameter("const int8_t *", "in", "t0"), Parameter("const int8_t *", "in", "m_t0_rows", row=24)
OUT = Parameter("int8_t *", "out", "t1")


@pytest.mark.parametrize(
    ("parameter", "index", "pitch", "expected"),
    [
        (PLAIN, (), 8, "in"),
        (PLAIN, (("y", 1),), 8, "in + y * 8"),
        (PLAIN, (("y", 2),), 8, "in + y * 16"),
        (PLAIN, (("y", 1),), 1, "in + y"),
        (PLAIN, (("y", 2), ("k", 1)), 8, "in + (y * 2 + k) * 8"),
        (TABLE, (), 8, "in[0]"),
        (TABLE, (("y", 1),), 24, "in[y]"),
        (TABLE, (("y", 2), ("k", 1)), 24, "in[y * 2 + k]"),
        (TABLE, (("y", 1),), 8, "in[y / 3] + y % 3 * 8"),
        (TABLE, (("y", 2),), 8, "in[(y * 2) / 3] + (y * 2) % 3 * 8"),
    ],
)
def test_a_row_of_plain_memory_and_of_a_table(parameter: Parameter, index: Index, pitch: int, expected: str) -> None:
    assert parameter.at(index, pitch) == expected


def coded(form: Form, source: Parameter, backward: bool = False) -> CallCode:
    call = KernelCall("f", form, (Input(0), Output(0)), backward=backward)
    return call_code(call, "p", {Input(0): source, Output(0): OUT}, lambda _: "")


def test_images_have_pointers_in_plain_memory_and_are_counted_in_a_table() -> None:
    form = Rows(images=2, rows=5, input_rows=5, input_pitch=24, output_pitch=4, window=3, before=1)
    plain, table = coded(form, PLAIN), coded(form, TABLE)
    ours = "int8_t *const result = out + n * 20;"
    assert plain.loop.declarations == ("const int8_t *const image = in + n * 120;", ours)
    assert (plain.loop.row, plain.streamed, plain.result) == ("y - 1 + k", "image + row * 24", "result + y * 4")
    assert table.loop.declarations == (ours,)
    assert (table.streamed, table.result) == ("in[n * 5 + row]", "result + y * 4")


def test_a_reduction_reads_every_row_and_writes_once_for_each_image() -> None:
    one, two = Reduce(1, 3, 8, 4), Reduce(2, 3, 8, 4)
    assert [(code.streamed, code.result) for code in (coded(one, PLAIN), coded(two, TABLE))] == [
        ("in + y * 8", "out"),
        ("in[(n * 3 + y) / 3] + (n * 3 + y) % 3 * 8", "out + n * 4"),
    ]


@pytest.mark.parametrize("form", [Rows(2, 5, 5, 24, 4, window=3, before=1), Reduce(2, 3, 8, 4), Pieces(3, (8, 8))])
def test_only_the_loop_says_which_direction_it_is(form: Form) -> None:
    forward, backward = coded(form, PLAIN), coded(form, PLAIN, backward=True)
    assert not forward.loop.backward
    assert backward == replace(forward, loop=replace(forward.loop, backward=True))
