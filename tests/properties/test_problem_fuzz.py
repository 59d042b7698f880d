"""Problems and plans that nobody would write: only `ProblemError` escapes, with a place and a next step.

`USMP_FUZZ=2000` makes more of them.
"""

import json
import os
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.spoiled_json import replaced
from tests.support.tree import ROOT
from usmp_build.errors import ProblemError, Span
from usmp_build.planner.audit.audit import audit
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.problems.plan_file import read_plan
from usmp_build.planner.problems.read import read_problem

ROUNDS = int(os.environ.get("USMP_FUZZ", "300"))

GOOD = """\
id,lower,upper,size,alignment,pools,offset
a,0,2,100,16,tcm:0|sram:5,
a,6,8,,,,
b,1,3,2 KiB,,sram,256

pool,limit
tcm,64 KiB
sram,

below,above,separation
a,b,-4
"""
GOOD_JSON = {
    "version": 1,
    "pools": [{"name": "tcm", "limit": 64}, {"name": "sram"}],
    "buffers": [
        {"name": "a", "size": 8, "pools": ["tcm", "sram"], "costs": [0, 3], "intervals": [[0, 2], [4, 6]]},
        {"name": "b", "size": 8, "alignment": 4, "offset": 16, "intervals": [[1, 3]]},
    ],
    "conflicts": [["a", "b"]],
    "separations": [{"below": "a", "above": "b", "bytes": -4}],
}
WITNESS = {"bytes": 8, "step": 1, "buffers": ["a"]}
PLAN = {
    "status": "FEASIBLE",
    "pools": [
        {"name": "tcm", "limit": 64, "peak": 8, "bound": 8, "witness": WITNESS},
        {"name": "sram", "limit": None, "peak": 24, "bound": 8, "witness": WITNESS | {"buffers": ["b"]}},
    ],
    "buffers": [{"name": "a", "pool": "tcm", "offset": 0}, {"name": "b", "pool": "sram", "offset": 16}],
}
CASES = sorted(path for path in (ROOT / "tests" / "cases" / "problems").glob("*.*") if path.suffix != ".txt")
SEEDS = [
    GOOD.encode(),
    json.dumps(GOOD_JSON, indent=1).encode(),
    json.dumps(PLAN).encode(),
    *(path.read_bytes() for path in CASES),
]
BYTES = b", \n \r\n \" ' # | : - @ [ ] { } \t \0 \xff \xef\xbb\xbf \xe2\x80\xae 0 -1 1e9 NaN null true".split(b" ")
WORDS = b"""
id lower upper end size gaps pools pool limit offset below above separation tcm sram 3-5 a b 64KiB 0x10 1_0
name buffers intervals conflicts costs version witness step bytes status INFEASIBLE shortage proven claim
99999999999999999999
"""
PIECES = [*BYTES, *WORDS.split()]


def mutated(seed: int) -> bytes:
    """A file with a few changes."""
    draw = np.random.default_rng(seed)
    text = SEEDS[int(draw.integers(len(SEEDS)))]
    for _ in range(int(draw.integers(1, 6))):
        start, length = int(draw.integers(len(text) + 1)), int(draw.geometric(0.2))
        pieces = [
            b"",
            PIECES[int(draw.integers(len(PIECES)))],
            text[start : start + length] * int(draw.integers(2, 20)),
        ]
        text = text[:start] + pieces[int(draw.integers(3))] + text[start + length * int(draw.integers(2)) :]
    return text


@pytest.mark.parametrize("part", range(5))
def test_only_problem_errors_escape(part: int) -> None:
    for seed in range(part, ROUNDS, 5):
        read_both(mutated(seed))


@given(st.binary(max_size=200))
@settings(max_examples=ROUNDS, derandomize=True)
def test_any_bytes(text: bytes) -> None:
    read_both(text)


def read_both(text: bytes) -> None:
    """Take bytes for a problem, and for a plan of one."""
    for read in (read_problem, read_plan):
        try:
            read(text, "problem.csv")
        except ProblemError as error:
            assert_presentable(error, text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.sampled_from(["a", "b", "tcm", "sram", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "size", "bytes"]), inner),
    max_leaves=5,
)


@pytest.mark.long
@given(new=JSON, seed=st.integers(0, 10_000))
@settings(max_examples=ROUNDS)
def test_any_values_in_json(new: object, seed: int) -> None:
    draw = Random(seed)
    question = read_problem(json.dumps(GOOD_JSON).encode(), "problem.json")
    assert isinstance(question.problem, Problem)
    text = json.dumps(replaced(PLAN, draw, new)).encode()
    try:
        audit(question, read_plan(text, "plan.json"))
    except ProblemError as error:
        assert_presentable(error, text)
    read_both(json.dumps(replaced(GOOD_JSON, draw, new)).encode())


def assert_presentable(error: ProblemError, text: bytes) -> None:
    assert error.diagnostics
    lines = text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    for diagnostic in error.diagnostics:
        assert diagnostic.help
        assert diagnostic.code.startswith("Q1")
        assert "\n" not in diagnostic.message + diagnostic.help
        place = diagnostic.place
        assert isinstance(place, Span)
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1
        assert place.length >= 1
        assert len(str(diagnostic)) < 3000
        assert str(diagnostic).count("\n") <= 3
