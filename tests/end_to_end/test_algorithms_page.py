"""docs/algorithms.md: its algorithm is installed and run, its table is complete."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.cli import TWO_MODELS, call, manifest
from tests.support.packages import install
from tests.support.problems import CASES, load
from usmp_build import plugins
from usmp_build.memory.verify import violations

PAGE = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_the_algorithm_of_the_manual_can_be_installed_and_chosen(tmp_path: Path) -> None:
    (code,), (asking, project) = blocks("python"), blocks("toml")
    source = tmp_path / "longest-first"
    source.mkdir()
    (source / "longest_first.py").write_text(code, encoding="utf-8")
    (source / "pyproject.toml").write_text(project, encoding="utf-8")
    installed = install(source, tmp_path / "installed")
    assert "longest_first        longest-first 1.0" in installed.call("plugins").out
    table = '[plan]\nalgorithm = "longest_first"\noptions = { shortest = true }\n'
    done = installed.call("plan", manifest(tmp_path, TWO_MODELS + table), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["algorithm"] == "longest_first"
    assert call("plan", manifest(tmp_path, TWO_MODELS + asking)).code == 0


def test_the_algorithm_of_the_manual_is_sound() -> None:
    names: dict[str, Any] = {"__name__": "longest_first"}
    exec(compile(blocks("python")[0], "longest_first.py", "exec", dont_inherit=True), names)
    longest, shortest = (names["LongestFirst"](shortest=flag) for flag in (False, True))
    solved = [stated for stated, _ in map(load, CASES) if longest(stated) is not None]
    assert len(solved) > len(CASES) / 2
    assert all(violations(stated, longest(stated)) == () for stated in solved)
    assert any(shortest(stated) != longest(stated) for stated in solved)


@pytest.mark.parametrize("name", plugins.ALGORITHMS)
def test_the_manual_knows_every_algorithm_and_its_options(name: str) -> None:
    row = re.search(rf"(?m)^\| `{name}` \| (.*?)\| ", PAGE)
    assert row
    made = plugins.providers("algorithms", plugins.ALGORITHMS)[name].load()
    assert re.findall(r"`(\w+)`", row[1]) == [field.name for field in fields(made)]
