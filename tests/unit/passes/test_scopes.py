"""Who may live where: demands of targets, rules, places and kernels; copies, and who makes them."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from tests.support.road import PlanOnly, analyze_as, every, firmware, model
from tests.support.scopes import APART, CHAIN, EVERYWHERE, NPU, operators, places
from usmp_build import passes
from usmp_build.errors import ManifestError
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    NoKernel,
    Output,
    Scratch,
    ScratchRequest,
    Strike,
    Whole,
)
from usmp_build.ir.graph import DType, Model, OperatorRef, Subgraph, Tensor, TensorRef
from usmp_build.ir.statements import Access
from usmp_build.passes.assign import Assignment
from usmp_build.request import Copying, InputOutput, OperandRule, PlaceRequest
from usmp_build.textual.text import write


def test_without_restrictions_nothing_changes() -> None:
    before = model(CHAIN)
    analysis = analyze_as(firmware({"ram": "cpu npu", "sram": "cpu npu", "flash": "cpu npu"}), before)
    assert analysis.models[0] == before
    assert set(places(analysis).values()) == {"rs"}
    assert not analysis.scopes.reasons
    assert set(analysis.scopes.targets.values()) == {0}


def test_a_target_draws_its_operands_to_where_it_reaches() -> None:
    """All of them meet in ram: no copy."""
    analysis = analyze_as(firmware({"tcm": "cpu", **EVERYWHERE}, places=(NPU,)), model(CHAIN))
    assert places(analysis) == {"x": "tr", "a": "r", "b": "r", "c": "tr", "y": "tr"}
    assert analysis.scopes.targets[OperatorRef(0, 0, 1)] == 1
    assert analysis.scopes.reasons[TensorRef(0, 0, 1)] == "TANH 0 on cpu writes it and CONV_2D 1 on npu reads it"


def test_copies_stand_before_their_first_reader_and_are_shared() -> None:
    """Both ADD and MUL read the copy of a tensor in local memory."""
    asked = firmware(APART, places=(NPU, PlaceRequest(operators="TANH", target=1)), copies=Copying.EXTERN)
    analysis = analyze_as(asked, model(CHAIN))
    assert operators(analysis) == [
        "%5 = COPY(%0) @4",
        "%1 = TANH(%5) @0",
        "%2 = CONV_2D(%1) @1",
        "%6 = COPY(%1) @5",
        "%7 = COPY(%2) @6",
        "%3 = ADD(%6, %7) @2",
        "%4 = MUL(%3, %6) @3",
    ]
    assert [tensor.name for tensor in analysis.models[0].main.tensors[5:]] == ["x.in_local", "a.in_ram", "b.in_ram"]
    assert analysis.scopes.reasons[TensorRef(0, 0, 6)] == "copy of a for ADD 2 on cpu and MUL 3 on cpu"
    reasons = {buffer.name: buffer.reason for buffer in analysis.storage.buffers}
    assert reasons["m.a.in_ram"] == "copy of a for ADD 2 on cpu and MUL 3 on cpu"


MOVE = Kernel((KernelCall("move", Whole(), (Input(0), Output(0))),))


def test_the_application_copies_where_a_target_asks_for_that() -> None:
    """The target's own library "extern" says how."""
    asked = firmware(APART, places=(NPU,), copies=Copying.EXTERN)
    analysis = analyze_as(asked, model(CHAIN), library=PlanOnly({"COPY": MOVE}))
    assert analysis.kernels[OperatorRef(0, 0, 1)] == replace(MOVE, library="extern")
    assert analysis.scopes.targets[OperatorRef(0, 0, 1)] == 1


def test_else_target_0_copies_and_must_reach_both_sides() -> None:
    """What is copied from cannot be in local: there, cpu could not read it."""
    reach = {"ram": "cpu", "window": "cpu npu", "local": "npu", "flash": "cpu"}
    pin = PlaceRequest(operators="ADD", operands=("input 1",), pools=(0,))
    analysis = analyze_as(firmware(reach, places=(NPU, pin)), model(CHAIN), library=PlanOnly({"COPY": MOVE}))
    assert operators(analysis)[2:4] == ["%5 = COPY(%2) @4", "%3 = ADD(%1, %5) @2"]
    assert places(analysis)["b"] == "w"
    assert analysis.kernels[OperatorRef(0, 0, 2)] == replace(MOVE, library="reference")
    with pytest.raises(ManifestError, match=r'(?s)error\[P315\]: .*"cpu" would have to copy.*copies = "extern"'):
        analyze_as(firmware(APART, places=(NPU,)), model(CHAIN))


def test_an_output_keeps_its_number_when_it_is_copied() -> None:
    text = """
        %0 "x" int8[4]
        %1 "y" int8[4]
        %2 "z" int8[4]
        inputs %0
        outputs %1, %2
        %1 = CONV_2D(%0)
        %2 = TANH(%1)
    """
    for io, pools in ((InputOutput.POOL, "r"), (InputOutput.APPLICATION, "")):
        asked = firmware(APART, places=(NPU,), copies=Copying.EXTERN, io=io)
        analysis = analyze_as(asked, model(text))
        assert operators(analysis) == [
            "%3 = COPY(%0) @2",
            "%4 = CONV_2D(%3) @0",
            "%1 = COPY(%4) @3",
            "%2 = TANH(%1) @1",
        ]
        assert places(analysis) == {"x": pools, "y": pools, "z": pools, "x.in_local": "l", "y.in_local": "l"}


def test_a_view_lives_with_its_source_and_is_copied_by_itself() -> None:
    text = """
        %0 "x" int8[4]
        %1 "a" int8[4]
        %2 "b" int8[2,2]
        %3 "y" int8[2,2]
        inputs %0
        outputs %3
        %1 = CONV_2D(%0)
        %2 = RESHAPE(%1)
        %3 = TANH(%2)
    """
    analysis = analyze_as(firmware(APART, places=(NPU,), copies=Copying.EXTERN), model(text))
    assert operators(analysis)[2:] == ["%2 = VIEW(%1) @1", "%5 = COPY(%2) @4", "%3 = TANH(%5) @2"]
    assert places(analysis)["b"] == "l"
    assert analysis.scopes.reasons[TensorRef(0, 0, 2)] == "has the bytes of a"
    apart = (NPU, PlaceRequest(tensors="b", pools=(0,)))
    analysis = analyze_as(firmware(APART, places=apart, copies=Copying.EXTERN), model(text))
    assert operators(analysis)[2:] == ["%4 = VIEW(%1) @1", "%2 = COPY(%4) @3", "%3 = TANH(%2) @2"]
    assert places(analysis)["b"] == "r"


VIEWED = """
    %0 "x" int8[4]
    %1 "a" int8[4]
    %2 "b" int8[2,2]
    %3 "y" int8[4]
    %4 "z" int8[2,2]
    inputs %0
    outputs %3, %4
    %1 = ABS(%0)
    %2 = RESHAPE(%1)
    %3 = TANH(%1)
    %4 = RELU(%2)
"""
"""A tensor and a view of it, each with a reader."""


def pinned(positions: int, operands: str, pools: Iterable[int]) -> PlaceRequest:
    """A rule for the operands of one operator."""
    return PlaceRequest(positions=(positions, positions), operands=(operands,), pools=tuple(pools))


def test_a_tensor_and_its_view_are_copied_once() -> None:
    rules = (pinned(0, "outputs", [0]), pinned(2, "inputs", [1]), pinned(3, "inputs", [1]))
    asked = firmware({"here": "cpu", "there": "cpu", "flash": "cpu"}, places=rules)
    analysis = analyze_as(asked, model(VIEWED))
    assert operators(analysis) == [
        "%1 = ABS(%0) @0",
        "%2 = VIEW(%1) @1",
        "%5 = COPY(%1) @4",
        "%6 = VIEW(%5) @5",
        "%3 = TANH(%5) @2",
        "%4 = RELU(%6) @3",
    ]
    assert places(analysis) == {
        "x": "ht", "a": "h", "b": "h", "y": "ht", "z": "ht", "a.in_there": "t", "b.in_there": "t"
    }  # fmt: skip
    assert analysis.storage.tensors[TensorRef(0, 0, 5)] == analysis.storage.tensors[TensorRef(0, 0, 6)]


def test_an_output_that_is_a_view_is_the_copy() -> None:
    """The npu computes `a`; the cpu reads it, and the application its view, which keeps its number."""
    text = """
        %0 "x" int8[4]
        %1 "a" int8[4]
        %2 "b" int8[2,2]
        %3 "y" int8[4]
        inputs %0
        outputs %2, %3
        %1 = CONV_2D(%0)
        %2 = RESHAPE(%1)
        %3 = TANH(%1)
    """
    analysis = analyze_as(firmware(APART, places=(NPU,), copies=Copying.EXTERN), model(text))
    assert operators(analysis)[1:] == [
        "%1 = CONV_2D(%4) @0",
        "%5 = VIEW(%1) @1",
        "%2 = COPY(%5) @4",
        "%6 = VIEW(%2) @5",
        "%3 = TANH(%6) @2",
    ]
    assert analysis.models[0].main.outputs == (2, 3)
    assert {name: pools for name, pools in places(analysis).items() if name != "x"} == {
        "a": "l", "b": "r", "y": "r", "x.in_local": "l", "b.in_local": "l", "a.in_ram": "r",
    }  # fmt: skip
    tensors = analysis.models[0].main.tensors
    assert [tensors[index].shape for index in (1, 2, 5, 6)] == [(4,), (2, 2), (2, 2), (4,)]


@pytest.mark.parametrize("seed", range(150))
def test_bytes_are_copied_as_seldom_as_possible(seed: int) -> None:
    """A tensor, views of it, and readers of any of them in random pools: compared with every choice of pools."""
    chance = Random(seed)
    pools = range(chance.randint(2, 4))
    views, readers = chance.randint(0, 3), chance.randint(1, 5)
    written, *read = ([*sorted(chance.sample(pools, chance.randint(1, len(pools))))] for _ in range(1 + readers))
    sources = [chance.randint(1, 1 + view) for view in range(views)]
    uses = [chance.randint(1, 1 + views) for _ in read]
    tensors = [f'%{i} "t{i}" int8[4]' for i in range(2 + views + readers)]
    lines = ["%1 = ABS(%0)", *(f"%{2 + view} = RESHAPE(%{source})" for view, source in enumerate(sources))]
    results = range(2 + views, 2 + views + readers)
    lines += [f"%{result} = TANH(%{use})" for result, use in zip(results, uses, strict=True)]
    text = "\n".join([*tensors, "inputs %0", f"outputs {', '.join(f'%{result}' for result in results)}", *lines])
    rules = [pinned(0, "outputs", written), *(pinned(1 + views + i, "inputs", each) for i, each in enumerate(read))]
    asked = firmware({f"p{pool}": "cpu" for pool in pools} | {"flash": "cpu"}, places=tuple(rules))
    copies = sum("COPY" in line for line in operators(analyze_as(asked, model(text))))
    assert copies == min(len({*chosen} - {home}) for home in written for chosen in product(*read))


WEIGHTS = """
    %0 "x" int8[4]
    %1 "w" int8[4] = [1, 2, 3, 4]
    %2 "y" int8[4]
    inputs %0
    outputs %2
    %2 = CONV_2D(%0, %1)
"""


def test_a_constant_that_a_target_cannot_read_is_copied_to_a_workspace_pool() -> None:
    reach = {"ram": "cpu npu", "flash": "cpu", "rom": "cpu"}
    analysis = analyze_as(firmware(reach, places=(NPU,)), model(WEIGHTS))
    assert operators(analysis) == ["%3 = COPY(%1) @1", "%2 = CONV_2D(%0, %3) @0"]
    assert places(analysis) == {"x": "r", "w": "fr", "y": "r", "w.in_ram": "r"}
    readable = analyze_as(firmware(reach | {"rom": "npu"}, places=(NPU,)), model(WEIGHTS))
    assert places(readable) == {"x": "r", "w": "r", "y": "r"}  # r of rom


KERNEL = Kernel(
    calls=(KernelCall("f", Whole(), (Input(0), Derived(0), Scratch(0), Output(0))),),
    constants=(Constant("table", DType.INT32, bytes(12)),),
    scratch=(ScratchRequest("sums", 16, DType.INT32),),
    strikes=(Strike(Scratch(0), frozenset({"ram", "unheard"})), Strike(Input(0), frozenset({"local"}))),
)


def test_a_kernel_strikes_pools_and_its_buffers_follow_its_target() -> None:
    reach = {"ram": "cpu npu", "local": "npu", "flash": "cpu", "rom": "cpu npu"}
    asked = firmware(reach, places=(NPU,))
    analysis = analyze_as(asked, model(WEIGHTS), library=PlanOnly({"CONV_2D": KERNEL}))
    assert analysis.scopes.scratch == {OperatorRef(0, 0, 0): (1,)}
    assert analysis.scopes.derived == {OperatorRef(0, 0, 0): (3,)}
    pools = {buffer.name: buffer.pools for buffer in analysis.storage.buffers}
    assert pools == {"m.x": (0,), "m.y": (0,), "m.y.sums": (1,), "m.y.table": (3,)}
    rule = (OperandRule("CONV_2D", (), (0,)),)
    with pytest.raises(
        ManifestError, match=r'P313\]: the scratch of operator 0 \(CONV_2D\) on target "npu" has no pool'
    ):
        analyze_as(firmware(reach, places=(NPU,), rules=rule), model(WEIGHTS), library=PlanOnly({"CONV_2D": KERNEL}))


BRANCHES = """
    subgraph 0 "main"
      %0 "c" bool[]
      %1 "x" int8[4]
      %2 "a" int8[4]
      %3 "y" int8[4]
      inputs %0, %1
      outputs %3
      %2 = CONV_2D(%1)
      %3 = IF(%0, %2) then_subgraph=1 else_subgraph=2

    subgraph 1 "then"
      %0 "t" int8[4]
      %1 "u" int8[4]
      inputs %0
      outputs %1
      %1 = CONV_2D(%0)

    subgraph 2 "else"
      %0 "e" int8[4]
      %1 "f" int8[4]
      inputs %0
      outputs %1
      %1 = TANH(%0)
"""


def test_what_subgraphs_take_and_give_is_where_target_0_can_copy_it() -> None:
    analysis = analyze_as(firmware(APART, places=(NPU,), copies=Copying.EXTERN), model(BRANCHES))
    text = [line.strip() for line in write(analysis.models[0]).splitlines() if "COPY" in line or "IF" in line]
    assert text == [
        "%4 = COPY(%1) @2",
        "%5 = COPY(%2) @3",
        "%3 = IF(%0, %5) then_subgraph=1 else_subgraph=2 @1",
        "%2 = COPY(%0) @1",
        "%1 = COPY(%3) @2",
    ]


def test_a_variable_is_where_all_who_keep_it_reach() -> None:
    text = """
        %0 "x" int8[4]
        %1 "state" int8[4] variable
        %2 "y" int8[4]
        %3 "z" int8[4]
        inputs %0
        outputs %2, %3
        %2 = SVDF(%0, %1)
        %3 = ADD(%0, %1)
    """
    svdf = PlaceRequest(operators="SVDF", target=1)
    analysis = analyze_as(firmware({"tcm": "cpu", "ram": "cpu npu"}, places=(svdf,)), model(text))
    assert places(analysis)["state"] == "r"
    with pytest.raises(
        ManifestError, match=r'P313.*input 1 of operator 0 \(SVDF\) on target "npu".*"state".*resets it'
    ):
        analyze_as(firmware(APART, places=(svdf,), copies=Copying.EXTERN), model(text))


def test_the_result_asks_for_no_more_copies() -> None:
    asked = firmware(APART, places=(NPU,), copies=Copying.EXTERN)
    once = analyze_as(asked, model(CHAIN))
    assert analyze_as(asked, model(CHAIN)).models == once.models
    assert analyze_as(asked, *once.models).models == once.models


@pytest.mark.long
def test_five_thousand_operators_in_a_chain() -> None:
    """The operators take turns on both targets: two copies of the size of a tensor at each border."""
    count = 5000
    lines = [f'%{i} "t{i}" int8[4]' for i in range(count + 1)]
    lines += ["inputs %0", f"outputs %{count}"]
    lines += [f"%{i + 1} = {'CONV_2D' if i % 2 else 'TANH'}(%{i})" for i in range(count)]
    analysis = analyze_as(firmware(APART, places=(NPU,), copies=Copying.EXTERN), model("\n".join(lines)))
    assert sum(op.kind == "COPY" for op in analysis.models[0].main.operators) == count


def test_a_copy_without_a_kernel_can_be_planned() -> None:
    reach = {"ram": "cpu", "window": "cpu npu", "flash": "cpu"}
    pin = PlaceRequest(tensors="a", pools=(0,))
    analysis = analyze_as(firmware(reach, places=(NPU, pin)), model(CHAIN))
    assert isinstance(analysis.kernels[OperatorRef(0, 0, 1)], NoKernel)


def test_a_function_of_a_program_stays_where_target_0_reaches() -> None:
    function = Subgraph("f", (Tensor("p", (4,), DType.INT8),), (), (), (), body=(Access((), (0,)),))
    asked = firmware({"local": "npu", "ram": "cpu npu"})
    scoped = passes.scopes(asked, (Model("m", (function,)),), Assignment(), {}, every(asked, PlanOnly()))
    assert scoped.scopes.pools == {TensorRef(0, 0, 0): (1,)}
