"""The default algorithm: first fit in fast orders, exact search within a small budget, then improved orders."""

from __future__ import annotations

from dataclasses import field, replace

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.exact.pools import Known, plan_pools
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.algorithms.sweep import swept
from usmp_build.planner.algorithms.timelines import plan_as_timeline
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import pool_bounds
from usmp_build.planner.memory.limits import excess, with_limits
from usmp_build.planner.memory.plan import Plan, quality, still_proven
from usmp_build.planner.memory.problem import Problem


@frozen
class Auto:
    """Combines the other algorithms: instant on easy problems, exact where the budget allows, always bounded."""

    rounds: int = 64
    """Most improvements of each order where the exact search did not finish."""
    minimize: bool = True
    """Whether to look for the best plan; False: any plan that fits will do."""
    _known: Known = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError when `rounds` is negative."""
        if self.rounds < 0:
            raise ValueError(f'"rounds" must be at least 0, not {self.rounds}')

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Return the best plan found; `Plan.algorithm` names the algorithm that found it."""
        if _have_several_pools(problem):
            first = self._plan(problem, effort.AUTO_SEVERAL_POOLS, effort.PORTFOLIO_VISITS)
            if first is None or not self._is_open(problem, first):
                return first
            nodes = _nodes(len(problem.buffers), effort.AUTO_SEVERAL_POOLS_OPEN)
            longer = plan_pools(problem, nodes, first, known=self._known)
            return _better(problem, longer and _named(longer), first)
        work = min(effort.AUTO_ONE_POOL_NODES * len(problem.buffers), effort.AUTO_ONE_POOL_MOST)
        work = max(effort.AUTO_ONE_POOL, work)
        if not self.minimize:
            return self._plan(problem, effort.AUTO_DECISION * work, effort.PORTFOLIO_VISITS)
        best = self._plan(problem, work, effort.PORTFOLIO_VISITS)
        return best if best is None else self._at_bounds(problem, best, effort.AUTO_DECISION * work)

    def _at_bounds(self, problem: Problem, best: Plan, work: int) -> Plan:
        """Return a plan that ends at the bounds of all pools, if one is found; it is searched for where that is close.

        A search for the least peak divides its work among capacities; this one spends all of it on one.
        """
        claims = best.claims or (0,) * len(problem.pools)
        bounds = [max(witness.bytes, claim) for witness, claim in zip(pool_bounds(problem, best), claims, strict=True)]
        limited = with_limits(problem, bounds)
        over = excess(limited, best)
        if not over or any(by > bounds[pool] // effort.AUTO_CLOSE for pool, by in over.items()):
            return best
        tight = plan_pools(limited, _nodes(len(problem.buffers), work), minimize=False)
        if tight is None:
            return best
        return replace(tight, algorithm="auto: exact", work=best.work + tight.work, bound=best.bound)

    def brief(self, problem: Problem, /) -> Plan | None:
        """Return a plan with less work, for callers that plan often; on easy problems it is still the best one."""
        return self._plan(problem, effort.AUTO_BRIEF[_have_several_pools(problem)], effort.PORTFOLIO_VISITS // 5)

    def moderate(self, problem: Problem, /) -> Plan | None:
        """Return a plan with less exact search, for problems in which bounds are seldom reached."""
        work = effort.AUTO_MODERATE[_have_several_pools(problem)]
        most = max(effort.AUTO_MODERATE_LEAST, effort.AUTO_MODERATE_NODES * len(problem.buffers) ** 2)
        return self._plan(problem, min(work, most), effort.PORTFOLIO_VISITS)

    def _plan(self, problem: Problem, work: int, visits: int) -> Plan | None:
        first = plan_as_timeline(problem) if len(problem.buffers) > effort.AUTO_PLACED_TWICE else None
        if first is not None and not self._is_open(problem, first):
            return _named(first)
        sweep_visits = effort.SWEEP_VISITS * visits // effort.PORTFOLIO_VISITS
        first = _better(problem, first, portfolio(problem, rounds=0) or _packed_along_time(problem, sweep_visits))
        best = plan_pools(problem, _nodes(len(problem.buffers), work), first, self.minimize, self._known)
        if best is not None and self._is_open(problem, best):
            best = swept(problem, best, sweep_visits)
        if self._is_open(problem, best):
            best = _better(problem, best, portfolio(problem, self.rounds, visits))
        return None if best is None else _named(best)

    def _is_open(self, problem: Problem, best: Plan | None) -> bool:
        return best is None or (self.minimize and not is_best(problem, best))


def _named(plan: Plan) -> Plan:
    """Return a plan that says which algorithm made it, and that this one chose it."""
    name = plan.algorithm.removeprefix("auto: ")
    return replace(plan, algorithm=f"auto: {name}" if name else "auto")


def _have_several_pools(problem: Problem) -> bool:
    return any(len(buffer.pools) > 1 for buffer in problem.buffers)


def _nodes(count: int, work: int) -> int:
    """Return the search budget in nodes for `count` buffers: enough to place each of them twice where that is cheap."""
    return max(work // max(1, count), 2 * count if count <= effort.AUTO_PLACED_TWICE else 0)


def _packed_along_time(problem: Problem, visits: int) -> Plan | None:
    """Return a plan that packs along time what the fast orders pack too high; None where nothing may overlap."""
    unlimited = with_limits(problem, [None] * len(problem.pools))
    high = portfolio(unlimited, rounds=0) if problem.separations else None
    plan = None if high is None else swept(unlimited, high, visits)
    return None if plan is None or excess(problem, plan) else plan


def _better(problem: Problem, one: Plan | None, other: Plan | None) -> Plan | None:
    """Return the better plan, with the proofs of `one` that hold for it."""
    if one is None or other is None:
        return one or other
    if quality(problem, one) <= quality(problem, other):
        return one
    return replace(other, claims=still_proven(one, other), bound=one.bound, work=one.work)
