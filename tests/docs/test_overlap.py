"""docs/overlap.md: what it shows of kws is its plan, and its words do what is said."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.cli import call
from tests.support.page_files import generated, give_real_models
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT

NAMED = '[project]\nname = "doorbell"\n'


@runs("docs/overlap.md")
def test_kws_overlaps_unless_it_may_not(page: Page, tmp_path: Path, real_models: Path) -> None:
    give_real_models(tmp_path, real_models, "kws")
    manifest = tmp_path / "usmp.toml"
    manifest.write_text(NAMED + '[models.kws]\npath = "models/kws.tflite"\n[plan]\nrows = false\n', "utf-8")
    shown = call("plan", manifest).out
    lines = shown[shown.index("workspace of all pools") :].partition("\n\n")[0]
    assert f"```text\n{lines}\n```" in (ROOT / page.name).read_text("utf-8")

    plan = json.loads((generated(tmp_path, NAMED + page.take("toml").text) / "plan.json").read_text("utf-8"))
    assert plan["workspace"]["achieved"] == 16_490
    (audio,) = (buffer for buffer in plan["buffers"] if buffer["kind"] == "input")
    assert audio["intervals"] == [[0, len(plan["steps"])]]
