"""Speculative runs of an algorithm, within a budget; invalid plans count as no plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from usmp_build import effort
from usmp_build.errors import CheckFailed
from usmp_build.planner.memory.bounds import unmet
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations

Attempt: TypeAlias = Callable[[Problem], Plan | None]
"""An algorithm: a plan, or None when it finds none."""


def sound_plan(algorithm: Attempt, problem: Problem) -> Plan | None:
    """Run an algorithm where failure is acceptable; None if it fails, finds no plan, or returns an invalid one."""
    try:
        plan = algorithm(problem)
    except CheckFailed:
        return None
    return None if plan is None or violations(problem, plan) else plan


class Trials:
    """An algorithm with a budget of runs."""

    def __init__(self, attempt: Attempt, most: int) -> None:
        self._attempt = attempt
        self._left = most

    def left(self, problem: Problem) -> int:
        """Return how often it may still run on problems of this size."""
        return self._left // _price(problem)

    def charge(self, problem: Problem) -> None:
        """Count a plan of this problem, made here or elsewhere."""
        self._left -= _price(problem)

    def plan(self, problem: Problem) -> Plan | None:
        """Run the algorithm unless a bound rules out a plan; None if there is no valid plan."""
        if unmet(problem):
            return None
        self.charge(problem)
        return sound_plan(self._attempt, problem)


def _price(problem: Problem) -> int:
    visits = len(problem.buffers) + sum(map(len, problem.conflicts))
    return 1 + visits // effort.REFUSAL_VISITS
