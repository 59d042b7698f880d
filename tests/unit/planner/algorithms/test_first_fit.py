"""First fit: gaps, alignment, separations, several pools, fixed offsets, empty buffers."""

import pytest

from tests.support.problems import buffer, offsets, places, problem
from usmp_build.errors import UsmpError
from usmp_build.planner.algorithms.first_fit import first_fit
from usmp_build.planner.memory.plan import Allocation
from usmp_build.planner.memory.problem import Problem


def in_order(stated: Problem) -> dict[str, int]:
    """Place the buffers in the order in which they are stated."""
    return offsets(stated, first_fit(stated, range(len(stated.buffers))).plan(""))


@pytest.mark.parametrize(("size", "offset"), [(10, 20), (11, 50), (20, 50)])
def test_the_lowest_gap_that_is_large_enough(size: int, offset: int) -> None:
    """a and c are in the way, with 10 bytes between them, where b is, which does not conflict with d."""
    stated = problem(
        [buffer("a", 20), buffer("b", 10), buffer("c", 20), buffer("d", size)],
        [("a", "b"), ("b", "c"), ("a", "c"), ("a", "d"), ("c", "d")],
    )
    assert in_order(stated) == {"a": 0, "b": 20, "c": 30, "d": offset}


def test_a_buffer_is_aligned_as_it_wants_not_as_its_neighbor() -> None:
    assert in_order(problem([buffer("a", 10), buffer("b", 8, alignment=16)])) == {"a": 0, "b": 16}
    assert in_order(problem([buffer("b", 8, alignment=16), buffer("a", 10)])) == {"b": 0, "a": 8}


def test_a_gap_may_be_too_small_after_alignment() -> None:
    stated = problem(
        [buffer("a", 9), buffer("b", 15), buffer("c", 8), buffer("d", 8, alignment=8)],
        [("a", "b"), ("b", "c"), ("a", "c"), ("a", "d"), ("c", "d")],
    )
    assert in_order(stated) == {"a": 0, "b": 9, "c": 24, "d": 16}
    narrower = problem(
        [buffer("a", 9), buffer("b", 14), buffer("c", 8), buffer("d", 8, alignment=8)],
        [("a", "b"), ("b", "c"), ("a", "c"), ("a", "d"), ("c", "d")],
    )
    assert in_order(narrower) == {"a": 0, "b": 9, "c": 23, "d": 32}


@pytest.mark.parametrize(
    ("above", "below", "offset"),
    [
        (100, 60, 100),  # disjoint: behind a
        (40, 60, 40),  # may start 40 bytes behind a
        (0, 60, 0),  # in place
        (-8, 60, 0),  # may even start below a
        (100, 0, 0),  # a may lie where b begins
        (3, 2, 3),
    ],
)
def test_separations(above: int, below: int, offset: int) -> None:
    """`above` is how far b must start behind a; `below` the other way round."""
    stated = problem([buffer("a", 100), buffer("b", 60)], separations={("a", "b"): above, ("b", "a"): below})
    assert in_order(stated) == {"a": 0, "b": offset}


def test_a_separation_can_open_a_place_below() -> None:
    """b needs 16 bytes of head start under a, which is at 20."""
    stated = problem([buffer("x", 20), buffer("a", 100), buffer("b", 60)], [("x", "a"), ("a", "b")])
    stated = problem(stated.buffers, [("x", "a"), ("a", "b")], separations={("b", "a"): 16, ("a", "b"): 100})
    assert in_order(stated) == {"x": 0, "a": 20, "b": 0}


def test_separations_are_rounded_up_to_the_alignment() -> None:
    stated = problem(
        [buffer("a", 100, alignment=16), buffer("b", 60, alignment=16)], separations={("a", "b"): 5, ("b", "a"): 60}
    )
    assert in_order(stated) == {"a": 0, "b": 16}


def test_the_next_pool_when_the_first_is_full() -> None:
    stated = problem(
        [buffer("a", 60, (0, 1)), buffer("b", 60, (0, 1)), buffer("c", 40, (0, 1)), buffer("d", 1, (0, 1))],
        pools={"fast": 100, "slow": None},
    )
    plan = first_fit(stated, range(4)).plan("")
    assert places(stated, plan) == {"a": ("fast", 0), "b": ("slow", 0), "c": ("fast", 60), "d": ("slow", 60)}


def test_preference_is_each_buffers_own() -> None:
    stated = problem([buffer("a", 60, (1, 0)), buffer("b", 60, (0, 1))], pools={"fast": 100, "slow": None})
    assert places(stated, first_fit(stated, range(2)).plan("")) == {"a": ("slow", 0), "b": ("fast", 0)}


def test_a_limit_is_met_exactly() -> None:
    stated = problem([buffer("a", 60), buffer("b", 40)], pools={"ram": 100})
    assert in_order(stated) == {"a": 0, "b": 60}


def test_who_is_stuck() -> None:
    stated = problem([buffer("a", 60), buffer("b", 41), buffer("c", 40)], pools={"ram": 100})
    attempt = first_fit(stated, range(3))
    assert attempt.stuck == 1
    assert list(attempt.placed) == [0]
    assert attempt.plan("") is None


def test_fixed_buffers_come_first_and_the_others_go_around_them() -> None:
    stated = problem([buffer("a", 10), buffer("b", 20), buffer("c", 5), buffer("fixed", 8, offset=12)])
    assert in_order(stated) == {"a": 0, "b": 20, "c": 40, "fixed": 12}


def test_fixed_buffers_that_do_not_conflict_share() -> None:
    stated = problem([buffer("a", 10, offset=4), buffer("b", 10, offset=8)], [])
    assert in_order(stated) == {"a": 4, "b": 8}


def test_a_fixed_buffer_goes_to_its_first_pool_where_no_fixed_one_is_in_the_way() -> None:
    stated = problem(
        [
            buffer("free", 60, (0, 1)),
            buffer("first", 50, (0, 1), offset=0),
            buffer("beside", 50, (0, 1), offset=40),
            buffer("too_high", 21, (0, 1), offset=80),
        ],
        [("first", "beside"), ("free", "beside")],
        pools={"fast": 100, "slow": None},
    )
    plan = first_fit(stated, range(4)).plan("")
    assert places(stated, plan) == {
        "free": ("fast", 0),
        "first": ("fast", 0),
        "beside": ("slow", 40),
        "too_high": ("slow", 80),
    }


@pytest.mark.parametrize(
    ("above", "below", "fits"), [(10, 10, False), (4, 10, True), (5, 10, False), (10, -4, True), (10, -3, False)]
)
def test_fixed_buffers_keep_their_separation(above: int, below: int, fits: bool) -> None:
    stated = problem(
        [buffer("a", 10, offset=6), buffer("b", 10, offset=10)], separations={("a", "b"): above, ("b", "a"): below}
    )
    assert (first_fit(stated, range(2)).stuck is None) == fits


@pytest.mark.parametrize(
    ("offset", "alignment", "limit", "fits"),
    [(8, 8, 18, True), (8, 8, 17, False), (12, 8, None, False), (-8, 8, None, False), (0, 8, 10, True)],
)
def test_a_fixed_place_must_be_a_place(offset: int, alignment: int, limit: int | None, fits: bool) -> None:
    stated = problem([buffer("a", 10, alignment=alignment, offset=offset)], pools={"ram": limit})
    for overflow in (False, True):
        attempt = first_fit(stated, range(1), overflow=overflow)
        assert (attempt.stuck is None) == (fits or (overflow and limit == 17))


def test_which_fixed_buffer_is_stuck() -> None:
    stated = problem([buffer("free", 9), buffer("a", 10, offset=4), buffer("b", 10, offset=8)])
    assert first_fit(stated, [0, 1, 2]).stuck == 2
    assert first_fit(stated, [2, 0, 1]).stuck == 1
    assert first_fit(stated, [2, 0, 1], overflow=True).stuck == 1


def test_what_is_placed_already_stays() -> None:
    stated = problem([buffer("a", 10), buffer("b", 20), buffer("c", 5)])
    attempt = first_fit(stated, [2, 0], {1: Allocation(0, 8)})
    assert attempt.placed == {1: (0, 8), 2: (0, 0), 0: (0, 28)}


def test_beyond_the_limit_that_is_exceeded_least() -> None:
    stated = problem(
        [buffer("a", 60, (0, 1)), buffer("b", 50, (0, 1)), buffer("c", 30, (0, 1)), buffer("d", 5, (0, 1))],
        pools={"first": 70, "second": 75},
    )
    attempt = first_fit(stated, range(4), overflow=True)
    assert attempt.stuck is None
    assert attempt.placed == {0: (0, 0), 1: (1, 0), 2: (1, 50), 3: (0, 60)}


def test_empty_buffers_are_in_nobodys_way() -> None:
    stated = problem([buffer("a", 10), buffer("e", 0), buffer("b", 10), buffer("f", 0, alignment=16)])
    assert in_order(stated) == {"a": 0, "e": 0, "b": 10, "f": 0}


def test_more_bytes_than_can_be_counted_are_refused() -> None:
    stated = problem([buffer("a", 1 << 61), buffer("b", 1 << 61)])
    with pytest.raises(
        UsmpError, match=r"P504.*the offsets of 2 buffers may reach 4,\d+,\d+,\d+,\d+,\d+,904 bytes; at"
    ):
        first_fit(stated, range(2))
