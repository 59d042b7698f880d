"""Algorithms and bounds against the truth: for tiny problems every way to place the buffers is tried.

USMP_FUZZ is the number of problems to try; nothing about them depends on the machine or the day.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import product
from math import lcm
from typing import NamedTuple

import pytest

from tests.support.problems import buffer, every_plan, problem, tiny
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.exact import Exact
from usmp_build.planner.algorithms.greedy import GreedyByConflicts, GreedyBySize
from usmp_build.planner.algorithms.hill_climb import HillClimb, ideal
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import pool_bounds, required
from usmp_build.planner.memory.plan import peaks, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations

COUNT = int(os.environ.get("USMP_FUZZ", "400"))
PROBLEMS_PER_TEST = 100


class Rival(NamedTuple):
    """Who is measured against the truth."""

    algorithm: Algorithm
    exact: bool = False
    """Whether it finds the best plan wherever there is one, and knows that it is."""


RIVALS = [
    Rival(GreedyBySize()),
    Rival(GreedyByConflicts()),
    Rival(HillClimb(rounds=30)),
    Rival(Auto(), exact=True),
    Rival(Exact(), exact=True),
]


class Truth:
    """What is best, by trying everything.

    Buffers in different pools have nothing to do with each other, so all ways to share out the buffers are tried, and
    for those of one pool all offsets.
    """

    def __init__(self, stated: Problem) -> None:
        self.stated = stated
        self._least: dict[tuple[int, ...], int | None] = {(): 0}

    def best(self) -> tuple[int, ...] | None:
        """Return the `quality` of the best plan; None when there is none."""
        shares = list(product(*(buffer.pools for buffer in self.stated.buffers)))
        costs = [sum(b.cost_in(pool) for b, pool in zip(self.stated.buffers, share, strict=True)) for share in shares]
        best: tuple[int, ...] | None = None
        for cost, share in sorted(zip(costs, shares, strict=True)):
            if best is not None and cost > best[0]:
                break
            needed = self._needed(share)
            ranked = (cost, sum(needed), *reversed(needed)) if needed is not None else None
            if ranked is not None and (best is None or ranked < best):
                best = ranked
        return best

    def _needed(self, share: tuple[int, ...]) -> list[int] | None:
        """Return the least peaks, when the buffers are in these pools; None when a limit is too low."""
        found = []
        for number, pool in enumerate(self.stated.pools):
            least = self.least_peak(tuple(i for i, chosen in enumerate(share) if chosen == number))
            if least is None or (pool.limit is not None and least > pool.limit):
                return None
            found.append(least)
        return found

    def least_peak(self, members: tuple[int, ...]) -> int | None:
        """Return the fewest bytes that hold these buffers; None when even a pool without limit does not."""
        if members not in self._least:
            fewer = self.least_peak(members[:-1])  # are no higher
            heights = range(fewer, self._enough(members) + 1) if fewer is not None else range(0)
            possible = bool(heights) and self._fits(members, heights[-1])
            self._least[members] = next(h for h in heights if self._fits(members, h)) if possible else None
        return self._least[members]

    def _enough(self, members: tuple[int, ...]) -> int:
        """Return a height in which these buffers have room if they have any.

        Of a higher placement take the lowest gap between two starts that is above all fixed buffers and wider than
        every buffer plus a common multiple of the alignments: all above it could move down by that multiple.
        """
        known = [self.stated.buffers[index] for index in members]
        gap = max(b.size for b in known) + lcm(*(b.alignment for b in known))
        return max((b.offset or 0) for b in known) + (len(known) + 1) * gap

    def _fits(self, members: tuple[int, ...], height: int) -> bool:
        """Tell whether these buffers have offsets below this height."""
        free = {}
        for index in members:
            b = self.stated.buffers[index]
            ends = range(height - b.size + 1)
            offsets = ends[:: b.alignment] if b.offset is None else [o for o in ends if o == b.offset]
            free[index] = sum(1 << o for o in offsets if o % b.alignment == 0)
        return self._can_be_placed(free)

    def _can_be_placed(self, free: Mapping[int, int]) -> bool:
        """Try all offsets of one buffer after the other; bit o of `free[i]` says that i may still be at o."""
        if not free:
            return True
        first = min(free, key=lambda index: free[index].bit_count())
        return any(
            all(others.values()) and self._can_be_placed(others)
            for offset in bits(free[first])
            for others in [{i: offsets & ~self._taken(first, offset, i) for i, offsets in free.items() if i != first}]
        )

    def _taken(self, placed: int, offset: int, other: int) -> int:
        """Return as bits the offsets that another buffer may not have now."""
        if other not in self.stated.conflicts[placed]:
            return 0
        lowest = max(0, offset - self.stated.separation(other, placed) + 1)
        highest = offset + self.stated.separation(placed, other) - 1
        return (1 << highest + 1) - (1 << lowest) if lowest <= highest else 0


def bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


@pytest.mark.parametrize("first", range(0, COUNT, PROBLEMS_PER_TEST))
def test_against_the_truth(first: int) -> None:
    for seed in range(first, min(first + PROBLEMS_PER_TEST, COUNT)):
        truth = Truth(tiny(seed))
        best = truth.best()
        assert best is None or not any(requirement.missing for requirement in required(truth.stated)), seed
        assert best is None or ideal(truth.stated, range(len(truth.stated.buffers))) <= best, seed
        for rival in RIVALS:
            assert not complaints(rival, truth, best), f"seed {seed}, {rival.algorithm}"


def complaints(rival: Rival, truth: Truth, best: tuple[int, ...] | None) -> list[str]:
    """Say what is wrong with an algorithm's answer, and with what is known of it."""
    stated = truth.stated
    plan = rival.algorithm(stated)
    if plan is None:
        return [f"there is a plan: {best}"] if rival.exact and best is not None else []
    wrong = [*violations(stated, plan)]
    if rival.exact and not (quality(stated, plan) == best and is_best(stated, plan)):
        wrong.append(f"{quality(stated, plan)}, bound {plan.bound}: not known to be the best, {best}")
    if best is None or quality(stated, plan) < best:
        wrong.append(f"{quality(stated, plan)} is better than the best, {best}")
    if is_best(stated, plan) and quality(stated, plan) != best:
        wrong.append(f"{quality(stated, plan)} is not the best: {best}")
    for pool, (bound, peak) in enumerate(zip(pool_bounds(stated, plan), peaks(stated, plan), strict=True)):
        least = truth.least_peak(tuple(i for i, place in enumerate(plan.allocations) if place.pool == pool))
        claim = plan.claims[pool] if plan.claims else 0
        if least is None or not max(bound.bytes, claim) <= least <= peak:
            wrong.append(f"pool {pool}: bound {bound.bytes}, claim {claim}, truth {least}, peak {peak}")
    return wrong


@pytest.mark.parametrize("seed", range(100))
def test_the_truth_by_more_obvious_means(seed: int) -> None:
    stated = tiny(seed, most=3, largest=3)
    best = Truth(stated).best()
    least = min((quality(stated, plan) for plan in every_plan(stated, height=16)), default=None)
    assert best == least


def test_truths_known_by_heart() -> None:
    assert Truth(problem([])).best() == (0, 0, 0)
    assert Truth(problem([buffer("a", 3), buffer("b", 4, alignment=2)])).best() == (0, 7, 7)
    assert Truth(problem([buffer("a", 3), buffer("b", 4)], pools={"ram": 6})).best() is None
    assert Truth(problem([buffer("a", 3, offset=5), buffer("b", 6)])).best() == (0, 14, 14)
    assert Truth(problem([buffer("a", 3, offset=5), buffer("b", 5, offset=4)])).best() is None
    apart = problem(
        [buffer("a", 3, (0, 1), costs=(1, 2)), buffer("b", 4, (0, 1), costs=(1, 9))], None, {"x": 6, "y": 3}
    )
    assert Truth(apart).best() == (3, 7, 3, 4)
    in_place = problem([buffer("a", 3), buffer("b", 4)], separations={("a", "b"): -1, ("b", "a"): 4})
    assert Truth(in_place).best() == (0, 4, 4)
