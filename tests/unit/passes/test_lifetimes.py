"""Lifetimes on small programs, and against an interpreter on random ones."""

import random
from dataclasses import replace

import pytest

from tests.support.road import alive, analyze, analyze_as, model, request
from tests.support.small_models import CHAIN, IF, WHILE
from usmp_build.ir.graph import DType, OperatorRef, TensorRef
from usmp_build.ir.lifetimes import Survivors
from usmp_build.ir.schedule import Branch, Call, Loop, Node, Repeat, Schedule, Scope, Sequence, Step, steps
from usmp_build.ir.storage import Kind, Storage, StorageBuffer
from usmp_build.passes import lifetimes
from usmp_build.request import Inputs, Outputs


def test_a_chain_keeps_two_buffers_at_a_time() -> None:
    assert alive(analyze(model(CHAIN))) == {"m.x": [(0, 2)], "m.a": [(1, 3)], "m.b": [(2, 4)], "m.y": [(3, 5)]}


def test_inputs_live_from_the_start_and_outputs_to_the_end() -> None:
    """USMP put both inputs of such a model at one address."""
    two = model("""
        %0 "x" int8[8]
        %1 "y" int8[8]
        %2 "u" int8[8]
        %3 "v" int8[8]
        inputs %0, %1
        outputs %2, %3
        %2 = TANH(%0)
        %3 = TANH(%1)
    """)
    intervals = alive(analyze(two))
    assert intervals == {"m.x": [(0, 2)], "m.y": [(0, 3)], "m.u": [(1, 4)], "m.v": [(2, 4)]}


def test_models_that_never_run_together_follow_one_another() -> None:
    intervals = alive(analyze(model(CHAIN, "a"), model(CHAIN, "b")))
    assert intervals["a.y"] == [(3, 5)]
    assert intervals["b.x"] == [(5, 7)]


def test_variables_live_for_ever() -> None:
    stateful = model("""
        %0 "x" int8[8]
        %1 "state" int8[8] variable
        %2 "y" int8[8]
        inputs %0
        outputs %2
        %2 = SVDF(%0, %1)
    """)
    assert alive(analyze(stateful, model(CHAIN, "n")))["m.state"] == [(0, 8)]


def test_the_arms_of_a_branch_do_not_meet() -> None:
    analysis = analyze(model(IF))
    names = [buffer.name for buffer in analysis.storage.buffers]
    conflicts = {(names[i], names[j]) for i, others in enumerate(analysis.problem.conflicts) for j in others}
    assert ("m.kept", "m.h") in conflicts  # alive around the branch
    assert not any({a, b} == {"m.x_2", "m.x_3"} for a, b in conflicts)  # the arms' inputs
    # `y` is written by the last operator of either arm, and alive nowhere else in the other one
    assert alive(analysis)["m.y"] == [(4, 6), (8, 11)]


def test_what_a_loop_carries_lives_throughout_and_the_rest_does_not() -> None:
    intervals = alive(analyze(model(WHILE)))
    # 0 enter, 1 WHILE; test: 2 copy in, 3 GREATER, 4 copy out, 5 test; body: 6 copy in, 7-9, 10 copy out
    assert intervals["m.y"] == [(1, 12)]  # test and body read it where it is
    assert intervals["m.h"] == [(7, 9)]
    assert intervals["m.go"] == [(3, 6)]
    assert intervals["m.z"] == [(11, 13)]


def test_deeply_nested_loops_take_linear_work() -> None:
    body: Node = Step("leaf", 0, (TensorRef(0, 0, 0),), (TensorRef(0, 0, 1),))
    for _ in range(60):
        body = Loop(Step("test", 0, (TensorRef(0, 0, 1),)), body)
    program = Sequence((Step("first", 0, (), (TensorRef(0, 0, 0),)), body))
    count = sum(1 for _ in steps(program))
    lives = lifetimes(Schedule((program,), (0, count)), _storage(2), KEEPS_NOTHING)
    assert lives.intervals[0] == ((0, count),)


@pytest.mark.parametrize("seed", range(150))
def test_lifetimes_agree_with_an_interpreter(seed: int) -> None:
    """Run a random program in which every buffer that is not alive is lost; every value that is read must survive."""
    draw = random.Random(seed)
    program = Sequence((_random_node(draw, 3),))
    count = sum(1 for _ in steps(program))
    lives = lifetimes(Schedule((program,), (0, count)), _storage(_BUFFERS), KEEPS_NOTHING)
    alive_at = [
        {i for i, runs in enumerate(lives.intervals) if any(r.start <= t < r.stop for r in runs)} for t in range(count)
    ]
    for _ in range(30):
        _run(program, 0, alive_at, {}, draw)


_BUFFERS = 6
KEEPS_NOTHING = Survivors(frozenset(), (frozenset(),), (frozenset(),))


def _storage(count: int) -> Storage:
    buffers = tuple(StorageBuffer(f"b{i}", Kind.INTERMEDIATE, (0,), 1, 1, DType.INT8, (0,), "") for i in range(count))
    refs = {TensorRef(0, 0, i): i for i in range(count)}
    none: dict[OperatorRef, tuple[int, ...]] = {}
    return Storage(buffers, refs, none, none, {}, {})


def _random_node(draw: random.Random, depth: int) -> Node:
    kind = draw.choice(["step"] * 2 + ["sequence", "branch", "loop", "call"] * (depth > 0))
    if kind == "step":
        some = [TensorRef(0, 0, draw.randrange(_BUFFERS)) for _ in range(3)]
        return Step("s", 0, tuple(some[: draw.randrange(3)]), (some[2],))
    children = tuple(_random_node(draw, depth - 1) for _ in range(draw.randint(1, 4)))
    if kind == "branch":
        return Branch(children)
    if kind == "loop":
        return Loop(children[0], Sequence(children[1:]))
    return Call("f", Sequence(children)) if kind == "call" else Sequence(children)


def _run(node: Node, at: int, alive_at: list[set[int]], memory: dict[int, bool], draw: random.Random) -> int:
    """Run `node`, whose first leaf is step `at`; `memory[b]` tells that b holds what was written last."""
    match node:
        case Step():
            _run_step(node, at, alive_at[at], memory)
            return at + 1
        case Sequence(body):
            for child in body:
                at = _run(child, at, alive_at, memory, draw)
            return at
        case Branch(arms):
            chosen = draw.randrange(len(arms))
            for index, arm in enumerate(arms):
                if index == chosen:
                    _run(arm, at, alive_at, memory, draw)
                at += sum(1 for _ in steps(arm))
            return at
        case Call(_, body):
            return _run(body, at, alive_at, memory, draw)
        case Loop(test, body):
            after_test = _run(test, at, alive_at, memory, draw)
            while draw.random() < 0.6:
                _run(body, after_test, alive_at, memory, draw)
                _run(test, at, alive_at, memory, draw)
            return after_test + sum(1 for _ in steps(body))


def _run_step(step: Step, at: int, alive: set[int], memory: dict[int, bool]) -> None:
    for buffer in memory:
        memory[buffer] &= buffer in alive
    for ref in step.reads:
        assert ref.tensor in alive
        assert memory.get(ref.tensor, True), f"step {at} reads b{ref.tensor}, which was lost"
    for ref in step.writes:
        assert ref.tensor in alive
        memory[ref.tensor] = True


def _alive(*body: Node) -> list[list[tuple[int, int]]]:
    program = Sequence(body)
    count = sum(1 for _ in steps(program))
    lives = lifetimes(Schedule((program,), (0, count)), _storage(3), KEEPS_NOTHING)
    return [[(run.start, run.stop) for run in runs] for runs in lives.intervals]


def _step(reads: tuple[int, ...], *writes: int) -> Step:
    return Step("s", 0, tuple(TensorRef(0, 0, i) for i in reads), tuple(TensorRef(0, 0, i) for i in writes))


@pytest.mark.parametrize("rounds", [None, 0, 3])
def test_what_rounds_need_of_earlier_ones_lives_throughout(rounds: int | None) -> None:
    """b0 is written before, and read in the second step of each round; b1 goes from round to round; b2 within one."""
    body = Sequence((_step((1,), 2), _step((0, 2), 1)))
    intervals = _alive(_step((), 0, 1), Repeat(body, rounds), _step((1,)))
    assert intervals == [[(0, 3)], [(0, 4)], [(1, 3)]]


def test_parallel_rounds_keep_all_that_they_touch() -> None:
    body = Sequence((_step((0,), 1), _step((1,), 2), _step((2,))))
    alone = [[(0, 4)], [(1, 3)], [(2, 4)]]
    assert _alive(_step((), 0), Repeat(body, 4)) == alone
    assert _alive(_step((), 0), Repeat(body, 4, parallel=True)) == [[(0, 4)], [(1, 4)], [(1, 4)]]
    assert _alive(_step((), 0), Repeat(body, 4, parallel=True), _step(()))[2] == [(1, 4)]


def test_what_begins_undefined_in_a_scope_is_not_kept_for_it() -> None:
    """b1 lives in each round by itself, as its scope says, though it may be read before it is written there."""
    round_ = Sequence((_step(()), _step((), 1), _step((1,)), _step(())))
    assert _alive(_step((), 0), Repeat(Scope((TensorRef(0, 0, 1),), round_), 2), _step((0,)))[1] == [(2, 4)]
    unclear = Sequence((_step(()), Branch((_step((), 1), _step(()))), _step((1,)), _step(())))
    assert _alive(_step((), 1), Repeat(unclear, 2), _step((0,)))[1] == [(0, 6)]
    assert _alive(_step((), 0), Repeat(Scope((TensorRef(0, 0, 1),), unclear), 2), _step((0,)))[1] == [(2, 3), (4, 5)]
    assert _alive(_step((), 0), Repeat(Scope((TensorRef(0, 0, 1),), unclear), 2), _step((0,)))[0] == [(0, 7)]


def test_rounds_and_scopes_keep_nothing_else() -> None:
    """b0 is not touched, and b2 may be read before it is written: behind the scope it holds nothing until then."""
    assert _alive(Repeat(Sequence((_step((), 1), _step((1,)))), 2)) == [[], [(0, 2)], []]
    scope = Scope((TensorRef(0, 0, 1),), Sequence((_step((), 1), _step((1,)))))
    assert _alive(scope, Branch((_step((), 2), _step(()))), _step((2,))) == [[], [(0, 2)], [(2, 3), (4, 5)]]


def test_what_holds_data_for_ever_does_so_in_a_schedule_without_steps() -> None:
    survivors = replace(KEEPS_NOTHING, always=frozenset({1}))
    lives = lifetimes(Schedule((Sequence(()),), (0, 0)), _storage(2), survivors)
    assert [[(run.start, run.stop) for run in runs] for runs in lives.intervals] == [[], [(0, 1)]]


def test_what_is_kept_between_runs_is_kept_in_every_program() -> None:
    """a keeps its inputs to the end of its run, b keeps its output, and c its input for ever."""
    asked = request("a", "b", "c")
    words = ((Inputs.PRESERVED, Outputs.RUN), (Inputs.CONSUMED, Outputs.RESERVED), (Inputs.RESERVED, Outputs.RUN))
    models = (replace(m, inputs=i, outputs=o) for m, (i, o) in zip(asked.models, words, strict=True))
    intervals = alive(analyze_as(replace(asked, models=tuple(models)), *(model(CHAIN, name) for name in "abc")))
    assert intervals["a.x"] == [(0, 5)]
    assert intervals["b.x"] == [(5, 7)]
    assert intervals["b.y"] == [(0, 6), (8, 15)]
    assert intervals["c.x"] == [(0, 15)]
    assert intervals["c.y"] == [(13, 15)]
