"""Buffers that no chain of conflicts connects are problems of their own: models that never run together, mostly."""

from __future__ import annotations

from collections.abc import Iterable

from usmp_build.memory.problem import Problem


def parts(problem: Problem, members: Iterable[int]) -> list[list[int]]:
    """Split `members` so that no two parts conflict: the connected components of their conflict graph.

    Each part is ascending, and parts are ordered by their first member.
    """
    left = set(members)
    found = []
    for first in sorted(left):
        if first in left:
            left.remove(first)
            found.append(sorted(_reached(problem, first, left)))
    return found


def _reached(problem: Problem, first: int, left: set[int]) -> list[int]:
    """Move out of `left` whatever hangs together with `first`."""
    reached = [first]
    for index in reached:  # grows while it is walked
        new = left.intersection(problem.conflicts[index])
        left -= new
        reached += new
    return reached
