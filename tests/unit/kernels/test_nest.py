"""Nests: accesses, forms and traffic that follow from them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.support.access_traces import trace
from tests.support.kernels.drawing import INT8, activation, case
from usmp_build.interfaces.accesses import Window
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.call_traffic import call_traffic, positions
from usmp_build.interfaces.kernels import Derived, Input, Kernel, Output, Rows, Traffic
from usmp_build.kernels.nest import Blocks, Fields, InTurn, Nest, aside, kernel, reads, rows_of, writes
from usmp_build.kernels.node import Node
from usmp_build.kernels.requantization import int32_constant
from usmp_build.kernels.window import Slide

FIELDS: Fields = (("size", 1),)


def node(read: int, written: int) -> Node:
    """An operator that makes int8 of int8."""
    source, output = (activation(name, (size,), INT8, zero_point=0) for name, size in (("x", read), ("y", written)))
    graph = case(np.random.default_rng(1), "CUSTOM:X", (source,), output).graph
    return Node(graph.operators[0], graph)


def turns(result: Kernel) -> list[tuple[list[int], list[int]]]:
    """The elements that each turn reads of the first operand, and writes of the last one."""
    (call,) = result.calls
    accesses = call_accesses(call)
    assert accesses is not None
    last = len(call.operands) - 1
    return [(sorted(turn.get((0, False), ())), sorted(turn.get((last, True), ()))) for turn in trace(accesses)]


def test_elements_are_one_behind_the_other_unless_a_step_is_stated() -> None:
    nest = Nest({"rows": 2, "elements": 2}, (reads(Input(0)), writes(Output(0), 1, {"rows": 1, "elements": 2})))
    assert turns(kernel(node(4, 4), "f", nest, FIELDS)) == [([0], [0]), ([1], [2]), ([2], [1]), ([3], [3])]


@pytest.mark.parametrize(("singly", "rest"), [(False, [[4, 5]]), (True, [[4], [5]])])
def test_what_is_left_of_blocks_goes_at_once_or_singly(singly: bool, rest: list[list[int]]) -> None:
    nest = Nest({"outputs": Blocks(6, 4, singly)}, (reads(Input(0), 3, {"outputs": 0}), writes(Output(0))))
    result = kernel(node(3, 6), "f", nest, FIELDS)
    assert turns(result) == [([0, 1, 2], written) for written in ([0, 1, 2, 3], *rest)]


def test_operands_aside_count_as_traffic_and_overlap_nothing() -> None:
    spans = reads(Input(0)), aside(Derived(0), 2, {"outputs": 2}, fills=True), writes(Output(0), 1, {"outputs": 1})
    table = int32_constant("table", range(16))
    result = kernel(node(6, 6), "f", Nest({"outputs": Blocks(6, 4)}, spans), FIELDS, constants=(table,))
    (call,) = result.calls
    assert call_traffic(call) == (Traffic(6), Traffic(4 * 2 * 8), Traffic(written=6))
    assert call.accesses is not None
    assert call.accesses.widths == (1, 0, 1)


def test_rows_follow_from_the_axes_outside() -> None:
    """Three rows of two pixels, under a window of two rows with padding above."""
    down = Slide(3, output=3, window=2, before=1)
    read = reads(Input(0), 1, {"images": 6, "rows": down.under(2), "pixels": 1})
    nest = Nest({"images": 1, "rows": 3, "pixels": 2}, (read, writes(Output(0))))
    form = rows_of(nest)
    assert form == Rows(1, 3, 3, 2, 2, window=2, before=1)
    by_rows = turns(kernel(node(6, 6), "f", nest, FIELDS, form=form))
    assert by_rows == turns(kernel(node(6, 6), "f", nest, FIELDS))
    assert by_rows == [([0], [0]), ([1], [1]), ([0, 2], [2]), ([1, 3], [3]), ([2, 4], [4]), ([3, 5], [5])]


def test_nests_in_turn_share_their_outermost_axes() -> None:
    both = (
        Nest({"images": 2, "inputs": 2}, (reads(Input(0)),)),
        Nest({"images": 2, "outputs": 1}, (writes(Output(0)),)),
    )
    result = kernel(node(4, 2), "f", InTurn(both, shared=1, phases=True), FIELDS)
    assert turns(result) == [([0], []), ([1], []), ([], [0]), ([2], []), ([3], []), ([], [1])]
    apart = kernel(node(4, 2), "f", InTurn(both), FIELDS)
    assert turns(apart) == [([0], []), ([1], []), ([2], []), ([3], []), ([], [0]), ([], [1])]


def test_an_operand_that_is_passed_twice_is_touched_in_both_places_and_counts_once() -> None:
    nest = Nest({"elements": 4}, (reads(Input(0)), writes(Output(0))))
    (call,) = kernel(node(4, 4), "f", nest, FIELDS, operands=(Input(0), Input(0), Output(0))).calls
    assert call.accesses is not None
    assert {touch.operand for part in call.accesses.parts for touch in part.touches} == {0, 1, 2}
    assert call_traffic(call) == (Traffic(4), Traffic(), Traffic(written=4))


def test_inputs_of_a_transposed_convolution_are_counted_as_one_by_one() -> None:
    chance = Random(1)
    for _ in range(500):
        size, taps, before, every = (chance.randint(*ends) for ends in ((1, 9), (1, 6), (-3, 6), (2, 5)))
        window, rounds = Window(0, 1, size, taps, before=before, every=every), chance.randint(1, 30)
        places = (place - before + tap for place in range(rounds) for tap in range(taps))
        assert positions([window], rounds) == sum(p % every == 0 and 0 <= p // every < size for p in places)
