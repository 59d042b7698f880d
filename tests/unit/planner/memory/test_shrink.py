"""From much to little that still fails."""

import pytest

from usmp_build.planner.memory.shrink import beginning, irreducible, shrink


def test_only_what_is_needed_stays_in_its_order() -> None:
    assert shrink(range(100), lambda some: {3, 50, 97} <= set(some), 100) == (3, 50, 97)


def test_all_are_needed() -> None:
    asked: list[list[int]] = []
    assert shrink(range(9), lambda some: bool(asked.append(some)) or len(some) == 9, 100) == tuple(range(9))
    assert len(asked) < 14


def test_what_comes_last_goes_first() -> None:
    assert shrink([9, 8, 7, 6, 5], lambda some: sum(some) > 16, 100) == (9, 8)


def test_one_that_fails_alone() -> None:
    assert shrink([1, 2], lambda some: 2 in some, 100) == (2,)
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


@pytest.mark.parametrize("last", range(10))
def test_the_shortest_beginning_that_fails(last: int) -> None:
    asked: list[list[int]] = []

    def fails(some: list[int]) -> bool:
        asked.append(some)
        return last in some

    assert beginning(range(10), fails, 4) == [*range(last + 1)]
    assert len(asked) <= 4
    assert all(some for some in asked)


def test_a_beginning_is_longer_when_tests_run_out() -> None:
    assert beginning(range(16), lambda some: 3 in some, 0) == [*range(16)]
    assert beginning(range(16), lambda some: 3 in some, 1) == [*range(8)]
    assert beginning(range(16), lambda some: 3 in some, 2) == [*range(4)]
    assert beginning(range(16), lambda some: 9 in some, 2) == [*range(12)]
    assert beginning([5], lambda some: pytest.fail("asked about one"), 9) == [5]


def test_a_run_that_is_superfluous_is_followed_by_one_twice_as_long() -> None:
    """Of 16, 8 are not tested at once when one of them stays: 4, and then the 8 before them."""
    asked: list[list[int]] = []
    assert shrink(range(16), lambda some: bool(asked.append(some)) or {0, 8} <= set(some), 100) == (0, 8)
    left_out = [sorted(set(range(16)) - set(some)) for some in asked[:4]]
    assert left_out == [[*range(8, 16)], [*range(12, 16)], [*range(4, 16)], [*range(8, 16)]]
