"""What a few buffers need that may share bytes: against every placement, and by the planner as by the auditor."""

import random
from itertools import product

import pytest

from tests.support.problems import buffer, problem
from usmp_build.planner.audit.crowd import shared_extent
from usmp_build.planner.memory.extent import MOST, least_extent
from usmp_build.planner.memory.pressure import pressure

Pairs = dict[tuple[int, int], int]


def by_hand(sizes: list[int], apart: Pairs) -> int:
    """Try every placement."""
    offsets = product(range(sum(sizes) + 1), repeat=len(sizes))
    return min(
        max(at + size for at, size in zip(some, sizes, strict=True))
        for some in offsets
        if all(some[b] - some[a] >= apart[a, b] or some[a] - some[b] >= apart[b, a] for a, b in apart)
    )


def drawn_separations(seed: int) -> tuple[list[int], Pairs]:
    numbers = random.Random(seed)
    sizes = [numbers.randint(1, 4) for _ in range(numbers.randint(1, 3))]
    pairs = [(a, b) for a in range(len(sizes)) for b in range(len(sizes)) if a != b]
    return sizes, {(a, b): numbers.choice([sizes[a], numbers.randint(-3, sizes[a])]) for a, b in pairs}


@pytest.mark.parametrize("seed", range(80))
def test_no_placement_needs_less(seed: int) -> None:
    sizes, apart = drawn_separations(seed)
    ours = least_extent(sizes, lambda a, b: apart[a, b])
    assert ours == shared_extent(sizes, apart)
    if ours is not None:
        assert ours == by_hand(sizes, apart)


def test_a_circle_has_no_order() -> None:
    sizes, apart = [3, 3, 3], {(a, b): 3 if (b - a) % 3 == 2 else 0 for a in range(3) for b in range(3) if a != b}
    assert least_extent(sizes, lambda a, b: apart[a, b]) is None
    assert shared_extent(sizes, apart) is None
    assert by_hand(sizes, apart) == 3


def test_many_are_not_tried() -> None:
    assert MOST == 8
    assert least_extent([1] * 8, lambda _a, _b: 1) == 8
    assert least_extent([1] * 9, lambda _a, _b: 1) is None


def test_none_need_nothing() -> None:
    assert least_extent([], lambda _a, _b: 0) == 0


def test_inputs_that_lie_side_by_side_count_although_the_output_may_hide_either() -> None:
    """Pair by pair, the output shares all of each input with it: 12 bytes.  But the inputs need 20."""
    stated = problem(
        [buffer("one", 10), buffer("other", 10), buffer("out", 12)],
        separations={("out", "one"): 0, ("out", "other"): 0, ("one", "out"): 2, ("other", "out"): 2},
    )
    witness = pressure(stated, range(3))
    assert witness.bytes == 20
    assert [stated.buffers[index].name for index in witness.buffers] == ["one", "other"]
