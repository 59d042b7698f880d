"""Handles of variables that subgraphs get from their callers."""

import pytest

from tests.support.flatfile import flatfile
from tests.support.tree import text_file
from usmp_build.errors import ModelError
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Model
from usmp_build.textual.text import read

LOOP = text_file("handles_loop.model.txt")


def imported(text: str) -> Model:
    return import_tflite(flatfile(*read(text, "loop", "loop").subgraphs), "loop", "loop")


def test_each_subgraph_gets_handles_of_its_own() -> None:
    main, test, body, arm, other = imported(LOOP).subgraphs
    assert [len(graph.inputs) for graph in (main, test, body, arm, other)] == [1, 1, 1, 0, 0]
    assert (main.operators[3].inputs, main.operators[3].outputs) == ((3,), (4,))
    assert main.operators[4].inputs == (2,)
    assert [(op.kind, op.outputs) for op in arm.operators[:2]] == [("VAR_HANDLE", (0,)), ("VAR_HANDLE", (1,))]
    assert [(op.kind, op.inputs) for op in arm.operators[2:]] == [("READ_VARIABLE", (0,)), ("ASSIGN_VARIABLE", (1, 2))]
    assert {op.position for op in arm.operators} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  outputs %4, %1, %2\n", "  outputs %4, %2, %1\n"),
        (
            "  _ = IF(%5, %1, %2) then",
            "  _ = IF(%5, %2, %1) then_subgraph=3 else_subgraph=4\n  _ = IF(%5, %1, %2) then",
        ),
    ],
    ids=["exchanged on each turn", "two callers give two variables"],
)
def test_a_handle_of_one_variable_and_then_another_is_refused(old: str, new: str) -> None:
    with pytest.raises(ModelError, match="T268"):
        imported(LOOP.replace(old, new))
