"""Chooses the direction in which each operator goes through its output, by branch and bound over relaxed plans.

In the *relaxed* problem every pair of buffers may come as close as either direction allows.  It is solved like any
other; whether its plan puts an output below or above an input decides the direction that the operator must take:

    input            |==========|                      input   |==========|
    output    |=========|          forward             output      |==========|    backward

If no operator needs both directions, the plan is valid for these directions.  Else the search branches on an operator
that needs both: forward, or backward.  Branches whose relaxed plan is no better than the incumbent are pruned.  So when
the search completes, no directions make a better plan; it is bounded by work, never by time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import TypeAlias

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Direction, steps
from usmp_build.passes import DirectedSeparations
from usmp_build.passes.effects import Effects, members_of
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import required
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.plan import Plan, quality
from usmp_build.planner.memory.problem import Problem

Directions: TypeAlias = Mapping[OperatorRef, Direction]

_CACHED_PROBLEMS = 4
"""Number of problems cached: all forward, all backward and all undecided are needed repeatedly."""


class PlanBudget:
    """An algorithm, and the number of plans that it may still make."""

    def __init__(self, algorithm: Callable[[Problem], Plan | None], plans: int = effort.DIRECTION_PLANS) -> None:
        self._algorithm = algorithm
        self.left = plans

    def plan(self, problem: Problem) -> Plan | None:
        """Solve a problem, and charge the budget for its size and the work done."""
        size = len(problem.buffers) + sum(map(len, problem.conflicts))
        plan = self._algorithm(problem)
        has_choice = any(len(buffer.pools) > 1 for buffer in problem.buffers)
        work_charge = effort.DIRECTION_PLANS_UNSOLVED
        if plan:
            work_charge = plan.work * len(problem.buffers) // effort.DIRECTION_NODES[has_choice]
        self.left -= 1 + size // effort.DIRECTION_VISITS + work_charge
        return plan


@frozen
class Reversible:
    """The reversible operators, and the problem for each choice of directions."""

    pairs: Mapping[OperatorRef, tuple[tuple[int, int], ...]]
    """For each operator, in the order in which they run, the pairs of its buffers that may overlap."""
    problem_with: Callable[[Directions], Problem]
    """Returns the problem with these directions."""
    is_apart: bool = False
    """Whether each model has a single pool, so that buffers cannot move from one pool to another."""

    def rank(self, problem: Problem, plan: Plan) -> tuple[int, ...]:
        """Rank a plan of all these buffers."""
        return ranked(quality(problem, plan), is_apart=self.is_apart)

    def bound(self, plan: Plan) -> tuple[int, ...]:
        """Return a lower bound on the rank of all plans, as far as the algorithm proved one."""
        return ranked(plan.bound, is_apart=self.is_apart)

    def relaxed(self, fixed: Directions) -> Directions:
        """Return directions that leave all operators undecided that are not fixed."""
        return {operator: fixed.get(operator, Direction.EITHER) for operator in self.pairs}

    def required_directions(
        self, plan: Plan, fixed: Directions
    ) -> tuple[dict[OperatorRef, Direction], list[OperatorRef]]:
        """Return the direction of each operator that a relaxed plan requires, and the operators that need both."""
        problems = [(each, self.problem_with({**dict.fromkeys(self.pairs, each), **fixed})) for each in _BOTH]
        needed_directions: dict[OperatorRef, Direction | None] = {
            operator: next((each for each, problem in problems if self._is_kept(problem, plan, operator)), None)
            for operator in self.pairs
        }
        directions = _alternating({**needed_directions, **fixed})
        both = [operator for operator in self.pairs if operator not in fixed and needed_directions[operator] is None]
        if not both:
            problem = self.problem_with(directions)  # several operators may touch one pair
            both = [o for o in self.pairs if o not in fixed and not self._is_kept(problem, plan, o)]
        both.sort(key=lambda operator: -max(_end(problems[0][1], plan, pair) for pair in self.pairs[operator]))
        return directions, both

    def _is_kept(self, problem: Problem, plan: Plan, operator: OperatorRef) -> bool:
        return all(_apart(problem, plan, pair) for pair in self.pairs[operator])


def ranked(quality_: tuple[int, ...], *, is_apart: bool) -> tuple[int, ...]:
    """Return a quality or its bound, without the sum of peaks if pools are apart: it is minimal if each peak is."""
    return (*quality_[:1], *quality_[2:]) if is_apart else quality_


_BOTH = (Direction.FORWARD, Direction.BACKWARD)


def _alternating(needed_directions: Mapping[OperatorRef, Direction | None]) -> dict[OperatorRef, Direction]:
    """Give operators that need both the opposite of the preceding one: in a chain, directions alternate."""
    directions: dict[OperatorRef, Direction] = {}
    previous = Direction.BACKWARD
    for operator, direction in needed_directions.items():
        previous = _other(previous) if direction is None else direction
        directions[operator] = previous
    return directions


def _other(direction: Direction) -> Direction:
    return Direction.FORWARD if direction is Direction.BACKWARD else Direction.BACKWARD


def _apart(problem: Problem, plan: Plan, pair: tuple[int, int]) -> bool:
    a, b = pair
    one, other = plan.allocations[a], plan.allocations[b]
    distance = other.offset - one.offset
    return one.pool != other.pool or distance >= problem.separation(a, b) or -distance >= problem.separation(b, a)


def _end(problem: Problem, plan: Plan, pair: tuple[int, int]) -> int:
    return max(plan.allocations[index].offset + problem.buffers[index].size for index in pair)


@frozen
class DirectionResult:
    """The result of the search."""

    directions: Directions | None
    """None: nothing better than the given rank."""
    plan: Plan | None
    rank: tuple[int, ...] | None
    """`Reversible.rank` of the best plan, whether of the search or given; None if there is none."""
    bound: tuple[int, ...]
    """Lower bound on the rank of plans in all directions; empty: unknown."""


def direct(
    free: Reversible, budget: PlanBudget, rank: tuple[int, ...] | None = None, plan: Plan | None = None
) -> DirectionResult:
    """Search directions with a plan whose rank is below `rank`; `plan` is one of that rank, if available."""
    if plan is not None and rank is not None and _is_best_of_all(free, plan):
        return DirectionResult(None, None, rank, rank)
    return _Search(free, budget, rank).run()


def _is_best_of_all(free: Reversible, plan: Plan) -> bool:
    """Tell whether a bound proves that no directions make a better plan."""
    return not free.pairs or is_best(free.problem_with(free.relaxed({})), replace(plan, claims=(), bound=()))


class _Search:
    def __init__(self, free: Reversible, budget: PlanBudget, rank: tuple[int, ...] | None) -> None:
        self._free = free
        self._budget = budget
        self._rank = rank
        self._best: tuple[Directions, Plan] | None = None
        self._bounds: list[tuple[int, ...]] = []
        """Lower bounds of all branches that were pruned or closed."""

    def run(self) -> DirectionResult:
        """Branch until nothing is open, or the budget is used up."""
        open_: list[tuple[tuple[int, ...], Directions]] = [((), {})]
        while open_:
            bound, fixed = open_.pop()
            if (self._rank is not None and bound >= self._rank) or self._budget.left <= 0:
                self._bounds.append(bound)
            else:
                open_ += self._branches(bound, fixed)
        directions, plan = self._best or (None, None)
        closed = [*self._bounds, *([self._rank] if self._rank is not None else [])]
        return DirectionResult(directions, plan, self._rank, min(closed, default=()))

    def _branches(self, bound: tuple[int, ...], fixed: Directions) -> Iterator[tuple[tuple[int, ...], Directions]]:
        """Solve the relaxation of a branch; yield the branches that remain, the most promising one last."""
        relaxed = self._free.problem_with(self._free.relaxed(fixed))
        plan = self._budget.plan(relaxed)
        if plan is None:
            if not any(requirement.missing for requirement in required(relaxed)):
                self._bounds.append(bound)
            return
        rank = self._free.rank(relaxed, plan)
        bound = max(bound, rank if is_best(relaxed, plan) else self._free.bound(plan))
        if not self._is_better(rank):
            self._bounds.append(bound)
            return
        directions, both = self._free.required_directions(plan, fixed)
        if not both:
            self._keep(directions, plan, rank)
            self._bounds.append(bound)
            return
        problem = self._free.problem_with(directions)
        guess = self._budget.plan(problem)
        if guess is not None and self._is_better(rank := self._free.rank(problem, guess)):
            self._keep(directions, guess, rank)
        for direction in (_other(directions[both[0]]), directions[both[0]]):
            yield bound, {**fixed, both[0]: direction}

    def _is_better(self, rank: tuple[int, ...]) -> bool:
        return self._rank is None or rank < self._rank

    def _keep(self, directions: Directions, plan: Plan, rank: tuple[int, ...]) -> None:
        self._best, self._rank = (directions, plan), rank


def reversible(analysis: Analysis, members: Sequence[int]) -> Reversible:
    """Return the choices of directions for the buffers `members`; problems are restricted to these."""
    part = restricted(analysis.problem, members)
    position = {old: new for new, old in enumerate(members)}
    touched = _touched(analysis, position)
    directed = DirectedSeparations(analysis, touched)

    def problem_with(directions: Directions) -> Problem:
        changed = {ref: each for ref, each in directions.items() if analysis.choices.direction(ref) is not each}
        return cached_problem(frozenset(changed.items())) if changed else part

    @lru_cache(maxsize=_CACHED_PROBLEMS)
    def cached_problem(directions: frozenset[tuple[OperatorRef, Direction]]) -> Problem:
        separations = directed.towards(dict(directions)).bytes().items()
        near = {(position[a], position[b]): n for (a, b), n in separations if a in position and b in position}
        return replace(part, separations=near)

    pairs = _pairs(touched, [problem_with(dict.fromkeys(touched, direction)) for direction in Direction])
    return Reversible(pairs, problem_with, are_apart(analysis, members))


def _pairs(
    touched: Mapping[OperatorRef, Collection[int]], problems: Iterable[Problem]
) -> dict[OperatorRef, tuple[tuple[int, int], ...]]:
    """Return the pairs of each operator that any of the problems lets overlap; no operators that have none."""
    near = {(min(pair), max(pair)) for problem in problems for pair in problem.separations}
    of_each = {
        operator: tuple(pair for pair in combinations(sorted(buffers), 2) if pair in near)
        for operator, buffers in touched.items()
    }
    return {operator: pairs for operator, pairs in of_each.items() if pairs}


def are_apart(analysis: Analysis, members: Sequence[int]) -> bool:
    """Tell whether each model has a single candidate pool for all of these buffers."""
    pools: dict[int, set[int]] = {}
    for index in members:
        for model in analysis.storage.buffers[index].models:
            pools.setdefault(model, set()).update(analysis.problem.buffers[index].pools)
    return all(len(of_model) == 1 for of_model in pools.values())


def _touched(analysis: Analysis, position: Mapping[int, int]) -> dict[OperatorRef, set[int]]:
    """Return the reversible operators, in the order in which they run, with the buffers that they touch.

    Those that run row by row are not: their rows would run in another order.
    """
    effects = Effects(analysis.storage)
    touched: dict[OperatorRef, set[int]] = {}
    for step in steps(analysis.schedule.root):
        kernel = analysis.kernels.get(step.operator) if step.operator is not None else None
        is_reversible = isinstance(kernel, Kernel) and kernel.backward is not None and step.job is None
        if step.operator is not None and is_reversible:
            buffers = effects.buffers(step.values) | effects.buffers(step.scratch)
            touched.setdefault(step.operator, {position[b] for b in members_of(buffers) if b in position})
    return touched
