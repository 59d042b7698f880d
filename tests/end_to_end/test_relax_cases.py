"""What TVM's tests say of its planner of Relax (StaticPlanBlockMemory), restated: never more bytes here."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.cases import plan_program

CHAIN = "a = x; b = a; c = b; d = c; out = d"
"""exp, a view and relu, add, pad, log."""


@dataclass(frozen=True)
class Case:
    """Buffers with their types and extents, and which of them each call writes and reads, also in branches."""

    buffers: dict[str, tuple[str, list[Any]]]
    calls: str
    theirs: int
    """Bytes of all storages of TVM's."""
    here: int
    bounds: tuple[tuple[str, int], ...] = ()


FLOATS = ("float32", [2, 3])
CASES = {
    "basic": Case(
        {**dict.fromkeys("abc", ("float32", [8])), "d": ("float32", [10])}, CHAIN, theirs=72, here=72
    ),
    "tir_var_upper_bound": Case(
        {**dict.fromkeys("abc", ("float32", [2, "n"])), "d": ("float32", ["m"])},
        CHAIN, theirs=72, here=72, bounds=(("m", 10), ("n", 4)),
    ),
    "different_dtype": Case({"a": FLOATS, "b": ("int32", [2, 3])}, "a = x; b = x; out = x", theirs=48, here=24),
    "dtype_bool": Case({"a": ("bool", [2, 3])}, "a = x; out = x", theirs=6, here=6),
    "same_dtype": Case({"a": FLOATS, "b": FLOATS}, "a = x; b = x; out = x", theirs=24, here=24),
    "nested_tuple": Case(
        dict.fromkeys("abcdef", FLOATS), "a = x; b = x; c = x; d = a; e = b; f = c; out = x", theirs=96, here=96
    ),
    "call_packed_external_func": Case({"a": FLOATS}, "a = x; out = a", theirs=24, here=24),
    "if_cond": Case({"a": ("bool", [1]), "b": FLOATS}, "a = x; a ? : b = x; out = x", theirs=25, here=24),
    "if_then_else": Case({"a": FLOATS}, "a = x; c ? out = a : out = a", theirs=24, here=24),
    "cross_block_use": Case(
        {"a": FLOATS, "b": FLOATS, "d": FLOATS}, "a = x; c ? b = a : d = a; out = x", theirs=72, here=48
    ),
    "zero_reference": Case({"a": FLOATS}, "out = x", theirs=24, here=24),
    "reshape_param": Case({}, "out = x", theirs=0, here=0),
}  # fmt: skip


def _statement(text: str) -> dict[str, Any]:
    """Return `written = read`, or a branch `condition ? one : other`, where an arm may be empty."""
    if " ?" in text:
        condition, arms = text.split(" ?")
        then, other = ([_statement(arm.strip())] if arm.strip() else [] for arm in arms.split(":"))
        return {"op": "if", "condition": condition, "then": then, "else": other}
    written, read = text.split(" = ")
    return {"op": "call", "fn": "compute", "args": [read, written], "reads": [read], "writes": [written]}


def program(case: Case) -> bytes:
    body = [_statement(text) for text in case.calls.split("; ")]
    for name, (dtype, extents) in case.buffers.items():
        body = [{"op": "alloc", "var": name, "dtype": dtype, "extents": extents, "body": body}]
    params: list[Any] = [{"name": name, "dtype": "float32", "extents": [8]} for name in ("x", "out")]
    if "c ?" in case.calls:
        params.append({"name": "c", "dtype": "bool", "extents": []})
    main = {"params": params, "body": body}
    return json.dumps({"main": "main", "functions": {"main": main}, "upper_bounds": dict(case.bounds)}).encode()


@pytest.mark.parametrize("name", CASES)
def test_never_more_than_tvm(name: str) -> None:
    case = CASES[name]
    assert plan_program(program(case)).summary.workspace.achieved == case.here <= case.theirs
