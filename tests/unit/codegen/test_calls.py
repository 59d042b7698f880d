"""Where the rows of a kernel's loop begin, in C."""

from dataclasses import replace

import pytest

from usmp_build.codegen.calls import Index, Parameter, call_code
from usmp_build.interfaces.kernels import Form, Input, KernelCall, Operand, Output, Pieces, Reduce, Rows, Scratch
from usmp_build.layout.code import CallCode

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
    form = Rows(images=2, rows=5, input_rows=5, input_row_elements=24, output_row_elements=4, window=3, before=1)
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


@pytest.mark.parametrize(("rows", "number"), [(3, "y"), (1, "0")])
def test_a_row_gets_what_is_before_the_scratch_and_the_finish_what_is_after_it(rows: int, number: str) -> None:
    operands = (Input(0), Input(1), Scratch(0), Input(2), Output(0))
    call = KernelCall("f", Reduce(1, rows, 8, 4, numbered=True), operands)
    words: dict[Operand, str] = {Input(1): "weights", Scratch(0): "sums", Input(2): "bias"}
    code = call_code(call, "p", {Input(0): PLAIN, Output(0): OUT}, lambda operand: words[operand])
    assert code.begin == ("sums",)
    assert code.arguments == (number, "weights", "sums")
    assert code.finish == ("sums", "bias")


@pytest.mark.parametrize(("untyped", "streamed_type"), [(False, "const int8_t *"), (True, "const void *")])
def test_rows_have_a_type_unless_any_will_do(untyped: bool, streamed_type: str) -> None:
    assert coded(Rows(1, 5, 5, 24, 4, untyped=untyped), PLAIN).streamed_type == streamed_type


@pytest.mark.parametrize(
    ("form", "row", "is_inside", "read", "written"),
    [
        (Rows(1, 1, 1, 24, 4), "", "", "in", "out"),
        (Rows(2, 1, 1, 24, 4), "", "", "image", "result"),
        (Rows(1, 1, 3, 24, 4, window=3), "", "", "in + k * 24", "out"),
        (Rows(1, 1, 2, 24, 4, window=3, before=1), "k - 1", "row >= 0", "in + row * 24", "out"),
        (Rows(1, 1, 2, 24, 4, window=3), "k", "row < 2", "in + row * 24", "out"),
        (Rows(1, 5, 5, 24, 4, window=3, before=1), "y - 1 + k", "row >= 0 && row < 5", "in + row * 24", "out + y * 4"),
        (Rows(1, 3, 5, 24, 4, stride=2, before=1), "y * 2 - 1", "row >= 0", "in + row * 24", "out + y * 4"),
        (Rows(1, 6, 3, 24, 4, repeat=2), "", "", "in + y / 2 * 24", "out + y * 4"),
        (
            Rows(1, 6, 3, 24, 4, before=1, repeat=2, phase=1),
            "(y + 1) / 2 - 1",
            "row >= 0",
            "in + row * 24",
            "out + y * 4",
        ),
        (Rows(1, 6, 9, 24, 4, stride=3, repeat=2), "", "", "in + y * 3 / 2 * 24", "out + y * 4"),
        (Rows(1, 1, 1, 24, 4, before=1), "0 - 1", "row >= 0", "in + row * 24", "out"),
        (Reduce(1, 1, 24, 4), "", "", "in", "out"),
        (Reduce(2, 1, 24, 4), "", "", "in + n * 24", "out + n * 4"),
    ],
)
def test_what_is_there_once_has_no_counter_and_no_condition_is_always_true(
    form: Form, row: str, is_inside: str, read: str, written: str
) -> None:
    code = coded(form, PLAIN)
    assert (code.loop.row, code.loop.is_inside, code.streamed, code.result) == (row, is_inside, read, written)


@pytest.mark.parametrize(("rows", "number"), [(5, "y"), (1, "0")])
def test_a_function_may_get_the_number_of_its_row(rows: int, number: str) -> None:
    assert coded(Rows(1, rows, rows, 24, 4, numbered=True), PLAIN).arguments == (number,)


def test_one_piece_is_one_call() -> None:
    assert (coded(Pieces(1, (8, 8)), PLAIN).form, coded(Pieces(1, (8, 8)), PLAIN).arguments) == ("whole", ("in", "out"))
    assert coded(Pieces(1, (24, 8)), TABLE).arguments == ("in[0]", "out")
    assert coded(Pieces(2, (8, 8)), PLAIN).form == "pieces"


@pytest.mark.parametrize("form", [Rows(2, 5, 5, 24, 4, window=3, before=1), Reduce(2, 3, 8, 4), Pieces(3, (8, 8))])
def test_only_the_loop_says_which_direction_it_is(form: Form) -> None:
    forward, backward = coded(form, PLAIN), coded(form, PLAIN, backward=True)
    assert not forward.loop.backward
    assert backward == replace(forward, loop=replace(forward.loop, backward=True))
