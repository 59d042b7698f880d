"""What becomes one operator again, and what must stay."""

import pytest

from tests.support.rewriting import lines
from usmp_build.passes.rewrite.pins import Pins

UPSAMPLED = "%2 = RESHAPE(%0); %4 = TILE(%2, %3); %5 = RESHAPE(%4); %7 = TILE(%5, %6); %9 = RESHAPE(%7)"
SHAPES = {0: "1,4,3,2", 2: "1,4,1,3,2", 4: "1,4,2,3,2", 5: "1,8,3,1,2", 7: "1,8,3,2,2", 9: "1,8,6,2"}
TIMES = {3: "int32[5] = [1, 1, 2, 1, 1]", 6: "int32[5] = [1, 1, 1, 2, 1]"}
IN_BLOCKS = "%3 = SPACE_TO_BATCH_ND(%0, %1, %2); %6 = CONV_2D(%3, %4, %5) padding=VALID"
DILATED = f"{IN_BLOCKS}; %9 = BATCH_TO_SPACE_ND(%6, %1, %8)"
BATCHES = {0: "1,7,6,1", 3: "4,5,4,1", 6: "4,3,2,1", 9: "1,6,4,1"}
BLOCKS = {
    1: "int32[2] = [2, 2]",
    2: "int32[2,2] = [2, 1, 0, 2]",
    4: "int8[1,3,3,1] scale=0.5 zero=0 = [1*9]",
    5: "int32[1] = [1]",
    8: "int32[2,2] = [0, 0, 0, 0]",
}


def text(operators: str, shapes: dict[int, str], constants: dict[int, str], more: str = "") -> str:
    """State a graph whose tensors are all of one type, but for constants."""
    declared = {i: f"int8[{shape}] scale=0.5 zero=-3" for i, shape in shapes.items()} | constants
    every = [f'%{i} "t{i}" {declared.get(i, "int8[1] scale=0.5 zero=-3")}' for i in range(10)]
    return "\n".join([*every, "inputs %0", f"outputs %9{more}", *operators.split("; ")])


def test_repeated_rows_and_columns_are_a_larger_image() -> None:
    (line,) = lines(text(UPSAMPLED, SHAPES, TIMES))
    assert line == "%9 = RESIZE_NEAREST_NEIGHBOR(%0, %10) half_pixel_centers=true"
    assert len(lines(text(UPSAMPLED, SHAPES, TIMES), off=frozenset({"composites"}))) == 5


def test_a_signal_is_an_image_of_one_column() -> None:
    operators = "%2 = RESHAPE(%0); %4 = TILE(%2, %3); %9 = RESHAPE(%4)"
    shapes = {0: "1,4,2", 2: "1,4,1,2", 4: "1,4,3,2", 9: "1,12,2"}
    first, resize, last = lines(text(operators, shapes, {3: "int32[4] = [1, 1, 3, 1]"}))
    assert (first, last) == ("%10 = VIEW(%0)", "%9 = VIEW(%11)")
    assert "%11 = RESIZE_NEAREST_NEIGHBOR(%10, %12)" in resize


@pytest.mark.parametrize(
    ("shapes", "constants", "more"),
    [
        ({}, {3: "int32[5] = [1, 2, 1, 1, 1]"}, ""),  # the whole image twice
        ({5: "1,8,1,3,2"}, {6: "int32[5] = [1, 1, 2, 1, 1]"}, ""),
        ({}, {}, ", %5"),
        ({}, {3: "int32[5]"}, ""),
    ],
)
def test_what_is_repeated_otherwise_stays(shapes: dict[int, str], constants: dict[int, str], more: str) -> None:
    """In another order, read by others, or as often as a run says."""
    assert "TILE" in "".join(lines(text(UPSAMPLED, SHAPES | shapes, TIMES | constants, more)))


def test_what_changes_its_scale_is_no_larger_image() -> None:
    constants = {**TIMES, 4: "int8[1,4,2,3,2] scale=0.25 zero=-3"}
    assert "TILE" in lines(text(UPSAMPLED, SHAPES, constants))[1]


def test_an_image_of_more_numbers_than_are_moved_stays() -> None:
    """Its file is as small as any: numbers of its elements would take gigabytes."""
    operators, times = "%2 = RESHAPE(%0); %4 = TILE(%2, %3); %9 = RESHAPE(%4)", {3: "int32[5] = [1, 1, 2, 1, 1]"}
    for rows, kind in ((16, "RESIZE_NEAREST_NEIGHBOR"), (16_000, "TILE")):
        shapes = {0: f"1,{rows},3000,2", 2: f"1,{rows},1,3000,2", 4: f"1,{rows},2,3000,2", 9: f"1,{2 * rows},3000,2"}
        assert kind in "".join(lines(text(operators, shapes, times)))


def test_a_convolution_of_blocks_is_dilated() -> None:
    """A border of 0 is not the zero point, and remains."""
    padding, convolution = lines(text(DILATED, BATCHES, BLOCKS))
    assert padding == "%12 = PADV2(%0, %10, %11)"
    assert convolution == "%9 = CONV_2D(%12, %4, %5) padding=VALID dilation_h=2 dilation_w=2"


def test_what_is_padded_for_places_that_are_cut_off_goes() -> None:
    shapes, cut = {0: "1,8,8,1", 3: "4,5,4,1", 9: "1,4,4,1"}, {2: "int32[2,2] = [1, 1, 0, 0]"}
    (line,) = lines(text(DILATED, BATCHES | shapes, {**BLOCKS, **cut, 8: "int32[2,2] = [1, 1, 0, 0]"}))
    assert line == "%9 = CONV_2D(%0, %4, %5) padding=VALID dilation_h=2 dilation_w=2"


def test_a_border_of_zero_points_becomes_a_frame() -> None:
    alike = text(DILATED, BATCHES, BLOCKS).replace("zero=-3", "zero=0")
    assert lines(alike) == ["%9 = CONV_2D(%0, %4, %5) padding=VALID dilation_h=2 dilation_w=2 frame=[2, 1, 0, 2]"]


@pytest.mark.parametrize(
    ("operators", "shapes", "constants"),
    [
        (DILATED.replace("VALID", "VALID stride_h=2 stride_w=2"), {6: "4,2,1,1", 9: "1,4,2,1"}, {}),
        (DILATED, {9: "1,1,4,1"}, {8: "int32[2,2] = [3, 2, 0, 0]"}),
        (f"{IN_BLOCKS}; %9 = BATCH_TO_SPACE_ND(%6, %7, %8)", {9: "1,3,8,1"}, {7: "int32[2] = [1, 4]"}),
        (DILATED, {}, {6: "int8[4,3,2,1] scale=0.25 zero=-3"}),
    ],
)
def test_blocks_stay(operators: str, shapes: dict[int, str], constants: dict[int, str]) -> None:
    """With strides, with more cut off than was padded, put together otherwise, or with another scale in between."""
    assert "BATCH_TO_SPACE_ND" in lines(text(operators, BATCHES | shapes, BLOCKS | constants))[-1]


@pytest.mark.parametrize("pins", [Pins(named=frozenset({(0, 1)})), Pins(targets={(0, 1): 1})])
def test_what_a_rule_names_stays(pins: Pins) -> None:
    assert "TILE" in lines(text(UPSAMPLED, SHAPES, TIMES), pins)[1]
    assert len(lines(text(DILATED, BATCHES, BLOCKS), pins)) == 3
