"""The exact algorithm: the best plan, with a proof, or the best it found and what is proven of all others."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.planner.algorithms.exact.pools import plan_pools
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem


@dataclass(frozen=True, slots=True)
class Exact:
    """Branch and bound, from the best plan of the portfolio on."""

    nodes: int = 200_000
    """Nodes of the search tree that may be looked at, all pools together."""
    minimize: bool = True
    """Whether any plan that fits will not do."""

    def __post_init__(self) -> None:
        """Raise ValueError when the search has a bound that is none."""
        if self.nodes < 0:
            raise ValueError(f'"nodes" must be at least 0, not {self.nodes}')

    def __call__(self, problem: Problem, /) -> Plan | None:
        """Return the best plan found; None when there is none, or none was found."""
        start = portfolio(problem) if self.minimize else None
        return plan_pools(problem, self.nodes, start, self.minimize)
