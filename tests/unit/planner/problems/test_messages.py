"""Messages about wrong problems: each file of tests/cases/problems has its messages beside it.

`USMP_BLESS=1 pytest tests/unit/planner/problems/test_messages.py` writes the messages anew.
"""

import os
from pathlib import Path

import pytest

from tests.support.tree import ROOT
from usmp_build.errors import ProblemError, Span
from usmp_build.planner.problems.read import read_problem

FOLDER = ROOT / "tests" / "cases" / "problems"
CASES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".csv", ".json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_messages_are_as_recorded(path: Path) -> None:
    with pytest.raises(ProblemError) as caught:
        read_problem(path.read_bytes(), path.name)
    message = f"{caught.value}\n"
    expected = path.with_name(path.name + ".txt")
    if os.environ.get("USMP_BLESS"):
        expected.write_text(message, "utf-8", newline="\n")
    assert message == expected.read_text("utf-8")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_messages_have_a_place_and_a_next_step(path: Path) -> None:
    with pytest.raises(ProblemError) as caught:
        read_problem(path.read_bytes(), path.name)
    lines = path.read_text("utf-8", errors="replace").split("\n")
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.help
        assert "\n" not in diagnostic.message
        place = diagnostic.place
        assert isinstance(place, Span)
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1
