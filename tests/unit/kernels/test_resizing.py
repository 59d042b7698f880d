"""Resized images go by rows where the rows that an output row reads follow a line."""

import numpy as np
import pytest

from tests.support.kernels.drawing import FLOAT, INT8, INT16, Case, activation, case, constant
from tests.support.kernels.samples import kernel_of
from usmp_build.interfaces.kernels import Rows, Whole
from usmp_build.ir.graph import DType
from usmp_build.operators.resizing import ResizeBilinear, ResizeNearest
from usmp_build.passes.select.declared import check_declared


def resized(kind: str, before: int, after: int, dtype: DType = INT8, **options: bool) -> Case:
    source = activation("x", (1, before, 5, 2), dtype, 0.1, 0 if dtype is INT16 else 3)
    output = activation("y", (1, after, 7, 2), dtype, 0.1, 0 if dtype is INT16 else 3)
    sizes = constant("size", np.array([after, 7], np.int32))
    options_of = ResizeBilinear(**options) if kind == "RESIZE_BILINEAR" else ResizeNearest(**options)
    return case(np.random.default_rng(1), kind, (source, sizes), output, options_of)


@pytest.mark.parametrize("dtype", [INT8, INT16, FLOAT])
@pytest.mark.parametrize(
    ("before", "after", "options", "expected"),
    [
        (4, 8, {}, {0: [0, 1], 1: [0, 1], 2: [1, 2], 7: [3]}),
        (4, 8, {"half_pixel_centers": True}, {0: [0], 1: [0, 1], 2: [0, 1], 3: [1, 2], 7: [3]}),
        (8, 4, {"half_pixel_centers": True}, {0: [0, 1], 1: [2, 3], 3: [6, 7]}),
        (4, 7, {"align_corners": True}, {0: [0, 1], 1: [0, 1], 2: [1, 2], 6: [3]}),
    ],
)
def test_a_row_is_interpolated_from_the_two_around_it(
    dtype: DType, before: int, after: int, options: dict[str, bool], expected: dict[int, list[int]]
) -> None:
    (call,) = kernel_of(resized("RESIZE_BILINEAR", before, after, dtype, **options)).calls
    form = call.form
    assert isinstance(form, Rows)
    assert form.numbered
    touched = {y: [row for row in (form.first_row(y), form.first_row(y) + 1) if 0 <= row < before] for y in expected}
    assert touched == expected


@pytest.mark.parametrize(
    ("before", "after", "options", "repeat", "stride"),
    [
        (4, 8, {}, 2, 1),
        (4, 12, {"half_pixel_centers": True}, 3, 1),
        (8, 4, {}, 1, 2),
        (4, 7, {"align_corners": True}, 2, 1),
        (5, 8, {}, 8, 5),
        (21, 14, {"half_pixel_centers": True}, 2, 3),
    ],
)
def test_or_of_the_nearest(before: int, after: int, options: dict[str, bool], repeat: int, stride: int) -> None:
    (call,) = kernel_of(resized("RESIZE_NEAREST_NEIGHBOR", before, after, **options)).calls
    assert isinstance(call.form, Rows)
    assert (call.form.window, call.form.repeat, call.form.stride) == (1, repeat, stride)


@pytest.mark.parametrize(
    ("kind", "before", "after", "dtype", "options"),
    [
        ("RESIZE_NEAREST_NEIGHBOR", 14, 46, INT8, {}),
        ("RESIZE_BILINEAR", 2, 42, FLOAT, {"align_corners": True}),
        ("RESIZE_BILINEAR", 9, 3, INT8, {"half_pixel_centers": True}),
    ],
)
def test_where_floats_round_off_the_line_all_rows_are_computed_at_once(
    kind: str, before: int, after: int, dtype: DType, options: dict[str, bool]
) -> None:
    """Or where the first row is below the image's."""
    (call,) = kernel_of(resized(kind, before, after, dtype, **options)).calls
    assert call.form == Whole()


def test_rows_whose_columns_are_too_many_to_declare_write_no_other_row() -> None:
    source, output = (activation(name, (1, *size, 1), FLOAT) for name, size in (("x", (2, 340)), ("y", (3, 1142))))
    sizes = constant("size", np.array([3, 1142], np.int32))
    made = case(
        np.random.default_rng(1), "RESIZE_BILINEAR", (source, sizes), output, ResizeBilinear(align_corners=True)
    )
    kernel = kernel_of(made)
    check_declared(kernel, made.graph.operators[0], made.graph)
    (call,) = kernel.calls
    assert isinstance(call.form, Rows)
    assert call.accesses is not None
    assert call.accesses.widths == (0, 4)
