"""What no schedule does without, of models that run subgraphs: their steps share bytes, too."""

from pathlib import Path

import pytest

from tests.support.cli import RAM_AND_FLASH, call, manifest, planned, says
from usmp_build import pipeline, plugins
from usmp_build.files import DiskFiles
from usmp_build.passes.order import least_workspace, model_orders
from usmp_build.search import operator_order
from usmp_build.search.replanner import Replanner

LIKE = "scale=0.1 zero=0"
BODY = f"""
  %0 "a" int8[1,2,2,1] {LIKE}
  %1 "pads" int32[4,2] = [0,0,19,19,19,19,0,0]
  %2 "big" int8[1,40,40,1] {LIKE}
  %3 "in_place" int8[1,40,40,1] {LIKE}
  %4 "axes" int32[2] = [1, 2]
  %5 "small" int8[1,1,1,1] {LIKE}
"""
INNER = f"""{BODY}
  inputs %0
  outputs %5
  %2 = PAD(%0, %1)
  %3 = TANH(%2)
  %5 = MEAN(%3, %4) keep_dims=true
"""
"""`in_place` may have the bytes of `big`: 1,600 are enough for both, beside what goes in and out."""
BESIDE = f"""{BODY}
  %6 "beside" int8[1,40,40,1] {LIKE}
  %7 "sum" int8[1,40,40,1] {LIKE}
  inputs %0
  outputs %5
  %2 = PAD(%0, %1)
  %6 = PAD(%0, %1)
  %3 = UNIQUE(%2)
  %7 = ADD(%3, %6)
  %5 = MEAN(%7, %4) keep_dims=true
"""
"""`beside` is alive while UNIQUE runs, which does not touch it, and shares nothing."""


def main(calls: str) -> str:
    return f"""
model "m"
subgraph 0 "main"
  %0 "x" int8[1,2,2,1] {LIKE}
  %1 "y" int8[1,1,1,1] {LIKE}
  %2 "z" int8[1,1,1,1] {LIKE}
  inputs %0
  outputs %1, %2
  {calls}
"""


ONCE = main("%1 = CALL(%0) subgraph=1\n  %2 = TANH(%1)")
TWICE = main("%1 = CALL(%0) subgraph=1\n  %2 = CALL(%0) subgraph=1")
BY_ANOTHER = f"""{main("%1 = CALL(%0) subgraph=2" + chr(10) + "  %2 = TANH(%1)")}
subgraph 1 "body"
{INNER}
subgraph 2 "outer"
  %0 "a" int8[1,2,2,1] {LIKE}
  %1 "one" int8[1,1,1,1] {LIKE}
  %2 "other" int8[1,1,1,1] {LIKE}
  %3 "sum" int8[1,1,1,1] {LIKE}
  inputs %0
  outputs %3
  %1 = CALL(%0) subgraph=1
  %2 = CALL(%0) subgraph=1
  %3 = ADD(%1, %2)
"""


@pytest.mark.parametrize(
    ("text", "bound", "least"),
    [
        (f'{ONCE}subgraph 1 "body"\n{INNER}', 1_600, 1_600),
        (f'{ONCE}subgraph 1 "body"\n{BESIDE}', 4_800, 4_800),
        (f'{TWICE}subgraph 1 "body"\n{INNER}', 1_604, 1_605),
        (BY_ANOTHER, 1_601, 1_605),
    ],
    ids=["inner", "beside", "twice", "by another"],
)
def test_steps_of_a_subgraph_are_weighed_one_by_one(text: str, bound: int, least: int, tmp_path: Path) -> None:
    (tmp_path / "m.model.txt").write_text(text, encoding="utf-8")
    path = manifest(tmp_path, RAM_AND_FLASH + '[models.m]\npath = "m.model.txt"\nrewrites = { duplicates = false }\n')
    workspace = planned(path)["workspace"]
    assert (workspace["any_schedule"], workspace["achieved"]) == (least, least)
    files = DiskFiles(tmp_path)
    asked = pipeline.read(path.name, files)
    analysis = Replanner.of(asked, (plugins.import_model(asked.models[0], files),)).analyze()
    assert least_workspace(analysis, model_orders(asked, analysis)) == bound


def test_a_plan_that_takes_less_than_is_possible_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two figures is wrong then."""
    (tmp_path / "m.model.txt").write_text(f'{ONCE}subgraph 1 "body"\n{INNER}', encoding="utf-8")
    path = manifest(tmp_path, RAM_AND_FLASH + '[models.m]\npath = "m.model.txt"\n')
    monkeypatch.setattr(operator_order, "least_workspace", lambda *_: 1_601)
    done = call("plan", path)
    says(done, 4, "error[P503]: the plan takes 1,600 bytes of workspace, where 1,601 were said to be needed")
    assert not done.out
