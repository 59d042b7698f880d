"""docs/ram.md: its manifests plan as it says, its C runs, and what it shows of kws is its plan."""

import json
from pathlib import Path

from tests.support.cli import call
from tests.support.host_c import built
from tests.support.page_files import generated, give_models, give_real_models
from tests.support.pictures import picture_to_picture
from tests.support.processes import output
from tests.support.shell import Shell
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT, text_file

NAMED = '[project]\nname = "doorbell"\n'
MODEL = '[models.{0}]\npath = "models/{0}.tflite"\n'
TEXT = (ROOT / "docs" / "ram.md").read_text("utf-8")


@runs("docs/ram.md#use-it")
def test_nothing_overlaps_where_it_may_not(page: Page, tmp_path: Path, real_models: Path) -> None:
    give_real_models(tmp_path, real_models, "kws")
    plan = json.loads((generated(tmp_path, NAMED + page.take("toml").text) / "plan.json").read_text("utf-8"))
    assert plan["workspace"]["achieved"] == 16_490
    (audio,) = (buffer for buffer in plan["buffers"] if buffer["kind"] == "input")
    assert audio["intervals"] == [[0, len(plan["steps"])]]


@runs("docs/ram.md#look-at-it")
def test_jobs_are_shown(page: Page, shell: Shell) -> None:
    give_models(shell.folder, digits="digits")
    (shell.folder / "usmp.toml").write_text(NAMED + MODEL.format("digits"), encoding="utf-8")
    shell.run(page.take("console"))


@runs("docs/ram.md#how-it-works")
def test_layers_run_row_by_row(page: Page, tmp_path: Path) -> None:
    give_models(tmp_path, digits="digits")
    by_rows = (generated(tmp_path, NAMED + MODEL.format("digits")) / "digits.c").read_text("utf-8")
    assert page.take("c").text in by_rows
    whole = generated(tmp_path, NAMED + MODEL.format("digits") + "[plan]\nrows = false\n")
    assert "digits_jobs" not in (whole / "digits.c").read_text("utf-8")


@runs("docs/ram.md#rows-from-outside")
def test_rows_come_and_go(page: Page, tmp_path: Path) -> None:
    give_models(tmp_path, vww="digits")
    rows = "[plan]\nrows = true\n"
    out = generated(tmp_path, NAMED + rows + page.take("toml").text)
    program = built(out, tmp_path, page.take("c").within(FED))
    assert output([program]) == "8 rows, then scores\n"
    (tmp_path / "models" / "vww.tflite").write_bytes(picture_to_picture())
    masked = 'names = { t13 = "mask" }\noutputs = "rows"\n'
    out = generated(tmp_path, f"{NAMED}{MODEL.format('vww')}{masked}{rows}")
    built(out, tmp_path, page.take("c").within(MASKED))


FED = text_file("page_ram_fed.c")

MASKED = text_file("page_ram_masked.c")


def test_a_tensor_of_kws_is_where_the_page_says(tmp_path: Path, real_models: Path) -> None:
    give_real_models(tmp_path, real_models, "kws")
    generated(tmp_path, f"{NAMED}{MODEL.format('kws')}")
    explained = call("explain", "kws.activation/Relu", tmp_path / "usmp.toml").out
    assert "".join(explained.splitlines(keepends=True)[:5]) in TEXT


def test_the_workspace_of_kws_is_what_the_page_says(tmp_path: Path, real_models: Path) -> None:
    give_real_models(tmp_path, real_models, "kws")
    manifest = tmp_path / "usmp.toml"
    manifest.write_text(f"{NAMED}{MODEL.format('kws')}[plan]\nrows = false\n", encoding="utf-8")
    shown = call("plan", manifest).out
    lines = shown[shown.index("workspace of all pools") :].partition("\n\n")[0]
    assert f"```text\n{lines}\n```" in TEXT
