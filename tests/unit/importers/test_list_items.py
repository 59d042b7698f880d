"""One row of a list that is written by slices around it is written in place."""

import pytest

from tests.support.flatfile import flatfile
from tests.support.list_writes import BEGIN, INDEX, ITEM, LIST, OLD, doubling
from usmp_build.errors import ModelError
from usmp_build.importers.tflite import import_tflite, resizes


def test_an_item_is_written_where_the_items_behind_would_begin() -> None:
    data = flatfile(*doubling())
    body = import_tflite(data, "m", "m").subgraphs[2]
    assert [op.kind for op in body.operators].count("SLICE") == 0
    start, update = body.operators[-2:]
    assert (start.kind, start.inputs, start.outputs) == ("CONCATENATION", (INDEX, 11), (BEGIN,))
    assert (update.kind, update.inputs, update.outputs) == ("DYNAMIC_UPDATE_SLICE", (OLD, ITEM, BEGIN), (LIST,))
    assert resizes(data)


@pytest.mark.parametrize(
    "other",
    [{"step": 2}, {"zero": 1}, {"every": 1}, {"axis": 1}, {"shared": True}],
    ids=lambda other: next(iter(other)),
)
def test_anything_else_is_refused_as_before(other: dict[str, int]) -> None:
    data = flatfile(*doubling(**other))
    assert not resizes(data)
    with pytest.raises(ModelError) as caught:
        import_tflite(data, "m", "m")
    assert caught.value.diagnostics[0].code in {"T247", "T249"}
