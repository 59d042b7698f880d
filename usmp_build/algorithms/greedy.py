"""First fit in two fixed orders: the largest buffers first, or those with the most conflicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from usmp_build.algorithms.first_fit import first_fit
from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Problem


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


def by_size(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by size, then number of conflicts, both descending; then by name."""
    known = problem.buffers
    return sorted(buffers, key=lambda i: (-known[i].size, -len(problem.conflicts[i]), known[i].name))


def by_conflicts(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by number of conflicts, then size, both descending; then by name."""
    known = problem.buffers
    return sorted(buffers, key=lambda i: (-len(problem.conflicts[i]), -known[i].size, known[i].name))
