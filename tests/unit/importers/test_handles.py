"""Handles of variables that subgraphs get from their callers."""

import pytest

from tests.support.flatfile import flatfile
from usmp_build.errors import ModelError
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Model
from usmp_build.textual.text import read

LOOP = """model "loop"
subgraph 0 "main"
  %0 "x" float32[4]
  %1 "a" resource[]
  %2 "b" resource[]
  %3 "n" int32[] = [0]
  %4 "n_after" int32[]
  %5 "a_after" resource[]
  %6 "b_after" resource[]
  %7 "y" float32[4]
  inputs %0
  outputs %7
  %1 = VAR_HANDLE() shared_name="a"
  %2 = VAR_HANDLE() shared_name="b"
  _ = ASSIGN_VARIABLE(%1, %0)
  %4, %5, %6 = WHILE(%3, %1, %2) cond_subgraph=1 body_subgraph=2
  %7 = READ_VARIABLE(%6)
subgraph 1 "more"
  %0 "n" int32[]
  %1 "a" resource[]
  %2 "b" resource[]
  %3 "limit" int32[] = [3]
  %4 "goes_on" bool[]
  inputs %0, %1, %2
  outputs %4
  %4 = LESS(%0, %3)
subgraph 2 "body"
  %0 "n" int32[]
  %1 "a" resource[]
  %2 "b" resource[]
  %3 "one" int32[] = [1]
  %4 "next" int32[]
  %5 "flag" bool[]
  inputs %0, %1, %2
  outputs %4, %1, %2
  %4 = ADD(%0, %3)
  %5 = LESS(%0, %3)
  _ = IF(%5, %1, %2) then_subgraph=3 else_subgraph=4
subgraph 3 "copies"
  %0 "a" resource[]
  %1 "b" resource[]
  %2 "value" float32[4]
  inputs %0, %1
  outputs
  %2 = READ_VARIABLE(%0)
  _ = ASSIGN_VARIABLE(%1, %2)
subgraph 4 "nothing"
  %0 "a" resource[]
  %1 "b" resource[]
  inputs %0, %1
  outputs
"""


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
