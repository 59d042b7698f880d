"""The best of several candidates: analyses of the same request that differ in the orders of operators.

Constants are alive whatever the choice, so only the workspace is planned again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from usmp_build.interfaces.analysis import Analysis
from usmp_build.passes import redirect
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.plan import Allocation, Plan, of_members, peaks, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Request
from usmp_build.search.directions import Budget, Directed, direct, reversible
from usmp_build.search.replanner import Replanner
from usmp_build.units import align_up


class Incumbent:
    """The best plan so far, and the bounds of everything that was looked at."""

    def __init__(self, replanner: Replanner, first: Analysis, plan: Plan | None) -> None:
        """Start with a plan of the first one, if it has one."""
        self._request = replanner.request
        self._first = first, plan
        self._constants = _constants(first, plan, replanner.glance)
        self._rank: tuple[int, ...] | None = None
        self._bounds: list[tuple[int, ...]] = []
        self.plan = plan
        self.chosen = first
        """The one that the plan is of, forward."""
        self.analysis = first
        """The same, with the directions of the plan."""
        if plan is not None:
            members = first.storage.workspace
            free = reversible(self._request, first, members)
            self._rank = free.rank(restricted(first.problem, members), of_members(plan, members))

    @property
    def directions_are_proven(self) -> bool:
        """Whether no directions make a plan of the workspace that ranks before this one, in all that were looked at."""
        return self._rank is not None and min(self._bounds) >= self._rank

    def look(self, candidate: Analysis, budget: Budget) -> None:
        """Search directions with which it makes a better plan."""
        members = candidate.storage.workspace
        first, plan = self._first
        known = of_members(plan, members) if plan is not None and candidate is first else None
        found = direct(reversible(self._request, candidate, members), budget, self._rank, known)
        self._bounds.append(found.bound)
        whole = _whole(candidate, members, found, self._constants)
        if whole is not None:
            self._rank, self.plan, self.chosen = found.rank, whole, candidate
            self.analysis = directed(self._request, candidate, found)

    def room(self) -> int:
        """Return the bytes of workspace that the plan needs; without a plan, one more than any plan may take."""
        members = self.chosen.storage.workspace
        problem = restricted(self.chosen.problem, members)
        if self.plan is not None:
            return sum(peaks(problem, of_members(self.plan, members)))
        limits = [problem.pools[pool].limit for pool in {pool for buffer in problem.buffers for pool in buffer.pools}]
        most = sum(align_up(buffer.size, buffer.alignment) for buffer in problem.buffers)
        return 1 + sum(most if limit is None else limit for limit in limits)


def directed(request: Request, candidate: Analysis, found: Directed) -> Analysis:
    """Analyze with the directions that were found."""
    directions = {**candidate.choices.directions, **(found.directions or {})}
    return redirect(request, candidate, replace(candidate.choices, directions=directions))


def _whole(
    candidate: Analysis, members: Sequence[int], found: Directed, constants: Callable[[Problem], Plan | None]
) -> Plan | None:
    """Put constants beside the workspace; they are in other pools.  None if there is no plan for one of them."""
    if found.plan is None:
        return None
    inside = set(members)
    others = [index for index in range(len(candidate.storage.buffers)) if index not in inside]
    beside = constants(restricted(candidate.problem, others))
    if beside is None:
        return None
    places: dict[int, Allocation] = dict(zip(members, found.plan.allocations, strict=True))
    places.update(zip(others, beside.allocations, strict=True))
    return Plan(
        found.plan.algorithm,
        tuple(places[index] for index in range(len(places))),
        _each(found.plan.claims, beside.claims),
        found.plan.work + beside.work,
        _ranked(found.plan.bound, beside.bound),
    )


def _constants(
    first: Analysis, plan: Plan | None, ask: Callable[[Problem], Plan | None]
) -> Callable[[Problem], Plan | None]:
    """Ask for plans of constants; those of `plan` stay where they are, if they are known to be in the best places."""
    if plan is None:
        return ask
    members = first.storage.constants
    known = restricted(first.problem, members)
    pools = {pool for buffer in known.buffers for pool in buffer.pools}
    claims = tuple(claim if pool in pools else 0 for pool, claim in enumerate(plan.claims))
    kept = replace(of_members(plan, members), claims=claims)

    @cache
    def of_the_first() -> Plan:
        if is_best(known, kept):
            return replace(kept, bound=quality(known, kept))
        again = ask(known)
        return kept if again is None or quality(known, kept) <= quality(known, again) else again

    def asked(problem: Problem) -> Plan | None:
        return of_the_first() if problem == known else ask(problem)

    return asked


def _each(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Join what is said of pools, of which each has buffers of one plan only; empty is 0 for all."""
    return tuple(map(max, one, other)) if one and other else one or other


def _ranked(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Join bounds of `quality`, for buffers that share no pool; empty when one of them is not known."""
    return (one[0] + other[0], one[1] + other[1], *map(max, one[2:], other[2:])) if one and other else ()
