"""Lower bounds: what is alive together, rounded, shared, concurrent; and what limits must allow."""

from dataclasses import replace

import pytest

from tests.support.problems import alive, buffer, by_hand, problem
from usmp_build.planner.memory.bounds import Requirement, Witness, pool_bounds, pressure, required
from usmp_build.planner.memory.problem import Problem


def everything(stated: Problem) -> Witness:
    return pressure(stated, range(len(stated.buffers)))


def test_the_heaviest_step() -> None:
    stated = alive({"a": (0, 4, 100), "b": (1, 3, 40), "c": (3, 5, 45)})
    assert everything(stated) == Witness(145, (0, 2), 3)


def test_the_first_of_equal_steps() -> None:
    assert everything(alive({"a": (1, 3, 10), "b": (0, 1, 10)})) == Witness(10, (1,), 0)


def test_intervals_are_half_open_and_may_be_many() -> None:
    stated = alive({"a": (0, 2, 10), "b": (2, 4, 20), "c": (4, 6, 29)})
    often = replace(stated.buffers[0], intervals=((0, 2), (1_000_000_000, 1_000_000_001)))
    late = replace(stated.buffers[1], intervals=((1_000_000_000, 1_000_000_002),))
    again = replace(stated, buffers=(often, late, stated.buffers[2]), conflicts=((1,), (0,), ()))
    assert everything(again) == Witness(30, (1, 0), 1_000_000_000)


def test_long_timelines() -> None:
    lives = {f"t{i}": (i, i + 2, 100 if i in {3, 4} else 10) for i in range(1000)}
    assert everything(alive(lives)) == Witness(200, (3, 4), 4)


def test_members_only() -> None:
    stated = alive({"a": (0, 4, 100), "b": (1, 3, 40), "c": (3, 5, 45)})
    assert pressure(stated, [1, 2]) == Witness(45, (2,), 3)
    assert pressure(stated, []) == Witness()


@pytest.mark.parametrize(
    ("sizes", "alignment", "needed"),
    [
        ((16, 16), 16, 32),
        ((10, 16), 16, 26),  # the 10 on top
        ((10, 10), 16, 26),
        ((1, 1, 1), 16, 33),
        ((1, 1, 1), 1, 3),
    ],
)
def test_all_but_the_topmost_fill_whole_units(sizes: tuple[int, ...], alignment: int, needed: int) -> None:
    stated = alive({str(i): (0, 1, size) for i, size in enumerate(sizes)}, alignment=alignment)
    assert everything(stated).bytes == needed


def test_units_are_those_of_all_buffers() -> None:
    stated = problem([buffer("a", 10, intervals=((0, 1),)), buffer("b", 10, intervals=((0, 1),), alignment=16)])
    assert everything(stated).bytes == 20


@pytest.mark.parametrize(
    ("above", "below", "needed"),
    [
        (100, 60, 160),
        (40, 60, 100),  # b within a
        (70, 60, 130),
        (0, 0, 100),  # in place
        (-9, -9, 100),
        (100, 10, 110),  # a reaches 10 bytes further than b starts
    ],
)
def test_a_pair_shares_what_it_may(above: int, below: int, needed: int) -> None:
    lives = ((0, 1),)
    stated = problem(
        [buffer("a", 100, intervals=lives), buffer("b", 60, intervals=lives)],
        separations={("a", "b"): above, ("b", "a"): below},
    )
    assert everything(stated).bytes == needed


def test_one_who_may_hide_in_several_is_left_out() -> None:
    """In place all three: the union of a and b is at least 100, and c adds nothing."""
    lives = ((0, 1),)
    names = ["a", "b", "c"]
    stated = problem(
        [buffer(name, 100, intervals=lives) for name in names],
        separations={(x, y): 0 for x in names for y in names if x != y},
    )
    assert everything(stated) == Witness(100, (0,), 0)


def test_one_is_left_out_if_without_it_the_others_fill_larger_units() -> None:
    """Each takes 4 bytes; the first two start at multiples of 8, and all three at multiples of 4."""
    buffers = [buffer("a", 4, alignment=8), buffer("b", 4, alignment=8), buffer("c", 4, alignment=12)]
    assert everything(problem(buffers, separations={("c", "a"): 4})) == Witness(12, (0, 1))


def test_buffers_alive_together_need_not_conflict() -> None:
    stated = replace(alive({"a": (0, 1, 10), "b": (0, 1, 20), "c": (0, 1, 31)}), conflicts=((1,), (0,), ()))
    assert everything(stated) == Witness(31, (2,), 0)


def test_concurrent_models_add_up() -> None:
    """Model a peaks at step 1 with 50, b at step 4 with 70; c is exclusive to both."""
    lives = {"a1": (0, 2, 20), "a2": (1, 3, 30), "b1": (3, 5, 40), "b2": (4, 6, 30), "c": (6, 7, 100)}
    apart = alive(lives)
    assert everything(apart) == Witness(100, (4,), 6)
    pairs = [("a1", "a2"), ("b1", "b2"), *((a, b) for a in ("a1", "a2") for b in ("b1", "b2"))]
    assert everything(problem(apart.buffers, pairs)) == Witness(120, (2, 1, 3, 0), None)


def test_without_intervals_conflicts_are_all_there_is() -> None:
    stated = problem(
        [buffer(name, size) for name, size in zip("abcd", (40, 30, 20, 50), strict=True)], [("a", "b"), ("b", "c")]
    )
    assert everything(stated) == Witness(70, (0, 1))


def test_empty_buffers_weigh_nothing() -> None:
    assert everything(problem([buffer("a", 0), buffer("b", 0)])) == Witness()
    assert everything(alive({"a": (0, 1, 0), "b": (0, 1, 8)})) == Witness(8, (1,), 0)


def test_pools_are_bounded_by_what_the_plan_put_there() -> None:
    stated = problem(
        [buffer(name, size, (0, 1), intervals=((0, 1),)) for name, size in (("a", 10), ("b", 20), ("c", 40))],
        pools={"fast": None, "slow": None, "unused": None},
    )
    bounds = pool_bounds(stated, by_hand((0, 0), (1, 0), (0, 10)))
    assert bounds == (Witness(50, (2, 0), 0), Witness(20, (1,), 0), Witness())


def test_limits_must_allow_what_cannot_leave() -> None:
    """a and b have only the first pool, c and d either; the third pool has no limit."""
    live = ((0, 1),)
    stated = problem(
        [buffer("a", 30, intervals=live), buffer("b", 30, intervals=live), buffer("c", 40, (0, 1), intervals=live)],
        pools={"first": 50, "second": 45, "third": None},
    )
    assert required(stated) == (
        Requirement((0,), Witness(60, (0, 1), 0), 50),
        Requirement((0, 1), Witness(100, (2, 0, 1), 0), 95),
    )
    assert [requirement.missing for requirement in required(stated)] == [10, 5]
    free = replace(stated, buffers=(*stated.buffers[:2], buffer("c", 40, (0, 1, 2), intervals=live)))
    assert [requirement.pools for requirement in required(free)] == [(0,)]


def test_each_pool_has_a_topmost_buffer() -> None:
    stated = problem(
        [buffer("a", 10, (0, 1), alignment=16), buffer("b", 10, (0, 1), alignment=16)], pools={"one": 10, "other": 10}
    )
    assert required(stated) == (Requirement((0, 1), Witness(20, (0, 1)), 20),)


def test_a_pool_that_is_too_small_is_no_candidate() -> None:
    stated = problem([buffer("a", 60, (0, 1)), buffer("b", 60, (0, 1))], pools={"small": 50, "large": 100})
    assert required(stated) == (Requirement((1,), Witness(120, (0, 1)), 100),)


def test_a_buffer_larger_than_all_its_pools() -> None:
    stated = problem([buffer("a", 70, (0, 1), intervals=((3, 4),))], pools={"small": 50, "large": 60})
    together = Requirement((0, 1), Witness(70, (0,), 3), 110)
    assert required(stated) == (Requirement((1,), Witness(70, (0,), 3), 60), together)
    nowhere = problem([buffer("a", 70)], pools={"none": 0})
    assert required(nowhere) == (Requirement((0,), Witness(70, (0,)), 0),) * 2


def test_a_buffer_larger_than_its_pool_crowds_it_all_the_same() -> None:
    stated = problem([buffer("a", 70), buffer("b", 20)], pools={"ram": 60})
    assert max(requirement.missing for requirement in required(stated)) == 30


def test_many_lists_of_candidates() -> None:
    names = [f"pool{i}" for i in range(12)]
    stated = problem([buffer(name, 1, (i,)) for i, name in enumerate(names)], pools=dict.fromkeys(names, 1))
    assert len(required(stated)) == 12
    fewer = problem([buffer(name, 1, (i,)) for i, name in enumerate(names[:8])], pools=dict.fromkeys(names, 1))
    assert len(required(fewer)) == 255


def test_a_pool_reaches_to_the_end_of_what_is_fixed() -> None:
    stated = problem([buffer("a", 10, offset=30, intervals=((4, 5),)), buffer("b", 20), buffer("c", 5, offset=35)], [])
    assert pool_bounds(stated, by_hand(30, 0, 35)) == (Witness(40, (0,), 4),)
    crowded = problem([buffer("a", 10, offset=30), buffer("b", 40)])
    assert pool_bounds(crowded, by_hand(30, 40)) == (Witness(50, (1, 0)),)


def test_a_fixed_place_beyond_the_limits() -> None:
    stated = problem([buffer("a", 10, (0, 1), offset=30)], pools={"one": 39, "other": 35})
    assert Requirement((0,), Witness(40, (0,)), 39) in required(stated)
    fits = problem([buffer("a", 10, (0, 1), offset=30)], pools={"one": 39, "other": 40})
    assert not any(requirement.missing for requirement in required(fits))


def test_who_lives_several_times_may_meet_all_others_though_never_at_one_step() -> None:
    lives = {"a": ((0, 2), (4, 5)), "b": ((1, 3),), "c": ((2, 4), (4, 5))}
    stated = problem([buffer(name, 10, intervals=life) for name, life in lives.items()])
    assert everything(stated) == Witness(30, (0, 1, 2), None)
