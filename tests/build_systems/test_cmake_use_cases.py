"""The use cases of USMP's RFC that need no board: built as they are, they compute what TensorFlow Lite Micro does."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
import tomli

from tests.support.cli import call
from tests.support.cmake import PYTHON, Project, need
from tests.support.examples import EXAMPLES, printed

SAID = {
    "defaults": ("plain", ["16 of 16 outputs equal those of TensorFlow Lite Micro"]),
    "ports": (
        "mixer",
        [
            "12 of 12 outputs equal those of TensorFlow Lite Micro",
            "12 of 12 when run again, with the inputs as the first run left them",
        ],
    ),
}
"""Example → its program, and what it prints last."""
USE_CASES = {"U1": "defaults", "U2": "digits", "U3": "firmware", "U4": "ports"}


@pytest.mark.parametrize("name", SAID)
def test_the_example_does_what_it_says(name: str, tmp_path: Path, find: str) -> None:
    need("Unix Makefiles")
    program, said = SAID[name]
    project = Project(EXAMPLES / name, tmp_path / "build")
    project.configure(find, PYTHON, "-DCMAKE_C_FLAGS=-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror")
    assert f"link {program}" in project.build()
    done = subprocess.run([project.binary / program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[1:] == said
    assert [done.stdout] == printed(name)
    assert done.returncode == 0


@pytest.mark.parametrize(("use_case", "name"), USE_CASES.items())
def test_readmes_say_which_use_case_they_are(use_case: str, name: str) -> None:
    assert re.search(
        rf"Use\s+case\s+{use_case}\s+of\s+USMP's\s+RFC", (EXAMPLES / name / "README.md").read_text("utf-8")
    )
    rows = [row for row in (EXAMPLES / "README.md").read_text("utf-8").splitlines() if f"| {use_case}: " in row]
    assert [row.startswith(f"| [{name}]({name}/README.md) |") for row in rows] == [True]


def test_every_example_is_in_the_list() -> None:
    listed = re.findall(r"(?m)^\| \[(\w+)\]\(\1/README\.md\)", (EXAMPLES / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


def test_nothing_is_declared_where_nothing_should_be() -> None:
    plan = json.loads(call("plan", EXAMPLES / "defaults" / "usmp.toml", "--json").out)
    assert [(pool["name"], pool["limit"]) for pool in plan["pools"]] == [("workspace", None), ("constants", None)]
    assert set(tomli.loads((EXAMPLES / "defaults" / "usmp.toml").read_text("utf-8"))) == {"project", "models"}


def test_all_inputs_and_all_outputs_are_there_at_once() -> None:
    plan = json.loads(call("plan", EXAMPLES / "ports" / "usmp.toml", "--json").out)
    for kind, count in (("input", 2), ("output", 4)):
        ports = [buffer for buffer in plan["buffers"] if buffer["kind"] == kind]
        places = sorted((port["offset"], port["offset"] + port["size"]) for port in ports)
        assert len(places) == count
        assert all(end <= start for (_, end), (start, _) in pairwise(places))


def test_the_price_of_inputs_that_stay_is_told() -> None:
    said = 'inputs = "preserved" costs 240 bytes of workspace'
    assert said in call("plan", EXAMPLES / "ports" / "usmp.toml").out
    assert "costs 240 bytes" in (EXAMPLES / "ports" / "README.md").read_text("utf-8")


def test_the_expected_answers_are_current() -> None:
    made = runpy.run_path(str(EXAMPLES / "ports" / "make_expected.py"))["text"]()
    assert (EXAMPLES / "ports" / "expected.h").read_text("utf-8") == made
