"""Exact rewrites: what becomes a view, what is computed now, and what must stay."""

from dataclasses import replace
from importlib import import_module

import pytest

from tests.support.road import model
from usmp_build.ir.graph import Model
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.invariants import Broken
from usmp_build.passes.rewrite.pins import Pins
from usmp_build.request import REWRITES
from usmp_build.textual.text import write

steps = import_module("usmp_build.passes.rewrite")
"""The module; `passes.rewrite` is its function."""


def kinds(text: str) -> list[str]:
    return [op.kind for op in rewrite(model(text)).model.main.operators]


def test_a_reshape_between_operators_is_a_view() -> None:
    assert kinds("""
        %0 "x" int8[4,4]
        %1 "a" int8[4,4]
        %2 "shape" int32[1] = [16]
        %3 "b" int8[16]
        %4 "y" int8[16]
        inputs %0
        outputs %4
        %1 = TANH(%0)
        %3 = RESHAPE(%1, %2)
        %4 = TANH(%3)
    """) == ["TANH", "VIEW", "TANH"]


def test_squeeze_and_expand_dims_are_views_too_also_of_an_input_and_to_an_output() -> None:
    assert kinds("""
        %0 "x" int8[1,4]
        %1 "a" int8[4]
        %2 "b" int8[4]
        %3 "axis" int32[1] = [0]
        %4 "y" int8[1,4]
        inputs %0
        outputs %4
        %1 = SQUEEZE(%0)
        %2 = TANH(%1)
        %4 = EXPAND_DIMS(%2, %3)
    """) == ["VIEW", "TANH", "VIEW"]


def test_pins_are_not_joined() -> None:
    """From an input to an output, and from one output to another, the bytes are copied."""
    assert kinds("""
        %0 "x" int8[4]
        %1 "y" int8[2,2]
        %2 "a" int8[4]
        %3 "u" int8[2,2]
        inputs %0
        outputs %1, %2, %3
        %1 = RESHAPE(%0)
        %2 = TANH(%0)
        %3 = RESHAPE(%2)
    """) == ["RESHAPE", "TANH", "RESHAPE"]


def test_a_pin_behind_a_view_is_still_a_pin() -> None:
    assert kinds("""
        %0 "x" int8[4]
        %1 "a" int8[2,2]
        %2 "y" int8[4,1]
        inputs %0
        outputs %2
        %1 = RESHAPE(%0)
        %2 = RESHAPE(%1)
    """) == ["VIEW", "RESHAPE"]


def test_a_variable_is_not_viewed() -> None:
    """The view would change when the variable does."""
    assert kinds("""
        %0 "x" int8[4]
        %1 "state" int8[4] variable
        %2 "old" int8[2,2]
        %3 "y" int8[2,2]
        inputs %0
        outputs %3
        %2 = RESHAPE(%1)
        %3 = SVDF(%0, %1, %2)
    """) == ["RESHAPE", "SVDF"]


SHAPES = """
    %0 "x" int8[1,4,4]
    %1 "shape" int32[3]
    %2 "begin" int32[1] = [0]
    %3 "end" int32[1] = [1]
    %4 "stride" int32[1] = [1]
    %5 "batch" int32[]
    %6 "rest" int32[] = [16]
    %7 "new_shape" int32[2]
    %8 "flat" int8[1,16]
    %9 "y" int8[1,16]
    inputs %0
    outputs %9
    %1 = SHAPE(%0)
    %5 = STRIDED_SLICE(%1, %2, %3, %4) shrink_axis_mask=1
    %7 = PACK(%5, %6) values_count=2
    %8 = RESHAPE(%0, %7)
    %9 = TANH(%8)
"""


def test_shape_arithmetic_is_done_now() -> None:
    after = rewrite(model(SHAPES)).model
    assert [op.kind for op in after.main.operators] == ["VIEW", "TANH"]
    assert after.main.tensors[7].as_array().tolist() == [1, 16]
    assert after.main.operators[0].position == 3  # as in the file


def test_a_mask_hides_the_begin_of_an_axis_that_shrinks() -> None:
    text = SHAPES.replace('"begin" int32[1] = [0]', '"begin" int32[1] = [2]')
    after = rewrite(model(text.replace("shrink", "begin_mask=1 shrink"))).model
    assert after.main.tensors[5].as_array().tolist() == 1
    assert rewrite(model(text)).model.main.tensors[5].as_array().tolist() == 4


def test_a_computed_output_is_not_folded() -> None:
    assert kinds("""
        %0 "x" int8[3,5]
        %1 "shape" int32[2]
        inputs %0
        outputs %1
        %1 = SHAPE(%0)
    """) == ["SHAPE"]


def test_operands_that_make_no_sense_are_left_alone() -> None:
    assert kinds("""
        %0 "a" int32[2] = [1, 2]
        %1 "i" int32[1] = [7]
        %2 "b" int32[1]
        %3 "y" int32[1]
        inputs
        outputs %3
        %2 = GATHER(%0, %1)
        %3 = NEG(%2)
    """) == ["GATHER", "NEG"]


def test_rewriting_twice_changes_nothing_more() -> None:
    once = rewrite(model(SHAPES)).model
    assert write(rewrite(once).model) == write(once)


def test_no_rewrite_may_change_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    def shrinking(before: Model, _: Pins) -> Model:
        tensors = tuple(replace(tensor, shape=tensor.shape[:-1]) for tensor in before.main.tensors)
        return replace(before, subgraphs=(replace(before.main, tensors=tensors),))

    monkeypatch.setitem(steps.REWRITES, "views", shrinking)
    with pytest.raises(Broken, match="the rewrite views changes 'x', an input or output"):
        rewrite(model(SHAPES))


STATE = """
    %0 "x" int8[4]
    %1 "v" int8[4] variable
    %2 "y" int8[4]
    %3 "a" int8[4]
    %4 "z" int8[4]
    inputs %0
    outputs %2, %4
    %2 = TANH(%1)
    %3 = TANH(%0)
    %1 = ABS(%3)
    %4 = NEG(%3)
"""


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ((2, 0, 1, 3), "the rewrite views changes who reads and writes the variables of 'main', or when"),
        ((0, 1, 3), "the rewrite views changes who reads and writes the variables of 'main', or when"),
        ((0, 3, 1, 2), "rewritten, the model 'm' makes no sense: .* before operator 2 .TANH. has written it"),
    ],
)
def test_no_rewrite_may_make_something_else_of_a_model(
    order: tuple[int, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shuffling(before: Model, _: Pins) -> Model:
        operators = tuple(before.main.operators[place] for place in order)
        return replace(before, subgraphs=(replace(before.main, operators=operators),))

    monkeypatch.setitem(steps.REWRITES, "views", shuffling)
    with pytest.raises(Broken, match=message):
        rewrite(model(STATE))


def test_no_rewrite_may_forget_that_a_tensor_is_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetting(before: Model, _: Pins) -> Model:
        tensors = tuple(replace(tensor, is_variable=False) for tensor in before.main.tensors)
        return replace(before, subgraphs=(replace(before.main, tensors=tensors),))

    monkeypatch.setitem(steps.REWRITES, "views", forgetting)
    with pytest.raises(Broken, match="the rewrite views changes 'v', a variable"):
        rewrite(model(STATE))


def test_the_manifest_has_a_switch_for_each_rewrite() -> None:
    """`uint8` and `variables` have none, for nothing runs without them; `parts` is done after the others."""
    assert {*REWRITES} == {*steps.REWRITES} - {"uint8", "variables"} | {"parts"}
