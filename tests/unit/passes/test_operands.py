"""What rules of targets say of operands: alignment, of those that they name, whatever library runs them."""

import pytest

from tests.support.road import analyze_as, firmware, model
from usmp_build.kernels.reference import library
from usmp_build.request import OperandRule, PlaceRequest

NET = """
    %0 "x" int8[1,2,2,2] scale=0.5 zero=0
    %1 "weights" int8[3,1,1,2] scales=[0.5*3] zeros=[0*3] = [1, 2, 3, 4, 5, 6]
    %2 "axes" int32[2] = [1, 2]
    %3 "a" int8[1,2,2,3] scale=8.0 zero=0
    %4 "y" int8[1,3] scale=8.0 zero=0
    inputs %0
    outputs %4
    %3 = CONV_2D(%0, %1, _) padding=VALID @0
    %4 = MEAN(%3, %2) @1
"""
REACH = {"ram": "cpu npu", "flash": "cpu npu"}


def aligned(*rules: OperandRule, operators: str = "CONV_2D") -> dict[str, int]:
    """Alignments of more than an int32's, of the operators that npu runs."""
    asked = firmware(REACH, places=(PlaceRequest(operators=operators, target=1),), rules=rules)
    analysis = analyze_as(asked, model(NET), library=library)
    return {buffer.name: buffer.alignment for buffer in analysis.storage.buffers if buffer.alignment > 4}


def test_a_rule_aligns_the_operands_that_it_names() -> None:
    assert aligned(OperandRule("*", ("input 0",), alignment=64)) == {"m.x": 64}
    assert aligned(OperandRule("CONV*", ("outputs",), alignment=32)) == {"m.a": 32}
    assert aligned(OperandRule("*", ("constants",), alignment=8)) == {
        "m.weights": 8, "m.a.bias": 8, "m.a.multiplier": 8, "m.a.shift": 8,
    }  # fmt: skip
    assert aligned(OperandRule("*", ("scratch",), alignment=16), operators="MEAN") == {"m.y.sums": 16}


def test_a_rule_without_operands_aligns_all() -> None:
    assert set(aligned(OperandRule("*", (), alignment=16))) == {
        "m.x", "m.weights", "m.a", "m.a.bias", "m.a.multiplier", "m.a.shift",
    }  # fmt: skip


def test_the_largest_alignment_counts() -> None:
    rules = OperandRule("*", ("outputs",), alignment=16), OperandRule("CONV_2D", ("output 0",), alignment=128)
    assert aligned(*rules) == {"m.a": 128}


@pytest.mark.parametrize("rule", [OperandRule("ADD", (), alignment=64), OperandRule("*", ("output 1",), alignment=64)])
def test_other_operators_and_operands_are_left_alone(rule: OperandRule) -> None:
    assert aligned(rule) == {}
