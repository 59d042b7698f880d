"""Rules of `place`: what they select, which of them holds, and what is refused."""

from dataclasses import replace

import pytest

from tests.support.road import analyze_as, firmware, model
from usmp_build.errors import ManifestError, Span
from usmp_build.ir.graph import TensorRef
from usmp_build.passes import assign, rewrite
from usmp_build.passes.assign import Assignment, Pin, Spot
from usmp_build.passes.rewrite.pins import Pins
from usmp_build.request import InputOutput, PlaceRequest

TEXT = """
    %0 "net/x" int8[4]
    %1 "net/conv/w" int8[4] = [1, 2, 3, 4]
    %2 "net/conv/Relu;net/bn" int8[4]
    %3 "net/flat" int8[2,2]
    %4 "net/y" int8[2,2]
    inputs %0
    outputs %4
    %2 = CONV_2D(%0, %1) @3
    %3 = RESHAPE(%2) @4
    %4 = TANH(%3) @7
"""
REACH = {"ram": "cpu npu", "sram": "cpu npu", "flash": "cpu npu"}


def placed(*rules: PlaceRequest) -> Assignment:
    return assign(firmware(REACH, places=rules), (model(TEXT),))


def refused(rule: PlaceRequest) -> str:
    with pytest.raises(ManifestError) as caught:
        placed(rule)
    return str(caught.value)


def test_operators_by_kind_and_by_position() -> None:
    conv, tanh = Spot(0, 0, 3), Spot(0, 0, 7)
    assert placed(PlaceRequest(operators="CONV_*", target=1)).targets == {conv: 1}
    assert placed(PlaceRequest(positions=(5, 9), target=1)).targets == {tanh: 1}
    assert placed(PlaceRequest(operators="*", kernels="extern")).libraries.keys() == {conv, Spot(0, 0, 4), tanh}


def test_later_rules_hold() -> None:
    example = placed(PlaceRequest(operators="*", target=1), PlaceRequest(operators="TANH", target=0))
    assert [example.target(Spot(0, 0, position)) for position in (3, 4, 7)] == [1, 1, 0]


def test_a_pattern_of_tensors_pins_those_that_the_pools_may_hold() -> None:
    """Weights are not meant by a workspace pool, and activations not by a constant one."""
    assert placed(PlaceRequest(tensors="net/conv*", pools=(0,))).tensors == {TensorRef(0, 0, 2): Pin(frozenset({0}))}
    assert placed(PlaceRequest(tensors="net/conv/*", pools=(1, 2))).tensors == {
        TensorRef(0, 0, 1): Pin(frozenset({2})),
        TensorRef(0, 0, 2): Pin(frozenset({1})),
    }


@pytest.mark.parametrize(
    ("rule", "message", "cure"),
    [
        (PlaceRequest(operators="CONV_3D", target=1), 'has no operator of kind "CONV_3D"', 'did you mean "CONV_2D"?'),
        (PlaceRequest(operators="conv_2d", target=1), 'has no operator of kind "conv_2d"', "It has: CONV_2D, RESHAPE"),
        (PlaceRequest(tensors="cnv/Relu", pools=(0,)), 'has no tensor called "cnv/Relu"', 'did you mean "conv/Relu"?'),
        (PlaceRequest(tensors="conv/w", pools=(0,)), 'called "conv/w" that one of these pools may hold', "it has:"),
        (PlaceRequest(positions=(8, 9), target=1), "has no operators at 8 to 9", "positions 0 to 7"),
    ],
)
def test_a_rule_that_applies_to_nothing_is_an_error(rule: PlaceRequest, message: str, cure: str) -> None:
    text = refused(rule)
    assert "error[P311]" in text
    assert message in text
    assert cure in text


def test_a_pool_that_the_model_may_not_use_is_an_error_at_the_rule() -> None:
    request = firmware(REACH)
    span = Span("usmp.toml", 3, 9)
    places = (PlaceRequest(tensors="x", pools=(1,), span=span),)
    asked = replace(request, models=(replace(request.models[0], workspace_pools=(0,), places=places),))
    with pytest.raises(ManifestError, match=r'usmp.toml:3:9: error\[P312\]: model "m" may not use pool "sram"'):
        assign(asked, (model(TEXT),))


def kinds(*rules: PlaceRequest, io: InputOutput = InputOutput.POOL, text: str = TEXT) -> list[str]:
    """The operators after rewriting."""
    asked, before = firmware(REACH, places=rules, io=io), (model(text),)
    pins = assign(asked, before).pins(asked, before)
    return [op.kind for op in rewrite(before[0], pins[0]).model.main.operators]


def test_an_operator_that_is_placed_by_name_stays() -> None:
    view, stays = ["CONV_2D", "VIEW", "TANH"], ["CONV_2D", "RESHAPE", "TANH"]
    assert kinds() == view
    assert kinds(PlaceRequest(operators="RESHAPE", target=1)) == stays
    assert kinds(PlaceRequest(positions=(4, 4), target=1)) == stays
    assert kinds(PlaceRequest(operators="RE*", pools=(0,))) == stays


def test_no_value_moves_over_a_border() -> None:
    """On one side of it, a view is as good as what was asked for."""
    assert kinds(PlaceRequest(positions=(3, 7), target=1)) == ["CONV_2D", "VIEW", "TANH"]
    assert kinds(PlaceRequest(positions=(4, 7), target=1)) == ["CONV_2D", "RESHAPE", "TANH"]


def test_tensors_that_are_pinned_apart_do_not_share_bytes() -> None:
    apart = (PlaceRequest(tensors="conv/Relu", pools=(0,)), PlaceRequest(tensors="net/flat", pools=(1,)))
    assert kinds(*apart) == ["CONV_2D", "RESHAPE", "TANH"]
    assert kinds(apart[0], PlaceRequest(tensors="net/flat", pools=(0, 1))) == ["CONV_2D", "VIEW", "TANH"]


def test_what_is_pinned_is_not_in_the_array_of_the_caller() -> None:
    ends = """
        %0 "x" int8[4]
        %1 "a" int8[2,2]
        %2 "y" int8[2,2]
        inputs %0
        outputs %2
        %1 = RESHAPE(%0)
        %2 = TANH(%1)
    """
    pin = PlaceRequest(tensors="a", pools=(1,))
    assert kinds(pin, text=ends) == ["VIEW", "TANH"]
    assert kinds(pin, io=InputOutput.APPLICATION, text=ends) == ["RESHAPE", "TANH"]
    analysis = analyze_as(firmware(REACH, places=(pin,), io=InputOutput.APPLICATION), model(ends))
    assert analysis.scopes.pools[TensorRef(0, 0, 1)] == (1,)


def test_a_pinned_shape_is_computed_when_the_model_runs() -> None:
    shape = """
        %0 "x" int8[1,4]
        %1 "shape" int32[2]
        %2 "y" int8[1,4]
        inputs %0
        outputs %2
        %1 = SHAPE(%0)
        %2 = FILL(%1, %0)
    """
    assert kinds(text=shape) == ["FILL"]
    assert kinds(PlaceRequest(tensors="shape", pools=(0,)), text=shape) == ["SHAPE", "FILL"]
    assert kinds(PlaceRequest(operators="SHAPE", target=1), text=shape) == ["SHAPE", "FILL"]
    assert kinds(PlaceRequest(operators="*", target=1), text=shape) == ["FILL"]


def pins(*rules: PlaceRequest, kernels: str = "reference") -> Pins:
    asked = firmware(REACH, places=rules)
    asked = replace(asked, targets=(replace(asked.targets[0], kernels=kernels), *asked.targets[1:]))
    before = (model(TEXT),)
    return assign(asked, before).pins(asked, before)[0]


def may_change(rules: Pins) -> list[int]:
    """The positions of operators that may get options which TFLite does not have."""
    return [op.position for op in model(TEXT).main.operators if rules.may_change(0, op)]


def test_operators_of_other_libraries_and_named_ones_do_not_change() -> None:
    assert may_change(pins()) == [3, 4, 7]
    assert may_change(pins(kernels="mine")) == []
    assert may_change(pins(PlaceRequest(positions=(3, 4), kernels="extern"))) == [7]
    assert may_change(pins(PlaceRequest(operators="T*", kernels="reference"), kernels="mine")) == []
    assert may_change(pins(PlaceRequest(operators="TANH", target=0))) == [3, 4]


def test_a_target_with_another_library_makes_its_operators_foreign() -> None:
    asked = firmware(REACH, places=(PlaceRequest(positions=(3, 4), target=1),))
    asked = replace(asked, targets=(asked.targets[0], replace(asked.targets[1], kernels="extern")))
    before = (model(TEXT),)
    assert assign(asked, before).pins(asked, before)[0].foreign == {(0, 3), (0, 4)}


def test_operators_of_two_targets_do_not_join() -> None:
    conv, reshape, tanh = model(TEXT).main.operators
    pinned = pins(PlaceRequest(positions=(3, 4), target=1))
    assert pinned.may_join(0, conv, reshape)
    assert not pinned.may_join(0, reshape, tanh)


def test_a_tensor_that_a_rule_speaks_of_is_kept() -> None:
    pinned = pins(PlaceRequest(tensors="net/flat", pools=(0,)), PlaceRequest(tensors="*y", axis_separators=(1,)))
    assert [tensor for tensor in range(5) if pinned.keeps(0, tensor)] == [3, 4]
