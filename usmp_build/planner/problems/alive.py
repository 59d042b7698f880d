"""Who is alive together: the conflicts of a problem that states intervals and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Lives: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""For each buffer its half-open intervals, disjoint."""
Steps: TypeAlias = npt.NDArray[np.int64]


def count_pairs(lower: Steps, upper: Steps) -> int:
    """Count the pairs of half-open intervals that have a step in common.

    Of those that begin before an interval ends, all that do not end before it begins meet it; each pair is seen from
    both sides, and each interval by itself.
    """
    if not len(lower):
        return 0
    begun = np.searchsorted(np.sort(lower), upper, side="left")
    ended = np.searchsorted(np.sort(upper), lower, side="right")
    return (int(begun.sum()) - int(ended.sum()) - len(lower)) // 2


def conflicts(lives: Lives) -> tuple[tuple[int, ...], ...]:
    """Return for each buffer the ascending indices of those that are alive at some step of its own."""
    events = sorted(
        (step, born, index)
        for index, intervals in enumerate(lives)
        for start, stop in intervals
        for step, born in ((start, True), (stop, False))
    )  # at one step deaths come first: intervals are half-open
    found: list[set[int]] = [set() for _ in lives]
    alive: set[int] = set()
    for _, born, index in events:
        if not born:
            alive.remove(index)
            continue
        found[index] |= alive
        for other in alive:
            found[other].add(index)
        alive.add(index)
    return tuple(tuple(sorted(others)) for others in found)
