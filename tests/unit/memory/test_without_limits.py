"""Who is elsewhere because of limits, and the problem without them."""

from __future__ import annotations

from tests.support.problems import buffer, by_hand, problem
from usmp_build.memory.without_limits import cheaper_elsewhere, problem_without_limits

STATED = problem(
    [
        buffer("dear", 8, (0, 1), costs=(0, 9)),
        buffer("cheap", 8, (0, 1), costs=(0, 1)),
        buffer("either", 8, (0, 1), costs=(5, 5)),
    ],
    pools={"fast": 8, "slow": None},
)


def test_those_that_cost_more_than_they_must_would_move() -> None:
    assert cheaper_elsewhere(STATED, by_hand((0, 0), (1, 0), (1, 8))) == (1,)
    assert cheaper_elsewhere(STATED, by_hand((0, 0), (0, 8), (0, 16))) == ()


def test_without_limits_everything_has_its_cheapest_pools() -> None:
    lifted = problem_without_limits(STATED)
    assert [pool.limit for pool in lifted.pools] == [None, None]
    assert [buffer.pools for buffer in lifted.buffers] == [(0,), (0,), (1,)]  # a pool that has a limit stays small
    assert [buffer.costs for buffer in lifted.buffers] == [(0,), (0,), (5,)]
