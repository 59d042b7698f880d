"""docs/planner.md: its files are written, its commands run, its Python is true."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.cli import call

PAGE = ROOT / "docs" / "planner.md"


def test_its_python_is_true() -> None:
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_its_commands_say_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"(?m)^`([\w.]+)`:\n\n```\n(.*?)```", text, re.DOTALL):
        Path(name).write_text(content, "utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for command, expected in re.findall(r"\$ usmp-build (.*?)\n(.*?)(?=\$ |\Z)", block, re.DOTALL):
            done = call(*shlex.split(command))
            said, shown = (
                re.sub(r"plan by auto: .*", "plan by auto", text) for text in (done.out + done.err, expected)
            )
            assert said == shown
