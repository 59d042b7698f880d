"""What steps allow: operands in one buffer, scratch, parts, statements; and buffers that nothing overlaps."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.road import PlanOnly, analyze, every, model, request
from usmp_build.interfaces.accesses import Accesses, Part, Touch
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Scratch, ScratchRequest, Whole
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import DType, OperatorRef
from usmp_build.ir.schedule import Direction, steps
from usmp_build.passes.separations import AllowedDistances, separations_at
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.request import InputOutput
from usmp_build.search.replanner import Replanner


def pairs(analysis: Analysis) -> dict[tuple[str, str], int]:
    """(below, above) → bytes."""
    names = [buffer.name.removeprefix("m.") for buffer in analysis.storage.buffers]
    return {(names[a], names[b]): bytes_ for (a, b), bytes_ in analysis.problem.separations.items()}


def kernel(*operands: Input | Output | Scratch, parts: tuple[tuple[int, ...], ...], **more: Any) -> Kernel:
    """A kernel whose parts touch all eight bytes of operands, one part after another."""
    touches = [tuple(Touch(n, 8, writes=not isinstance(operands[n], Input)) for n in part) for part in parts]
    accesses = Accesses(tuple(Part((), part) for part in touches), (1,) * len(operands))
    return Kernel((KernelCall("f", Whole(), operands, accesses=accesses),), **more)


ADD = """
    %0 "x" int8[8]
    %1 "z" int8[8]
    %2 "y" int8[8]
    inputs %0, %1
    outputs %2
    %2 = ADD(%0, %1)
"""
ANYWHERE = dict.fromkeys((("x", "y"), ("y", "x"), ("z", "y"), ("y", "z")), -8)
ONLY_X = dict.fromkeys((("x", "y"), ("y", "x")), -8)
OPERANDS = Input(0), Input(1), Output(0)


def added(declared: Kernel, text: str = ADD) -> dict[tuple[str, str], int]:
    return pairs(analyze(model(text), library=PlanOnly({"ADD": declared})))


def test_an_operand_without_a_declaration_keeps_its_buffer_apart() -> None:
    """Also where the other operand that is in this buffer has one."""
    both, first = kernel(*OPERANDS, parts=((0, 1), (2,))), kernel(*OPERANDS, parts=((0,), (2,)))
    assert added(both) == ANYWHERE
    assert added(first) == ONLY_X
    twice = ADD.replace("ADD(%0, %1)", "ADD(%0, %0)")
    assert added(both, twice) == ONLY_X
    assert not added(first, twice)


def test_scratch_lies_over_what_is_read_before_it_and_results_over_all() -> None:
    """But not over what is read while it is in use."""
    scratch = (ScratchRequest("sums", 8, DType.INT8),)
    declared = kernel(Input(0), Input(1), Scratch(0), Output(0), parts=((0,), (2,), (1,), (2,), (3,)), scratch=scratch)
    sums = {pair: -8 for other in "xy" for pair in ((other, "y.sums"), ("y.sums", other))}
    assert added(declared) == {**ANYWHERE, **sums}


def test_either_direction_where_one_of_them_needs_nothing() -> None:
    """Forward, all is read before it is written; backward the other way around."""
    declared = kernel(*OPERANDS, parts=((0, 1), (2,)), backward=kernel(*OPERANDS, parts=((2,), (0, 1))))
    replanner = Replanner(request("m"), (model(ADD),), every(request("m"), PlanOnly({"ADD": declared})), Auto())
    directed = {
        direction: pairs(replanner.retime(replanner.analyze(), Choices({}, {OperatorRef(0, 0, 0): direction})))
        for direction in Direction
    }
    assert directed == {Direction.FORWARD: ANYWHERE, Direction.BACKWARD: {}, Direction.EITHER: ANYWHERE}


JOIN = """
    %0 "x" float32[1,10]
    %1 "z" float32[1,10]
    %2 "b" float32[1,10]
    %3 "a" float32[1,10]
    %4 "y" float32[2,10]
    inputs %0, %1
    outputs %4
    %2 = TANH(%1) @0
    %3 = TANH(%0) @1
    %4 = CONCATENATION(%3, %2) axis=0 @2
"""
CUT = """
    %0 "x" float32[2,10]
    %1 "axis" int32[1] = [0]
    %2 "a" float32[1,10]
    %3 "b" float32[1,10]
    %4 "p" float32[1,10]
    %5 "q" float32[1,10]
    inputs %0
    outputs %4, %5
    %2, %3 = SPLIT(%1, %0) @0
    %4 = TANH(%2) @1
    %5 = TANH(%3) @2
"""


@pytest.mark.parametrize(
    ("text", "expected"), [(JOIN, {("y", "z"): 40, ("z", "y"): 0}), (CUT, {("q", "x"): -40})], ids=["join", "cut"]
)
def test_parts_are_where_they_are_in_their_buffer(text: str, expected: dict[tuple[str, str], int]) -> None:
    """The second half of "y" is written over "z", and "q" over the second half of "x"."""
    assert pairs(Replanner.of(request("m"), (model(text),)).analyze()) == expected


STATEMENTS = """
subgraph 0 "main"
  %0 "x" int8[4]
  %1 "y" int8[4]
  %2 "narrow" int8[4]
  %3 "wide" int32[4]
  parameters 2
  inputs %0
  outputs %1
  allocate %2 {
    allocate %3 {
      store %2 = %0
      store %3 = %2 elementwise %2
      store %1 += %3
      store %2 = %0
      store %1 += %2
      store %3 = %0
      store %1 += %3
    }
  }
"""


def test_a_statement_reads_element_by_element() -> None:
    """The last of four elements grows by three bytes, as do those before it; both tensors hold data again later."""
    assert pairs(analyze(model(STATEMENTS))) == {("wide", "narrow"): 9}
    result = STATEMENTS.replace("store %1 += %3", "store %1 = %2 elementwise %2", 1)
    assert not pairs(analyze(model(result), io=InputOutput.APPLICATION))


def test_without_a_separation_the_distance_is_the_size_of_what_is_below() -> None:
    """Eight bytes of "y" are written before "x" and "z" are read."""
    wider = model(ADD.replace('"y" int8[8]', '"y" int8[24]'))
    analysis = analyze(wider, library=PlanOnly({"ADD": kernel(*OPERANDS, parts=((2,), (0, 1)))}))
    (step,) = [step for step in steps(analysis.schedule.root) if step.operator]
    assert dict(separations_at(analysis.allowed, step)) == {(2, 0): (8, 8), (2, 1): (8, 8)}


def test_what_nothing_else_may_overlap() -> None:
    asked, analysis = request("m"), analyze(model(ADD))

    def may_overlap(pages: int = 0, always: frozenset[int] = frozenset(), **changes: Any) -> bool:
        first, *others = analysis.storage.buffers
        storage = replace(analysis.storage, buffers=(replace(first, **changes), *others))
        pools = (replace(asked.pools[0], page=pages), *asked.pools[1:])
        survivors = replace(analysis.survivors, always=always)
        asked_so = replace(asked, pools=pools)
        allowed = AllowedDistances(asked_so, analysis.models, analysis.kernels, storage, survivors)
        assert allowed.may_overlap(0, 1) == allowed.may_overlap(1, 0)
        return allowed.may_overlap(0, 1)

    assert may_overlap()
    assert not may_overlap(pages=64)
    assert not may_overlap(always=frozenset({0}))
    assert not may_overlap(cache_line=32)
    assert not may_overlap(copies=2)
