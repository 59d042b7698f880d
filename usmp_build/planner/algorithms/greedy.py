"""First fit in two fixed orders: the largest buffers first, or those with the most conflicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from usmp_build.planner.algorithms.first_fit import first_fit
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Buffer, Problem


@dataclass(frozen=True, slots=True)
class GreedyBySize:
    """Places large buffers first: small ones fill the gaps that they leave."""

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Plan by first fit; None when a buffer finds no room."""
        return first_fit(problem, by_size(problem, range(len(problem.buffers)))).plan("greedy_by_size")


@dataclass(frozen=True, slots=True)
class GreedyByConflicts:
    """Places buffers with many conflicts first: those that live long, or in a crowd."""

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Plan by first fit; None when a buffer finds no room."""
        return first_fit(problem, by_conflicts(problem, range(len(problem.buffers)))).plan("greedy_by_conflicts")


Order = Callable[[Problem, Iterable[int]], list[int]]


def by_size(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by size, then number of conflicts, both descending; then by name."""
    known = problem.buffers
    return sorted(buffers, key=lambda i: (-known[i].size, -len(problem.conflicts[i]), known[i].name))


def by_conflicts(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by number of conflicts, then size, both descending; then by name."""
    known = problem.buffers
    return sorted(buffers, key=lambda i: (-len(problem.conflicts[i]), -known[i].size, known[i].name))


def backwards(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by birth, the last first: where each may lie a little above what is written over it, none jumps."""
    known = problem.buffers
    return sorted(buffers, key=lambda i: (*(-step for step in _life(known[i])), -known[i].size, known[i].name))


def forwards(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by birth, the first first: the same for what is written from the end."""
    known = problem.buffers
    return sorted(buffers, key=lambda i: (*_life(known[i]), -known[i].size, known[i].name))


def _life(buffer: Buffer) -> tuple[int, int]:
    return (buffer.intervals[0][0], buffer.intervals[-1][1]) if buffer.intervals else (0, 0)
