"""Lint, types, layers, doctests: run as tests, so that one command passes or fails."""

import ast
import doctest
import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import usmp_build
from tests import support
from tests.support.processes import output, run
from tests.support.tree import ROOT


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports"],
    ],
    ids=" ".join,
)
def test_tool_is_content(command: list[str]) -> None:
    tool = Path(sys.executable).parent / command[0]
    if not tool.exists():
        pytest.skip(f'{command[0]} is not installed; it comes with the extra "test"')
    output([tool, *command[1:]], ROOT)


MODULES = sorted(module.name for module in pkgutil.walk_packages(usmp_build.__path__, "usmp_build."))


NEEDS_TVM = {
    f"usmp_build.importers.tvm.{name}" for name in ("front_ends", "lowering", "main_function", "compiler_plan")
}


def _has_examples(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return source.is_file() and ">>> " in source.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in MODULES if name not in NEEDS_TVM and _has_examples(name)])
def test_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_the_list_of_what_tests_share_is_complete() -> None:
    assert support.__doc__
    there = {module.name for module in pkgutil.iter_modules(support.__path__)}
    assert set(re.findall(r"`(\w+)`", support.__doc__)) == there


def test_what_tests_share_is_in_support() -> None:
    """No test imports from another one: who changes a test, or moves it, need not know who else reads it."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        others = {name for name in _imported(path) if re.match(r"tests\b(?!\.support\b)", name)}
        assert not others, f"{path.relative_to(ROOT)} imports {', '.join(sorted(others))}"


def _imported(path: Path) -> set[str]:
    """Return the names that a file imports, each with its module."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)}:{node.lineno}: write the name in full"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _own_files() -> list[Path]:
    listed = run(["git", "ls-files"], ROOT)
    names = listed.out.split("\n") if listed.code == 0 else []
    return [ROOT / name for name in names if name.endswith((".py", ".c", ".h", ".j2", ".cmake"))]


def test_no_file_is_too_long_to_read() -> None:
    lines = {path: _lines(path) for path in _own_files()}
    assert not [f"{path.relative_to(ROOT)}: {n}" for path, n in lines.items() if n > 400]


MOST_BRANCHES = 15
WITH_MORE_BRANCHES: dict[str, int] = {
    "importers/tflite/list_items:_write": 18,
    "kernels/dsp/convolution:_convolution": 16,
    "kernels/sources:choose": 18,
    "report/model_rows:row": 20,
}
"""Functions that still have more branches than that: no entry is added, and no number rises."""


def test_functions_have_few_branches() -> None:
    branches = {}
    for path in sorted((ROOT / "usmp_build").rglob("*.py")):
        module = path.relative_to(ROOT / "usmp_build").with_suffix("").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and (count := _branches(node)) > MOST_BRANCHES:
                branches[f"{module}:{node.name}"] = count
    assert not {name: count for name, count in branches.items() if count > WITH_MORE_BRANCHES.get(name, MOST_BRANCHES)}
    assert not WITH_MORE_BRANCHES.keys() - branches, "take out of the list what has few branches now"


def _branches(function: ast.FunctionDef) -> int:
    """Count what makes a way through a function, in statements and expressions alike, as radon does."""
    return 1 + sum(map(_ways, ast.walk(function))) - _ways(function)


def _ways(node: ast.AST) -> int:
    """Return how many ways a node adds."""
    match node:
        case ast.BoolOp(values=values):
            return len(values) - 1
        case ast.comprehension(ifs=conditions):
            return 1 + len(conditions)
        case ast.Match(cases=cases):
            return len(cases)
        case ast.For(orelse=otherwise) | ast.While(orelse=otherwise):
            return 1 + bool(otherwise)
        case ast.Try(orelse=otherwise):
            return int(bool(otherwise))
        case ast.If() | ast.IfExp() | ast.Assert() | ast.ExceptHandler() | ast.Lambda() | ast.FunctionDef():
            return 1
    return 0


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n") if path.is_file() else 0
