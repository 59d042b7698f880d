"""The check that believes no plan: each promise broken once, with its message."""

from dataclasses import replace

import pytest

from tests.support.problems import buffer, by_hand, problem
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.verify import violations

PAIR = problem(
    [buffer("conv_1", 64, (0, 1), alignment=16), buffer("conv_2", 64, (0,), alignment=16)],
    pools={"sram": 160, "dram": None, "flash": None},
)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ((0, 64), ()),
        ((64, 0), ()),
        (((1, 0), (0, 0)), ()),
        ((0, 96), ()),
        ((0, 32), ("conv_1 and conv_2 overlap in sram: [0, 64) and [32, 96)",)),
        ((0, 0), ("conv_1 and conv_2 overlap in sram: [0, 64) and [0, 64)",)),
        ((0, 72), ("conv_2 is at 72 in sram, which is not a multiple of its alignment 16",)),
        ((0, 112), ("conv_2 ends at 176 in sram, beyond the limit 160",)),
        ((-16, 64), ("conv_1 starts before pool sram, at -16",)),
        (((2, 0), (0, 0)), ("conv_1 is in pool flash, but may only be in: sram, dram",)),
        (((3, 0), (0, 0)), ("conv_1 is in pool number 3, but may only be in: sram, dram",)),
        (((7, 0), (-1, 0)), ("conv_1 is in pool number 7, but may only be in: sram, dram",
                             "conv_2 is in pool number -1, but may only be in: sram")),
        ((0,), ("the plan has 1 places for 2 buffers",)),
        ((0, 64, 128), ("the plan has 3 places for 2 buffers",)),
    ],
)  # fmt: skip
def test_violations_are_described(places: tuple[int | tuple[int, int], ...], message: tuple[str, ...]) -> None:
    assert violations(PAIR, by_hand(*places)) == message


def test_places_are_integers() -> None:
    plan = Plan("foreign", (Allocation(0, 0), Allocation(0, 64.0)))  # type: ignore[arg-type]
    assert violations(PAIR, plan) == ("conv_2 has a place that is not two integers: 0, 64.0",)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([(0, 0), (0, 64)], "it is no Plan, but of type list"),
        (Plan("x", [Allocation(0, 0)]), "its allocations are no tuple, but of type list"),  # type: ignore[arg-type]
        (Plan("x", (Allocation(0, 0), (0, 64))), "conv_2 has a place that is no Allocation: (0, 64)"),  # type: ignore[arg-type]
        (Plan("x", (Allocation(0, 0), None)), "conv_2 has a place that is no Allocation: None"),  # type: ignore[arg-type]
        (Plan("x", (Allocation(0, 0), Allocation(0, True))), "conv_2 has a place that is not two integers: 0, True"),
        (replace(by_hand(0, 64), algorithm=None), "its algorithm and work are no text and integer: None, 0"),
        (replace(by_hand(0, 64), work=0.5), "its algorithm and work are no text and integer: 'by hand', 0.5"),
        (replace(by_hand(0, 64), claims=(0.5, 0, 0)), "its claims are no tuple of integers: (0.5, 0, 0)"),
        (replace(by_hand(0, 64), claims=(128,)), "it claims something of 1 pools, where there are 3"),
        (replace(by_hand(0, 64), claims=(129, 0, 0)), "it claims that pool sram needs 129 bytes, and uses 128"),
        (replace(by_hand(0, 64), bound=[0]), "its bound is no tuple of integers: [0]"),
        (replace(by_hand(0, 64), bound=(0, 0.5, 0, 0, 0)), "its bound is no tuple of integers: (0, 0.5, 0, 0, 0)"),
        (replace(by_hand(0, 64), bound=(0,)), "its bound has 1 values, where there are cost, sum and 3 peaks"),
        (replace(by_hand(0, 64), bound=(0, 0, 0, 0)), "its bound has 4 values, where there are cost, sum and 3 peaks"),
        (
            replace(by_hand(0, 64), bound=(0, 128, 0, 0, 129)),
            "it claims that no plan is better than (0, 128, 0, 0, 129), and its cost and peaks are (0, 128, 0, 0, 128)",
        ),
    ],
)
def test_whatever_is_returned_is_looked_at(returned: object, message: str) -> None:
    assert violations(PAIR, returned) == (message,)


def test_what_is_claimed_may_be_what_is_used() -> None:
    assert not violations(PAIR, replace(by_hand(0, 64), claims=(128, 0, 0), bound=(0, 128, 0, 0, 128)))


def test_a_buffer_with_a_fixed_place_is_nowhere_else() -> None:
    stated = problem([buffer("stack", 64, offset=32)])
    assert violations(stated, by_hand(64)) == ("stack is at 64 in ram, but must be at 32",)
    assert not violations(stated, by_hand(32))


def test_a_pool_that_is_not_allowed_is_named() -> None:
    stated = problem([buffer("a", 8, (1,))], pools={"sram": None, "dram": None})
    assert violations(stated, by_hand((0, 0))) == ("a is in pool sram, but may only be in: dram",)


def test_unlimited_pools_have_no_end() -> None:
    assert not violations(PAIR, by_hand((1, 1 << 40), 0))


def test_no_conflict_no_violation() -> None:
    assert not violations(problem([buffer("a", 10), buffer("b", 10)], []), by_hand(0, 0))


@pytest.mark.parametrize("lists", [((1,), ()), ((), (0,)), ((1,), (0,)), ((0, 1), (1,))])
def test_a_conflict_counts_whoever_lists_it(lists: tuple[tuple[int, ...], ...]) -> None:
    stated = replace(problem([buffer("a", 10), buffer("b", 10)], []), conflicts=lists)
    assert violations(stated, by_hand(0, 5)) == ("a and b overlap in ram: [0, 10) and [5, 15)",)
    assert not violations(stated, by_hand(0, 10))


@pytest.mark.parametrize(
    ("a", "b", "sound"), [(0, 30, True), (0, 29, False), (10, 0, True), (9, 0, False), (0, 100, True), (60, 0, True)]
)
def test_separations(a: int, b: int, sound: bool) -> None:
    """b may start 30 bytes behind a; a may start 10 bytes behind b."""
    stated = problem([buffer("a", 100), buffer("b", 60)], separations={("a", "b"): 30, ("b", "a"): 10})
    assert (not violations(stated, by_hand(a, b))) == sound


def test_a_separation_is_named() -> None:
    stated = problem([buffer("a", 100), buffer("b", 60)], separations={("a", "b"): 30})
    assert violations(stated, by_hand(0, 29)) == (
        "a and b overlap in ram: [0, 100) and [29, 89); b must start at least 30 after a, or a 60 after b",
    )


def test_negative_separations_reach_below() -> None:
    stated = problem([buffer("a", 8), buffer("b", 8)], separations={("a", "b"): -4})
    assert not violations(stated, by_hand(4, 0))
    assert violations(stated, by_hand(5, 0))
    assert not violations(stated, by_hand(8, 0))


@pytest.mark.parametrize(("offset", "sound"), [(0, True), (10, True), (11, True), (5, False)])
def test_empty_buffers_stand_at_an_edge(offset: int, sound: bool) -> None:
    stated = problem([buffer("a", 10), buffer("empty", 0)])
    message = violations(stated, by_hand(0, offset))
    assert message == (() if sound else ("a and empty are too close in ram: [0, 10) and [5, 5)",))


def test_every_clash_is_told_once() -> None:
    stated = problem([buffer(name, 10) for name in "abc"])
    assert [text[:7] for text in violations(stated, by_hand(0, 0, 0))] == ["a and b", "a and c", "b and c"]


@pytest.mark.parametrize("second", ["b", "c"])
def test_a_separation_may_be_more_than_a_size(second: str) -> None:
    """Buffers that share no bytes can be too close, whichever of them comes first."""
    stated = problem([buffer("a", 10), buffer("b", 10), buffer("c", 10)], separations={("a", second): 25})
    places = {"a": 0, "b": 40, "c": 60, second: 20}
    assert violations(stated, by_hand(*places.values())) == (
        f"a and {second} are too close in ram: [0, 10) and [20, 30); {second} must start at least 25 after a, or a 10 "
        f"after {second}",
    )
    places[second] = 25
    assert not violations(stated, by_hand(*places.values()))
