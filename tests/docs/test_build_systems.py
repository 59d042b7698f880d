"""docs/build-systems.md: each cell of its table names a test, which is there, and which CI cannot skip."""

import ast
import re
import sys

import pytest

from tests.support.processes import environment, output
from tests.support.tree import ROOT

TEXT = (ROOT / "docs" / "build-systems.md").read_text("utf-8")
GENERATORS = {
    "CMake, Ninja": "Ninja",
    "CMake, Ninja Multi-Config": "Ninja Multi-Config",
    "CMake, Make": "Unix Makefiles",
}
"""How tests call what a row is about, where one test is run for several rows."""
ROWS = [*GENERATORS, *(f"checked in, built by {tool}" for tool in ("CMake", "Make", "Bazel")), "Bazel"]
CELL = r"([a-z](?:, [a-z])*)|it is"


def table(head: str) -> list[list[str]]:
    """The rows of the table whose first row begins like that, without their edges."""
    lines = TEXT[TEXT.index(f"\n{head}") + 1 :].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|---")]


HEAD, *SYSTEMS = table("| | builds |")
TESTS = {letter: test.strip("`") for letter, test, _ in table("| | test |")[1:]}
WITH = {letter: tools for letter, _, tools in table("| | test |")[1:]}


@pytest.fixture(scope="module")
def collected() -> list[str]:
    """All tests that pytest finds in the files that the page names."""
    files = sorted({test.partition("::")[0] for test in TESTS.values()})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    return [line for line in output(command, ROOT, environment("USMP_SAMPLE")).splitlines() if "::" in line]


def letters(cell: str) -> list[str]:
    """Which tests a cell refers to."""
    match = re.fullmatch(CELL, cell)
    assert match, cell
    return match[1].split(", ") if match[1] else []


def test_every_build_system_and_every_quality_is_there() -> None:
    assert HEAD == ["", "builds", "rebuilds right", "cross", "cached", "checked-in"]
    assert [name for name, *_ in SYSTEMS] == ROWS
    assert {letter for _, *cells in SYSTEMS for cell in cells for letter in letters(cell)} == set(TESTS)


@pytest.mark.parametrize("row", SYSTEMS, ids=lambda row: str(row[0]))
def test_the_tests_of_a_row_are_there(row: list[str], collected: list[str]) -> None:
    name, *cells = row
    for letter in {letter for cell in cells for letter in letters(cell)}:
        runs = [test for test in collected if test.partition("[")[0] == TESTS[letter]]
        assert runs, TESTS[letter]
        if generator := GENERATORS.get(name):
            assert any(re.search(rf"[\[-]{generator}[\]-]", run) for run in runs), f"{name}: {TESTS[letter]}"


def test_those_of_each_cmake_are_the_ones_that_take_one() -> None:
    for letter, test in TESTS.items():
        arguments = [argument.arg for argument in function(test).args.args]
        assert ("each CMake" in WITH[letter]) == ("cmake" in arguments), test


def test_none_of_them_is_skipped_in_ci() -> None:
    assert "export USMP_ALL_TIERS=1" in (ROOT / ".ci" / "run").read_text("utf-8")
    for test in TESTS.values():
        marks = "".join(ast.unparse(decorator) for decorator in function(test).decorator_list)
        assert "skip" not in marks
        assert "xfail" not in marks


def function(test: str) -> ast.FunctionDef:
    """The source of a test."""
    path, _, name = test.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    (found,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found


def test_the_oldest_cmake_is_the_one_that_ci_installs() -> None:
    (oldest,) = re.findall(r"\bcmake==([\d.]+)", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert f"| CMake | {oldest}, which is the oldest that will do;" in TEXT
