"""Keeps the best plan of several candidates: analyses of the same request with different operator orders.

Constants are alive in all of them, so only the workspace is planned repeatedly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from usmp_build.interfaces.analysis import Analysis
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.limits import cheaper_elsewhere
from usmp_build.planner.memory.plan import Allocation, Plan, of_members, peaks, quality
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Request
from usmp_build.search.analyze import redirect
from usmp_build.search.directions import DirectionResult, PlanBudget, are_apart, direct, ranked, reversible
from usmp_build.search.replanner import Replanner
from usmp_build.units import MAX_BYTES, align_up


class Incumbent:
    """The best plan so far, and the lower bounds of all candidates."""

    def __init__(self, replanner: Replanner, first: Analysis, plan: Plan | None) -> None:
        """Start with the first candidate, and its plan if it has one."""
        self._request = replanner.request
        self._first = first, plan
        self._constants = _constants(first, plan, replanner.glance)
        self._rank: tuple[int, ...] | None = None
        self._bounds: list[tuple[int, ...]] = []
        self.plan = plan
        self.chosen = first
        """The candidate of the plan, with forward directions."""
        self.analysis = first
        """The same candidate, with the directions of the plan."""
        if plan is not None:
            members = first.storage.workspace
            workspace_quality = quality(restricted(first.problem, members), of_members(plan, members))
            self._rank = ranked(workspace_quality, is_apart=are_apart(first, members))

    @property
    def directions_are_proven(self) -> bool:
        """Whether no directions of any candidate make a better plan of the workspace."""
        return self._rank is not None and bool(self._bounds) and min(self._bounds) >= self._rank

    def look(self, candidate: Analysis, budget: PlanBudget, most: int = MAX_BYTES) -> None:
        """Search directions with which a candidate makes a better plan; one with more bytes than `most` is not kept."""
        members = candidate.storage.workspace
        first, first_plan = self._first
        workspace_plan = of_members(first_plan, members) if first_plan is not None and candidate is first else None
        result = direct(reversible(candidate, members), budget, self._rank, workspace_plan)
        self._bounds.append(result.bound)
        plan_of_all = _combined(candidate, members, result, self._constants)
        if plan_of_all is not None and workspace(candidate, plan_of_all) <= most:
            self._rank, self.plan, self.chosen = result.rank, plan_of_all, candidate
            self.analysis = with_directions(self._request, candidate, result)

    def is_least(self, bound: int) -> bool:
        """Whether the plan has the lowest rank of any that needs `bound` bytes of workspace, a lower bound, or more."""
        if self.plan is None or self.workspace_bytes() > bound:
            return False
        members = self.chosen.storage.workspace
        used = {self.plan.allocations[index].pool for index in members}
        preferred = min((pool for index in members for pool in self.chosen.problem.buffers[index].pools), default=0)
        return used <= {preferred} and not cheaper_elsewhere(self.chosen.problem, self.plan)

    def workspace_bytes(self) -> int:
        """Return the bytes of workspace that the plan takes; without a plan, one more than any plan may take."""
        if self.plan is not None:
            return workspace(self.chosen, self.plan)
        problem = restricted(self.chosen.problem, self.chosen.storage.workspace)
        limits = [problem.pools[pool].limit for pool in {pool for buffer in problem.buffers for pool in buffer.pools}]
        most = sum(align_up(buffer.size, buffer.alignment) for buffer in problem.buffers)
        return 1 + sum(most if limit is None else limit for limit in limits)


def workspace(analysis: Analysis, plan: Plan) -> int:
    """Return the bytes of workspace that a plan takes."""
    members = analysis.storage.workspace
    return sum(peaks(restricted(analysis.problem, members), of_members(plan, members)))


def with_directions(request: Request, candidate: Analysis, result: DirectionResult) -> Analysis:
    """Return the analysis of a candidate with the directions of a search."""
    directions = {**candidate.choices.directions, **(result.directions or {})}
    choices = replace(candidate.choices, directions=directions)
    if all(candidate.choices.direction(ref) is direction for ref, direction in directions.items()):
        return replace(candidate, choices=choices)
    return redirect(request, candidate, choices)


def _combined(
    candidate: Analysis, members: Sequence[int], workspace: DirectionResult, constants: Callable[[Problem], Plan | None]
) -> Plan | None:
    """Combine the workspace plan with one of constants, in other pools.  None if either has no plan."""
    if workspace.plan is None:
        return None
    inside = set(members)
    others = [index for index in range(len(candidate.storage.buffers)) if index not in inside]
    constant_plan = constants(restricted(candidate.problem, others))
    if constant_plan is None:
        return None
    allocations: dict[int, Allocation] = dict(zip(members, workspace.plan.allocations, strict=True))
    allocations.update(zip(others, constant_plan.allocations, strict=True))
    return Plan(
        workspace.plan.algorithm,
        tuple(allocations[index] for index in range(len(allocations))),
        _claims(workspace.plan.claims, constant_plan.claims),
        workspace.plan.work + constant_plan.work,
        _bound(workspace.plan.bound, constant_plan.bound),
    )


def _constants(
    first: Analysis, plan: Plan | None, solve: Callable[[Problem], Plan | None]
) -> Callable[[Problem], Plan | None]:
    """Return a planner of constants that keeps those of `plan` in place if that is proven best."""
    if plan is None:
        return solve
    members = first.storage.constants
    constants_problem = restricted(first.problem, members)
    pools = {pool for buffer in constants_problem.buffers for pool in buffer.pools}
    claims = tuple(claim if pool in pools else 0 for pool, claim in enumerate(plan.claims))
    kept = replace(of_members(plan, members), claims=claims)

    @cache
    def plan_of_first() -> Plan:
        if is_best(constants_problem, kept):
            return replace(kept, bound=quality(constants_problem, kept))
        replanned = solve(constants_problem)
        if replanned is None or quality(constants_problem, kept) <= quality(constants_problem, replanned):
            return kept
        return replanned

    def plan_of(problem: Problem) -> Plan | None:
        return plan_of_first() if problem == constants_problem else solve(problem)

    return plan_of


def _claims(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    """Combine claims by pool; each pool has buffers of one plan only; empty means 0 for all."""
    return tuple(map(max, left, right)) if left and right else left or right


def _bound(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Combine bounds of `quality` for buffers that share no pool; empty if one of them is unknown."""
    return (one[0] + other[0], one[1] + other[1], *map(max, one[2:], other[2:])) if one and other else ()
