"""The exact algorithm: the best plan with a proof, or the best plan found with the bounds that are proven."""

from __future__ import annotations

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.exact.pools import plan_pools
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.algorithms.sweep import swept
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem


@frozen
class Exact:
    """Branch and bound that starts with the best plan of the portfolio, packed again along time."""

    nodes: int = 200_000
    """Most nodes of the search tree that are visited, all pools together."""
    minimize: bool = True
    """Whether to look for the best plan; False: any plan that fits will do."""

    def __post_init__(self) -> None:
        """Raise ValueError when `nodes` is negative."""
        if self.nodes < 0:
            raise ValueError(f'"nodes" must be at least 0, not {self.nodes}')

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Return the best plan found; None when none exists, or none was found."""
        start = portfolio(problem) if self.minimize else None
        if start is not None and not is_best(problem, start):
            start = swept(problem, start, effort.SWEEP_VISITS)
        return plan_pools(problem, self.nodes, start, self.minimize)
