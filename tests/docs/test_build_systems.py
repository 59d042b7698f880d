"""docs/build-systems.md: the tests that its table names are there, and CMake's oldest version is the one of CI."""

import re

from tests.support.tree import ROOT

TEXT = (ROOT / "docs" / "build-systems.md").read_text("utf-8")


def test_the_tests_of_the_table_are_there() -> None:
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", TEXT)
    assert named
    assert [test for path, test in named if f"\ndef {test}(" not in (ROOT / path).read_text("utf-8")] == []


def test_the_oldest_cmake_is_the_one_that_ci_installs() -> None:
    (oldest,) = re.findall(r"\bcmake==([\d.]+)", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert f"| CMake | {oldest}, which is the oldest that will do;" in TEXT
