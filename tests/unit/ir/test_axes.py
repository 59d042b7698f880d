"""Axis separators: TVM's cases, and what goes with no shape."""

from typing import Any

import pytest

from tests.support.shared_cases import usmp_rows
from usmp_build.ir.axes import RowTable, physical_shape
from usmp_build.ir.graph import DType, Tensor
from usmp_build.passes.axes.rows import RowCut, marked, possible_rows

PAGE = 2048


@pytest.mark.parametrize("row", usmp_rows("axis_separators", "rows"))
def test_physical_shapes(row: dict[str, Any]) -> None:
    """Of dense tensors of known shape: others are never in memory of pages."""
    shape, separators = row["shape"], row["separators"]
    if row.get("error"):
        with pytest.raises(ValueError, match="the separator"):
            physical_shape(shape, separators)
    elif "strides" not in row and all(isinstance(extent, int) for extent in shape):
        assert list(physical_shape(shape, separators)) == row["physical"]
        assert list(physical_shape(row["physical"], row["physical_separators"])) == row["physical"]


@pytest.mark.parametrize("row", usmp_rows("axis_separators", "hexagon_layouts"))
def test_layouts(row: dict[str, Any]) -> None:
    assert list(physical_shape(row["transformed"], row["separators"])) == row["physical"]
    if "hexagon" in row:
        tensor = Tensor("t", tuple(row["transformed"]), DType.INT8)
        elements = marked(tensor, row["separators"]).elements
        table = RowTable(tensor.elements // elements, elements, PAGE)
        assert table.rows == row["hexagon"]["nallocs"] == row["hexagon"]["pointer_table_entries"]
        assert table.row_size(8) == row["hexagon"]["padded_bytes_per_alloc"]
        assert table.rows * table.row_size(8) == row["hexagon"]["monolithic_bytes"]


@pytest.mark.parametrize("row", usmp_rows("axis_separators", "hexagon_allocations"))
def test_allocations(row: dict[str, Any]) -> None:
    """Those in memory of pages; the one that asks for smaller pages has smaller pages here."""
    if row["scope"] == "global":
        assert physical_shape(row["shape"], ()) == (105,)
        return
    tensor = Tensor("t", tuple(row["shape"]), DType.INT8)
    axes = list(range(1, len(row["shape"])))
    if "error" in row:
        with pytest.raises(ValueError, match="make 3 axes, and its memory has 2"):
            marked(tensor, axes)
        return
    elements = marked(tensor, axes).elements
    table = RowTable(tensor.elements // elements, elements, row.get("alignment", PAGE))
    assert table.rows == row.get("nallocs", 1)
    assert table.row_size(8 * row["dtype_bytes"]) == row["padded_bytes_per_alloc"]


@pytest.mark.parametrize(
    ("separators", "elements", "outer"),
    [((), 24, ()), ((2,), 4, ()), ((1, 2), 4, (2, 3)), ((0, 1, 3), 1, (1, 2, 12)), ((2, 2), 4, (6, 1))],
)
def test_the_last_axis_is_a_row_and_those_before_it_count_the_rows(
    separators: tuple[int, ...], elements: int, outer: tuple[int, ...]
) -> None:
    assert marked(Tensor("t", (2, 3, 4), DType.INT8), separators, 4) == RowCut(elements, outer)


@pytest.mark.parametrize(
    ("separators", "reason"),
    [
        ([2, 1], r"the separators \[2, 1\] descend"),
        ([-1], r"the separator -1 is outside of \[0, 3\]"),
        ([4], r"the separator 4 is outside of \[0, 3\]"),
    ],
)
def test_refusals(separators: list[int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        physical_shape([2, 3, 4], separators)


@pytest.mark.parametrize(
    ("shape", "rows"), [((1, 8, 8, 12), [12, 96, 768, 768]), ((), [1]), ((5,), [5]), ((0, 3), [3, 1])]
)
def test_possible_rows(shape: tuple[int, ...], rows: list[int]) -> None:
    assert possible_rows(Tensor("t", shape, DType.INT8)) == rows
