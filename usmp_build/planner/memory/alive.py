"""Derives conflicts, and problems, from intervals: buffers conflict that are alive at one step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from usmp_build.planner.memory.problem import Buffer, Pool, Problem

Lives: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""For each buffer its half-open intervals, disjoint."""
Steps: TypeAlias = npt.NDArray[np.int64]


def count_pairs(lower: Steps, upper: Steps) -> int:
    """Return the number of pairs of half-open intervals [lower, upper) that share a step.

    Of the intervals that begin before one ends, all that do not end before it begins share a step with it.  Each pair
    is counted from both sides, and each interval with itself.
    """
    if not len(lower):
        return 0
    begun = np.searchsorted(np.sort(lower), upper, side="left")
    ended = np.searchsorted(np.sort(upper), lower, side="right")
    return (int(begun.sum()) - int(ended.sum()) - len(lower)) // 2


def conflicts(lives: Lives) -> tuple[tuple[int, ...], ...]:
    """Return for each buffer the ascending indices of the others that are alive at one of its steps."""
    events = sorted(
        (step, born, index)
        for index, intervals in enumerate(lives)
        for start, stop in intervals
        for step, born in ((start, True), (stop, False))
    )  # at one step deaths come first: intervals are half-open
    neighbors: list[set[int]] = [set() for _ in lives]
    alive: set[int] = set()
    for _, born, index in events:
        if not born:
            alive.remove(index)
            continue
        neighbors[index] |= alive
        for other in alive:
            neighbors[other].add(index)
        alive.add(index)
    return tuple(tuple(sorted(others)) for others in neighbors)


def problem_of(names: Iterable[str], columns: Sequence[Steps], pool: Pool) -> Problem:
    """Return buffers with one interval each as a problem; `columns` are first steps, ends, sizes and alignments."""
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    buffers = tuple(Buffer(name, size, (0,), (), step, ((start, stop),)) for name, start, stop, size, step in rows)
    return Problem((pool,), buffers, conflicts([buffer.intervals for buffer in buffers]))
