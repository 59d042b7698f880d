"""The protocol of planning algorithms, built-in or of plug-ins."""

from __future__ import annotations

from typing import Protocol

from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem


class Algorithm(Protocol):
    """Chooses a place for every buffer (entry-point group `usmp_build.planner.algorithms`).

    An algorithm is a frozen dataclass: its fields are its options.  It is deterministic, and its search is bounded
    by work, never by time.
    """

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Return a plan that keeps all conflicts and limits, or None when it finds none."""
