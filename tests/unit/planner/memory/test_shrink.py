"""From much to little that still fails."""

from __future__ import annotations

import pytest

from usmp_build.planner.memory.shrink import irreducible, shrink


def test_only_what_is_needed_stays_in_its_order() -> None:
    assert shrink(range(100), lambda some: {3, 50, 97} <= set(some), 100) == (3, 50, 97)


def test_all_are_needed() -> None:
    assert shrink(range(9), lambda some: len(some) == 9, 100) == tuple(range(9))


def test_what_comes_last_goes_first() -> None:
    assert shrink([9, 8, 7, 6, 5], lambda some: sum(some) > 16, 100) == (9, 8)


def test_one_that_fails_alone() -> None:
    assert shrink(range(64), lambda some: 0 in some, 100) == (0,)


def test_nothing_is_never_asked_about() -> None:
    assert shrink([7], lambda some: bool(some) or pytest.fail("asked about nothing"), 100) == (7,)
    assert shrink([], lambda _: True, 100) == ()


def test_tests_are_few() -> None:
    asked = []
    shrink(range(1000), lambda some: asked.append(some) or {3, 997} <= set(some), 1000)
    assert len(asked) < 60
    asked.clear()
    kept = shrink(range(1000), lambda some: asked.append(some) or {3, 997} <= set(some), 5)
    assert len(asked) == 5
    assert {3, 997} <= set(kept)


def test_irreducible_although_fewer_may_fail_where_more_do_not() -> None:
    """Without 3 it does not fail as long as 2 is there."""

    def fails(some: list[int]) -> bool:
        return 1 in some and (3 in some or 2 not in some)

    assert shrink([1, 2, 3], fails, 100) == (1, 3)
    assert irreducible([1, 2, 3], fails, 100) == (1,)
