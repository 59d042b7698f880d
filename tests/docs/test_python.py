"""docs/python.md: its Python is true."""

import shutil
from pathlib import Path

import pytest

from tests.support.cli import DATA
from tests.support.page_files import python
from tests.support.snippets import Page, runs

MANIFEST = """
[project]
name = "doorbell"
[pools.sram]
access = "rw"
[pools.flash]
access = "ro"
[models.digits]
path = "digits.tflite"
"""


@runs("docs/python.md")
def test_a_manifest_is_planned(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "firmware").mkdir()
    (tmp_path / "firmware" / "usmp.toml").write_text(MANIFEST, encoding="utf-8")
    shutil.copyfile(DATA / "digits.tflite", tmp_path / "firmware" / "digits.tflite")
    monkeypatch.chdir(tmp_path)
    names = python(page.take("python"))
    python(page.take("python"), names)
