"""First fit in two fixed orders: the largest buffers first, or those with the most conflicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.first_fit import first_fit
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Buffer, Problem


@frozen
class GreedyBySize:
    """Places large buffers first: small ones fill the gaps that they leave."""

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Plan by first fit; None when a buffer finds no room."""
        return first_fit(problem, by_size(problem, range(len(problem.buffers)))).plan("greedy_by_size")


@frozen
class GreedyByConflicts:
    """Places buffers with many conflicts first: those that are alive long, or with many others."""

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Plan by first fit; None when a buffer finds no room."""
        return first_fit(problem, by_conflicts(problem, range(len(problem.buffers)))).plan("greedy_by_conflicts")


Order = Callable[[Problem, Iterable[int]], list[int]]


def by_size(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by size, then number of conflicts, both descending; then by name."""
    all_buffers = problem.buffers
    return sorted(buffers, key=lambda i: (-all_buffers[i].size, -len(problem.conflicts[i]), all_buffers[i].name))


def by_conflicts(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by number of conflicts, then size, both descending; then by name."""
    all_buffers = problem.buffers
    return sorted(buffers, key=lambda i: (-len(problem.conflicts[i]), -all_buffers[i].size, all_buffers[i].name))


def backwards(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by birth, the last first: suits chains in which each buffer is overwritten from its start."""
    all_buffers = problem.buffers
    return sorted(
        buffers,
        key=lambda i: (*(-step for step in _lifetime(all_buffers[i])), -all_buffers[i].size, all_buffers[i].name),
    )


def forwards(problem: Problem, buffers: Iterable[int]) -> list[int]:
    """Order buffers by birth, the first first: suits chains in which each buffer is overwritten from its end."""
    all_buffers = problem.buffers
    return sorted(buffers, key=lambda i: (*_lifetime(all_buffers[i]), -all_buffers[i].size, all_buffers[i].name))


def _lifetime(buffer: Buffer) -> tuple[int, int]:
    return (buffer.intervals[0][0], buffer.intervals[-1][1]) if buffer.intervals else (0, 0)
