"""Counts which single changes of a module its tests notice, and prints those that they do not.

    python -m tests.support.mutation usmp_build.planner.memory.verify tests/unit/planner/memory/test_verify.py

`--every 5` makes a fifth of them.  Each mutant has another operator, constant or condition somewhere, or lacks a
statement.  One that changes nothing that matters is of no interest; any other that is printed lacks a test.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Continue, ast.Break)
_LONGEST = 30
"""Seconds after which tests have failed: a mutant may run forever."""


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, what is changed there, and the changed text of each mutant."""
    tree = ast.parse(source)
    for position, node in enumerate(ast.walk(tree)):
        for what in _changes(node):
            changed = copy.deepcopy(tree)
            target = next(each for at, each in enumerate(ast.walk(changed)) if at == position)
            _apply(target, what)
            yield getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(changed))


def _changes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) | ast.BoolOp(op=operator):
            yield from _exchanged(operator)
        case ast.Compare(ops=operators):
            yield from _exchanged(operators[0])
        case ast.Constant(value=bool() | int()):
            yield "constant"
        case ast.If() | ast.IfExp() | ast.While():
            yield "condition"
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, _STATEMENTS) and not is_docstring:
        yield "left out"


def _exchanged(operator: ast.AST) -> Iterator[str]:
    if type(operator) in _OTHER:
        yield f"{type(operator).__name__} to {_OTHER[type(operator)].__name__}"


def _apply(node: Any, what: str) -> None:
    match node:
        case _ if what == "left out":
            node.__class__, node.__dict__ = ast.Pass, {"lineno": node.lineno, "col_offset": node.col_offset}
        case ast.If() | ast.IfExp() | ast.While() if what == "condition":
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant():
            node.value = not node.value if isinstance(node.value, bool) else node.value + 1
        case ast.Compare():
            node.ops[0] = _OTHER[type(node.ops[0])]()
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp():
            node.op = _OTHER[type(node.op)]()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the mutants that survive, and how many do not."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("module", type=_source, help="its name")
    parser.add_argument("tests", nargs="+", help="as pytest takes them")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="make each N-th mutant")
    parsed = parser.parse_args(arguments)
    name, source = parsed.module
    count = noticed = 0
    for line, what, text in islice(mutants(source), 0, None, parsed.every):
        is_noticed = _fails({"module": name, "old": source, "new": text}, parsed.tests)
        count, noticed = count + 1, noticed + is_noticed
        if not is_noticed:
            print(f"{name}:{line}: {what}: {source.splitlines()[line - 1].strip()}", flush=True)
    print(f"{name}: {noticed} of {count} mutants noticed")
    return 0


def _source(module: str) -> tuple[str, str]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise argparse.ArgumentTypeError(f"no module {module}")
    return module, Path(spec.origin).read_text("utf-8")


def _fails(fault: dict[str, str], tests: Sequence[str]) -> bool:
    """Tell whether tests fail, or take too long, with a changed module."""
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-p", "tests.faults.plant"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    environment = os.environ | {"USMP_FAULT": json.dumps(fault)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


if __name__ == "__main__":
    raise SystemExit(main())
