"""The sweep over rectangles, against looking at every pair by the rule of `memory.problem`."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usmp_build.planner.memory.overlaps import overlaps

RECTANGLE = st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 20), st.integers(0, 6) | st.just(0))


@given(st.lists(RECTANGLE, max_size=14))
def test_none_exactly_if_no_pair_overlaps(rectangles: list[tuple[int, int, int, int]]) -> None:
    start, length, offset, size = np.array(rectangles, dtype=np.int64).reshape(-1, 4).T
    pairs = list(overlaps(start, start + length, offset, size))
    numbered = combinations(enumerate(rectangles), 2)
    wrong = {(i, j) for (i, one), (j, other) in numbered if not are_apart(one, other)}
    assert bool(pairs) == bool(wrong)
    assert {(min(pair), max(pair)) for pair in pairs} <= wrong


def are_apart(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    """Two that are alive together: one starts at least as far behind the other as that is large."""
    (begin, length, offset, size), (begin_2, length_2, offset_2, size_2) = one, other
    together = max(begin, begin_2) < min(begin + length, begin_2 + length_2)
    return not together or offset_2 - offset >= size or offset - offset_2 >= size_2


@pytest.mark.parametrize(("offset", "count"), [(0, 0), (1, 1), (7, 1), (8, 0), (9, 0)])
@pytest.mark.parametrize("first", [0, 1])
def test_one_without_bytes_may_touch_ends(offset: int, count: int, first: int) -> None:
    rectangles = np.array([(0, 4, 0, 8), (1, 2, offset, 0)][:: 1 - 2 * first], dtype=np.int64)
    lower, upper, where, size = rectangles.T
    assert len(list(overlaps(lower, upper, where, size))) == count


def test_many_without_bytes_stand_where_they_like_at_the_bottom() -> None:
    count = 3000
    size = np.where(np.arange(count) % 3, 0, 4)
    lower = np.arange(count) // 60
    offset = np.where(size > 0, np.arange(count) % 60 * 4, 0)
    assert not list(overlaps(lower, lower + 1, offset, size))
