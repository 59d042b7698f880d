"""docs/relax.md is so: its modules are saved, and planned together."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.snippets import Page, runs
from tests.support.tree import ROOT
from tests.support.tvm import needs_tvm, with_tvm, write_models


@needs_tvm
@runs("docs/relax.md")
def test_an_onnx_file_and_a_saved_module_are_planned(page: Page, tmp_path: Path) -> None:
    manifest, script = page.take("toml"), page.take("python")
    write_models(tmp_path, "mobile")[0].rename(tmp_path / "gate.onnx")
    shutil.copy(DATA / "digits.tflite", tmp_path / "kws.tflite")
    (tmp_path / "usmp.toml").write_text(manifest.text, encoding="utf-8")
    saved = with_tvm("-c", script.text, cwd=tmp_path)
    assert saved.code == 0, saved.err
    tested = with_tvm("-m", "usmp_build", "selftest", "--runs", "3", cwd=tmp_path)
    assert tested.code == 0, tested.err
    assert tested.out.count("all equal to those of TVM's virtual machine") == 2


@needs_tvm
@pytest.mark.long
def test_the_figures_are_current(real_models: Path, tmp_path: Path) -> None:
    shown = (ROOT / "docs" / "relax.md").read_text("utf-8").partition("<!-- figures -->\n")[2].splitlines()
    printed = with_tvm("-m", "benchmarks.relax", real_models / "kws.tflite", cwd=tmp_path)
    assert printed.code == 0, printed.err
    assert printed.out.splitlines() == shown[:3], "run: python -m benchmarks.relax, and paste it"
