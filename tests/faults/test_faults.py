"""Faults that planners and importers of others have had are planted in ours: a test notices each."""

import ast
import json
import os
import subprocess
import sys

import pytest
import tomli

from tests.support.mutation import PARTS, mutants
from tests.support.tree import ROOT

FAULTS: dict[str, dict[str, str]] = {
    fault["name"]: fault
    for file in sorted((ROOT / "tests" / "faults").glob("*.toml"))
    for fault in tomli.loads(file.read_text("utf-8"))["fault"]
}
_TESTS_FAILED = 1
"""The exit code of pytest; other faults of a run, such as a module that does not load, have others."""


_OF_CI = ("USMP_ALL_TIERS", "USMP_SAMPLE")
"""With these, a test that is skipped would count as one that notices."""


@pytest.mark.long
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_noticed(name: str) -> None:
    fault = FAULTS[name]
    kept = {name: value for name, value in os.environ.items() if name not in _OF_CI}
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.support.plant", "--tb=line"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"tests/{fault['test']}"],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**kept, "USMP_FAULT": json.dumps(fault)},
    )  # fmt: skip
    assert done.returncode == _TESTS_FAILED, f"{fault['test']} does not notice it:\n{done.stdout}{done.stderr}"
    assert "1 failed" in done.stdout


def test_mutants_are_single_changes() -> None:
    source = "def f(a):\n    '''Text.'''\n    if a < 3:\n        return a + 1\n    a -= 1\n"
    tree = ast.parse(source)
    changed = {(line, what): ast.unparse(tree).splitlines()[2:] for line, what in mutants(tree)}
    as_it_is = ["    if a < 3:", "        return a + 1", "    a -= 1"]
    assert changed == {
        (3, "Lt to LtE"): ["    if a <= 3:", *as_it_is[1:]],
        (3, "condition"): ["    if not a < 3:", *as_it_is[1:]],
        (3, "3 to 4"): ["    if a < 4:", *as_it_is[1:]],
        (4, "Add to Sub"): [as_it_is[0], "        return a - 1", as_it_is[2]],
        (4, "1 to 2"): [as_it_is[0], "        return a + 2", as_it_is[2]],
        (5, "Sub to Add"): [*as_it_is[:2], "    a += 1"],
        (5, "1 to 2"): [*as_it_is[:2], "    a -= 2"],
        (5, "left out"): [*as_it_is[:2], "    pass"],
    }
    assert ast.dump(tree) == ast.dump(ast.parse(source))


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_changes_drawn_at_random_are_noticed_or_listed(part: str) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in _OF_CI}
    command = [sys.executable, "-m", "tests.support.mutation", part, "--sample", "20"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=kept)
    assert done.returncode == 0, done.stdout + done.stderr
