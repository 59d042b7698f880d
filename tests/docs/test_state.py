"""docs/models-together.md: a model with a variable has the function that is shown; the variable goes to its pool."""

import json
from pathlib import Path

from tests.support.cli import RW, tables
from tests.support.page_files import generated
from tests.support.snippets import Page, runs

SUM = """model "kws"
subgraph 0 "main"
  %0 "audio" int8[4] scale=0.5 zero=0
  %1 "audio_ring" resource[]
  %2 "before" int8[4] scale=0.5 zero=0
  %3 "after" int8[4] scale=0.5 zero=0
  inputs %0
  outputs %3
  %1 = VAR_HANDLE() shared_name="sum"
  %2 = READ_VARIABLE(%1)
  %3 = ADD(%2, %0)
  _ = ASSIGN_VARIABLE(%1, %3)
"""
MANIFEST = tables("doorbell", {"tcm": RW, "sram": RW}, {"kws": 'path = "kws.model.txt"\n'})


@runs("docs/models-together.md#state")
def test_a_variable_is_reset_and_pinned(page: Page, tmp_path: Path) -> None:
    (tmp_path / "kws.model.txt").write_text(SUM, encoding="utf-8")
    reset, pinned = page.take("c"), page.take("toml")
    assert reset.text in (generated(tmp_path, MANIFEST) / "kws.h").read_text("utf-8")
    plan = json.loads((generated(tmp_path, MANIFEST + pinned.text) / "plan.json").read_text("utf-8"))
    assert [buffer["pool"] for buffer in plan["buffers"] if buffer["kind"] == "variable"] == ["sram"]
