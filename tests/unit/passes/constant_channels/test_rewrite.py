"""What goes, what is folded into which bias, and what must stay."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from tests.support.road import model
from usmp_build.ir.graph import Model
from usmp_build.kernels import weights
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.constant_channels import constant_channels, forward
from usmp_build.passes.rewrite.constant_channels.needed import BLOCK
from usmp_build.passes.rewrite.pins import Pins
from usmp_build.textual.text import read, write

TWO_MATRICES = """
    %0 "x" int8[1,2] scale=1 zero=0
    %1 "w" int8[3,2] scale=1 zero=0 = [1, 1, 0, 0, 1, 2]
    %2 "b" int32[3] = [0, 7, 0]
    %3 "h" int8[1,3] scale=1 zero=2
    %4 "v" int8[2,3] scale=1 zero=0 = [1, 10, 0, 0, -10, 0]
    %5 "c" int32[2] = [5, 2147483647]
    %6 "y" int8[1,2] scale=1 zero=0
    inputs %0
    outputs %6
    %3 = FULLY_CONNECTED(%0, %1, %2)
    %6 = FULLY_CONNECTED(%3, %4, %5)
"""
"""Of %3, channel 1 is 7 + 2 = 9 always, and nobody multiplies channel 2 by anything but 0."""

ADDED = """
    %0 "x" int8[1,4,4,2] scale=1 zero=0
    %1 "w" int8[2,1,1,2] scale=1 zero=0 = [1, 0, 0, 0]
    %2 "b" int32[2] = [0, 3]
    %3 "a" int8[1,4,4,2] scale=1 zero=0
    %4 "c" int8[2] scale=1 zero=0 = [1, 2]
    %5 "s" int8[1,4,4,2] scale=1 zero=0
    %6 "v" int8[1,1,1,2] scale=1 zero=0 = [1, 1]
    %7 "d" int32[1] = [0]
    %8 "y" int8[1,{side},{side},1] scale=1 zero=0
    inputs %0
    outputs %8
    %3 = CONV_2D(%0, %1, %2)
    %5 = ADD(%3, %4)
    %8 = CONV_2D(%5, %6, %7) {options}
"""


def array(result: Model, tensor: int) -> list[object]:
    values: list[object] = result.main.tensors[tensor].as_array().tolist()
    return values


def test_a_constant_goes_into_the_next_bias_and_what_nobody_reads_goes() -> None:
    result, channels, *_ = constant_channels(model(TWO_MATRICES))
    assert channels == {(0, 3): (0,)}
    assert result.main.tensors[3].shape == (1, 1)
    assert (array(result, 1), array(result, 2)) == ([[1, 1]], [0])
    assert array(result, 4) == [[1], [0]]


def test_a_bias_wraps_as_a_sum_does() -> None:
    """5 + 10 * 7; and 2^31 - 1 less 70, for this output is constant: whatever sum gives it will do."""
    result, _, *_ = constant_channels(model(TWO_MATRICES))
    assert array(result, 5) == [75, 2147483647 - 70]
    up = constant_channels(model(TWO_MATRICES.replace("0, -10, 0]", "1, 10, 0]")))[0]
    assert array(up, 5) == [75, 2147483647 + 70 - 2**32]


def test_ties_through_an_addition_and_an_operand_with_a_number_for_each_channel() -> None:
    result, channels, *_ = constant_channels(model(ADDED.format(side=4, options="")))
    assert channels == {(0, 3): (0,), (0, 5): (0,)}
    assert array(result, 4) == [1]
    assert array(result, 7) == [5]


def test_under_padding_a_constant_stays_unless_it_adds_nothing() -> None:
    text = ADDED.format(side=4, options="").replace(
        "[1,1,1,2] scale=1 zero=0 = [1, 1]", "[1,3,3,2] scale=1 zero=0 = [1*18]"
    )
    assert constant_channels(model(text))[1] == {}
    zero = text.replace("int32[2] = [0, 3]", "int32[2] = [0, -2]")
    result, channels, *_ = constant_channels(model(zero))
    assert channels == {(0, 3): (0,), (0, 5): (0,)}
    assert array(result, 7) == [0]


def test_a_tensor_of_constants_only_keeps_one_channel() -> None:
    text = TWO_MATRICES.replace("[1, 1, 0, 0, 1, 2]", "[0*6]")
    result, channels, *_ = constant_channels(model(text))
    assert channels == {(0, 3): (0,)}
    assert result.main.tensors[6].shape == (1, 2)


@pytest.mark.parametrize(
    "pins",
    [
        Pins(named=frozenset({(0, 1)})),
        Pins(foreign=frozenset({(0, 1)})),
        Pins(tensors={(0, 3): frozenset({0})}),
        Pins(tensors={(0, 4): frozenset({0})}),
        Pins(separated=frozenset({(0, 3)})),
    ],
    ids=["named", "another library", "pinned", "pinned weights", "separated"],
)
def test_what_the_manifest_speaks_of_stays_as_it_is(pins: Pins) -> None:
    text = TWO_MATRICES.replace(", %2)", ", %2) @0").replace(", %5)", ", %5) @1")
    before = model(text)
    assert constant_channels(before, pins)[:2] == (before, {})


def test_ports_variables_and_what_is_not_understood_keep_their_channels() -> None:
    for changed in (
        TWO_MATRICES.replace("outputs %6", "outputs %3, %6"),
        TWO_MATRICES.replace('%3 "h" int8[1,3]', '%3 "h" int16[1,3]'),
        TWO_MATRICES.replace("%3 = FULLY_CONNECTED(%0, %1, %2)", "%3 = CUSTOM(%0, %1, %2)").replace(
            "CUSTOM", '"CUSTOM:x"'
        ),
        TWO_MATRICES.replace("[1,2] scale=1 zero=0\n    inputs", "[1,2]\n    inputs").replace(
            '%3 "h" int8[1,3] scale=1 zero=2', '%3 "h" int8[1,3]'
        ),
    ):
        before = model(changed)
        assert constant_channels(before)[:2] == (before, {}), changed


@pytest.mark.parametrize("constant", [4, 1, 2])
def test_a_constant_that_is_an_output_too_stays_as_it_is(constant: int) -> None:
    """The operator has one of its own then, behind all others."""
    before = model(TWO_MATRICES.replace("outputs %6", f"outputs %6, %{constant}"))
    rewritten = rewrite(before).model
    assert rewritten.main.tensors[constant] == before.main.tensors[constant]
    assert rewritten.main.tensors[3].shape == (1, 1)
    assert rewritten.main.tensors[7].elements < before.main.tensors[constant].elements


@pytest.mark.parametrize("options", ["stride_h=9223372036854775807", "dilation_w=9223372036854775807"])
def test_windows_that_no_kernel_takes_are_not_understood(options: str) -> None:
    before = model(ADDED.format(side=4, options=options))
    assert constant_channels(before).channels == {}


def test_sums_that_may_leave_32_bits_are_not_believed() -> None:
    """A factor of 1 is half of 2, so a sum is shifted once to the left: above 2^30 it wraps."""
    safe = TWO_MATRICES.replace("[0, 7, 0]", "[0, 7, 1073741000]").replace(
        "[1, 10, 0, 0, -10, 0]", "[1, 10, 1, 0, -10, 0]"
    )
    assert constant_channels(model(safe.replace("1, 2]\n", "1, 1]\n")))[1] == {(0, 3): (0,)}
    wraps = safe.replace("1073741000", "1073741700")
    assert constant_channels(model(wraps))[1] == {(0, 3): (0, 2)}


def test_constants_that_two_operators_share_are_parted() -> None:
    text = TWO_MATRICES.replace("outputs %6", "outputs %6, %7").replace(
        "    inputs", '    %7 "z" int8[1,3] scale=1 zero=2\n    inputs'
    )
    result, _, *_ = constant_channels(model(text + "    %7 = FULLY_CONNECTED(%0, %1, %2)\n"))
    first, _, last = result.main.operators
    assert last.inputs == (0, 1, 2)
    assert array(result, 1) == [[1, 1], [0, 0], [1, 2]]
    assert [array(result, t) for t in first.inputs[1:] if t is not None] == [[[1, 1]], [0]]
    assert min(t for t in first.inputs[1:] if t is not None) == 8


def test_weights_that_are_withheld_say_nothing() -> None:
    before = model(TWO_MATRICES)
    weights = replace(before.main.tensors[4], is_withheld=True)
    tensors = (*before.main.tensors[:4], weights, *before.main.tensors[5:])
    withheld = replace(before, subgraphs=(replace(before.main, tensors=tensors),))
    assert constant_channels(withheld)[1] == {}


def test_rewriting_again_changes_nothing_and_the_switch_is_one() -> None:
    before = model(TWO_MATRICES)
    once = rewrite(before)
    assert [each.rewrite for each in once.record.savings] == ["constant_channels"]
    assert rewrite(once.model).model == once.model
    assert read(write(once.model, data="full"), "m", "m").main == once.model.main
    assert rewrite(before, off=frozenset({"constant_channels"})).model == before


def test_a_model_that_asks_for_too_much_work_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    before = model(TWO_MATRICES)
    monkeypatch.setattr(import_module(f"{constant_channels.__module__}.needed"), "_MOST_SWEEPS", 1)
    assert constant_channels(before)[:2] == (before, {})
    huge = model("""
        %0 "x" int8[1,4000000000]
        %1 "y" int8[1,4000000000]
        inputs %0
        outputs %1
        %1 = TANH(%0)
    """)
    assert constant_channels(huge)[:2] == (huge, {})


def test_intervals_know_what_constants_hold() -> None:
    graph = model(ADDED.format(side=4, options="")).main
    known = forward.facts(graph, [forward.read_role(op, graph) for op in graph.operators])
    assert known.intervals[3].low.tolist() == [-128, 3]
    assert known.intervals[5].high.tolist() == [127, 5]
    assert np.array_equal(known.intervals[5].is_constant, [False, True])


def test_a_frame_is_padding_too() -> None:
    window = "[1,1,1,2] scale=1 zero=0 = [1, 1]", "[1,3,3,2] scale=1 zero=0 = [1*18]"
    framed = ADDED.format(side=4, options="padding=VALID frame=[1, 1, 1, 1]").replace(*window)
    assert constant_channels(model(framed))[1] == {}
    inside = ADDED.format(side=2, options="padding=VALID").replace(*window)
    assert constant_channels(model(inside))[1] == {(0, 3): (0,), (0, 5): (0,)}


def test_limits_and_what_a_frame_counts_as_are_seen() -> None:
    text = """
        %0 "x" int8[1,4,4,1] scale=1 zero=0
        %1 "p" int8[1,2,2,1] scale=1 zero=0
        %2 "y" int8[1,2,2,1] scale=1 zero=0
        inputs %0
        outputs %2
        %1 = AVERAGE_POOL_2D(%0) padding=VALID stride_h=2 stride_w=2 filter_h=2 filter_w=2 limits=[3, 9]
        %2 = AVERAGE_POOL_2D(%1) frame=[1, 1, 1, 1] filter_h=3 filter_w=3 outside=-7
    """
    graph = model(text).main
    known = forward.facts(graph, [forward.read_role(op, graph) for op in graph.operators])
    ends = [(known.intervals[t].low.tolist(), known.intervals[t].high.tolist()) for t in (1, 2)]
    assert ends == [([3], [9]), ([-7], [9])]


def test_turns_are_counted_as_our_kernels_declare_them() -> None:
    assert BLOCK == weights.BLOCK
