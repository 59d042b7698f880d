"""Who is elsewhere because of limits, and problems with other limits."""

from tests.support.problems import buffer, by_hand, problem
from usmp_build.planner.memory.limits import cheaper_elsewhere, with_limits, with_room_in_last_pools

STATED = problem(
    [buffer("dear", 8, (0, 1), costs=(0, 9)), buffer("cheap", 8, (0, 1), costs=(0, 1))],
    pools={"fast": 8, "slow": None},
)


def test_those_that_cost_more_than_they_must_would_move() -> None:
    assert cheaper_elsewhere(STATED, by_hand((0, 0), (1, 0))) == (1,)
    assert cheaper_elsewhere(STATED, by_hand((0, 0), (0, 8))) == ()


def test_other_limits_change_nothing_else() -> None:
    assert with_limits(with_limits(STATED, (None, 3)), (8, None)) == STATED
    assert [pool.limit for pool in with_limits(STATED, (None, 3)).pools] == [None, 3]


def test_last_choices_have_room() -> None:
    pools = {"first": 8, "last": 9, "other": 10, "own": 11}
    stated = problem([buffer("a", 8, (0, 1)), buffer("b", 8, (3,))], pools=pools)
    assert [pool.limit for pool in with_room_in_last_pools(stated).pools] == [8, None, 10, None]
