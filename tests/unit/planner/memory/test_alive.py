"""Conflicts from intervals, against what the word says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from usmp_build.planner.memory.alive import conflicts, count_pairs

LIFE = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda life: (life[0], life[0] + life[1]))


@given(st.lists(LIFE, max_size=15))
def test_who_is_alive_at_one_step(lives: list[tuple[int, int]]) -> None:
    steps = [set(range(*life)) for life in lives]
    expected = [tuple(b for b in range(len(lives)) if a != b and steps[a] & steps[b]) for a in range(len(lives))]
    assert conflicts([[life] for life in lives]) == tuple(expected)
    lower, upper = np.array(lives, dtype=np.int64).reshape(-1, 2).T
    assert count_pairs(lower, upper) == sum(map(len, expected)) // 2


def test_several_intervals_meet_once() -> None:
    assert conflicts([[(0, 2), (2, 4), (6, 8)], [(1, 7)], [(4, 6)]]) == ((1,), (0, 2), (1,))
