"""Counts which single changes of a part of our code its tests notice, and prints those that they do not.

    python -m tests.support.mutation separations

`mutation.toml` beside this says which files and tests a part has, and of which changes it is known that nothing can
notice them.  Each mutant has another operator, constant or condition somewhere, or lacks a statement.  It runs in a
process of its own, forked when all tests are loaded, with the tests that call what is changed, quickest first, until
one fails.  Exit code 1: a change that is not listed is not noticed, or fewer than 95 % are.
"""

import argparse
import ast
import copy
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from types import FrameType, ModuleType
from typing import Any

import pytest
import tomli
from _pytest.runner import runtestprotocol

from tests.support.plant import plant
from tests.support.tree import ROOT

_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Continue, ast.Break)
_LEAST = 95
"""Per cent."""
_Change = tuple[str, str, str]
"""The stem of a file, the text of a line, and what is changed there."""
PARTS: dict[str, Any] = tomli.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def mutants(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Change a module in each way, one after the other; yield the line and what is changed there."""
    bodies = (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)))
    definitions = {id(node) for body in bodies for node in body.body}  # the module keeps what its text leaves out
    for node in [*_changeable(tree)]:
        for what in [each for each in _changes(node) if each != "left out" or id(node) not in definitions]:
            kept = node.__class__, copy.copy(node.__dict__), copy.copy(getattr(node, "ops", None))
            _apply(node, what)
            yield getattr(node, "lineno", 0), what
            node.__class__, node.__dict__, operators = kept
            if operators is not None:
                node.ops = operators


def _changeable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs; decorators, and whether `zip` would raise, only guard against mistakes in the code itself."""
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_guard = name == "decorator_list" or (isinstance(child, ast.keyword) and child.arg == "strict")
            if isinstance(child, ast.AST) and not is_guard and name not in ("annotation", "returns"):
                yield from _changeable(child)


def _changes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) | ast.BoolOp(op=operator):
            yield from _exchanged(operator)
        case ast.Compare(ops=operators):
            yield from _exchanged(operators[0])
        case ast.Constant(value=bool() | int()):
            yield f"{node.value} to {_other_constant(node.value)}"
        case ast.If() | ast.IfExp() | ast.While():
            yield "condition"
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, _STATEMENTS) and not is_docstring:
        yield "left out"


def _exchanged(operator: ast.AST) -> Iterator[str]:
    if type(operator) in _OTHER:
        yield f"{type(operator).__name__} to {_OTHER[type(operator)].__name__}"


def _other_constant(value: int) -> int:
    return not value if isinstance(value, bool) else value + 1


def _apply(node: Any, what: str) -> None:
    match node:
        case _ if what == "left out":
            place = {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
            node.__class__, node.__dict__ = ast.Pass, place
        case ast.If() | ast.IfExp() | ast.While() if what == "condition":
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        case ast.Constant():
            node.value = _other_constant(node.value)
        case ast.Compare():
            node.ops = [_OTHER[type(node.ops[0])](), *node.ops[1:]]
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            node.op = _OTHER[type(node.op)]()


class _File:
    """A file of a part, as text, as syntax, and as the module that tests have loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.read_text("utf-8").splitlines()
        self.tree = ast.parse("\n".join(self.lines))
        self.functions = [
            range(min(each.lineno for each in (node, *node.decorator_list)), node.end_lineno + 1)
            for body in (self.tree.body, *(each.body for each in self.tree.body if isinstance(each, ast.ClassDef)))
            for node in body
            if isinstance(node, ast.FunctionDef) and node.end_lineno
        ]

    @cached_property
    def module(self) -> ModuleType:
        return next(each for each in [*sys.modules.values()] if getattr(each, "__file__", None) == str(self.path))


class _Mutation:
    """A plugin of pytest: runs tests as they are, and then for each mutant those that may notice it."""

    def __init__(self, files: list[_File], listed: set[_Change], asked: argparse.Namespace) -> None:
        self._files, self._listed, self._jobs = files, listed, asked.jobs
        numbers = range(sum(1 for each in files for _ in mutants(each.tree)))
        self._drawn = (
            {*numbers}
            if asked.sample is None
            else {*Random(asked.seed).sample(numbers, min(asked.sample, len(numbers)))}
        )
        self._running: dict[int, tuple[_File, int, str]] = {}
        self._called: list[tuple[float, list[tuple[str, int]]]] = []
        """For each test its seconds, and the functions that it calls: files and first lines."""
        self.count, self.survivors = 0, list[_Change]()
        self.error = "no test was found"

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed or not session.items:
            self.error = f"{session.testsfailed} files of tests cannot be read"
            return True
        self._called = json.loads(_answer(lambda: self._observed(session.items)))
        if isinstance(self._called, str):
            self.error = f"fails without a change: {self._called}"
            return True
        self.error = ""
        gc.freeze()  # collecting garbage in a fork would copy its memory
        numbers = iter(range(1 << 30))
        for each in self._files:
            for line, what in mutants(each.tree):
                if next(numbers) in self._drawn:
                    self._start(session.items, each, line, what)
        while self._running:
            self._wait()
        return True

    def _observed(self, items: list[pytest.Item]) -> str:
        """Run all tests on modules that are planted without a change; return what each calls, or which one fails."""
        for each in self._files:
            plant(each.module, each.tree)
        names, called = {str(each.path) for each in self._files}, []
        for item, following in zip(items, [*items[1:], None], strict=True):
            places: set[tuple[str, int]] = set()

            def note(frame: FrameType, event: str, _: object, places: set[tuple[str, int]] = places) -> None:
                if frame.f_code.co_filename in names:
                    places.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

            begun = time.process_time()
            sys.settrace(note)
            is_passed = _passes(item, following)
            sys.settrace(None)
            if not is_passed:
                return json.dumps(item.nodeid)
            called.append([time.process_time() - begun, sorted(places)])
        return json.dumps(called)

    def _chosen(self, items: list[pytest.Item], file: _File, line: int) -> list[tuple[pytest.Item, float]]:
        """Return the tests that call the function of a line, file by file, the quickest first."""
        function = next((each for each in file.functions if line in each), None)
        chosen = [
            (item, seconds)
            for item, (seconds, places) in zip(items, self._called, strict=True)
            if function is None or any(path == str(file.path) and first in function for path, first in places)
        ]
        seconds_of: dict[Path, float] = {}
        for item, seconds in chosen:
            seconds_of[item.path] = seconds_of.get(item.path, 0.0) + seconds
        return sorted(chosen, key=lambda each: (seconds_of[each[0].path], each[0].path, each[1]))

    def _start(self, items: list[pytest.Item], file: _File, line: int, what: str) -> None:
        if len(self._running) == self._jobs:
            self._wait()
        chosen = self._chosen(items, file, line)
        process = os.fork()
        if not process:
            _silence()
            try:
                plant(file.module, file.tree)
                for (item, seconds), (following, _) in zip(chosen, [*chosen[1:], (None, 0)], strict=False):
                    signal.setitimer(signal.ITIMER_PROF, 2 + 10 * seconds)  # a mutant may run forever: this ends it
                    if not _passes(item, following):
                        os._exit(1)
            except BaseException:
                os._exit(1)
            os._exit(0)
        self._running[process] = file, line, what

    def _wait(self) -> None:
        process, status = os.wait()
        file, line, what = self._running.pop(process)
        self.count += 1
        if status == 0:
            change = file.path.stem, file.lines[line - 1].strip(), what
            self.survivors.append(change)
            if change not in self._listed:
                print(f"{file.path.stem}:{line}: {what}: {change[1]}", flush=True)


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def _silence() -> None:
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def _answer(question: Callable[[], str]) -> str:
    """Answer in a process of its own, which leaves nothing behind in this one."""
    reading, writing = os.pipe()
    if not os.fork():
        _silence()
        with os.fdopen(writing, "w") as stream:
            stream.write(question())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = stream.read()
    os.wait()
    return answer or json.dumps("the process has ended")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what nobody notices, unless it is listed, and the score."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--file", metavar="STEM", help="change only this file")
    parser.add_argument("--sample", type=int, metavar="N", help="draw so many mutants")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    asked = parser.parse_args(arguments)
    part = PARTS[asked.part]
    paths = sorted(path for pattern in part["files"] for path in ROOT.glob(pattern) if asked.file in (None, path.stem))
    listed = {
        (each["file"], line, what)
        for each in part.get("survivor", ())
        for line, *changes in each["changes"]
        for what in changes
    }
    mutation = _Mutation([_File(path) for path in paths], listed, asked)
    options = [
        "-s",
        "-o",
        "addopts=",
        "-m",
        "not long",
        *(f"-pno:{name}" for name in ("terminal", "cacheprovider", "xdist")),
    ]
    pytest.main([*options, *(str(ROOT / "tests" / test) for test in part["tests"])], plugins=[mutation])
    if mutation.error:
        print(mutation.error)
        return 1
    score = 100 * (mutation.count - len(mutation.survivors)) / max(1, mutation.count)
    unknown = [each for each in mutation.survivors if each not in listed]
    is_whole = asked.sample is None and asked.file is None
    stale = listed - {*mutation.survivors} if is_whole else set()
    for stem, text, what in sorted(stale):
        print(f"{stem}: is noticed, or not there, though it is listed: {what}: {text}")
    print(
        f"{asked.part}: {mutation.count - len(mutation.survivors)} of {mutation.count} mutants noticed, {score:.1f} %;"
        f" {len(mutation.survivors) - len(unknown)} of the others are explained"
    )
    return int(bool(unknown or stale) or (is_whole and score < _LEAST))


if __name__ == "__main__":
    raise SystemExit(main())
