"""A plan for people: what the table, plan.json and every comment say."""

from __future__ import annotations

from dataclasses import KW_ONLY

from usmp_build.frozen import frozen
from usmp_build.layout.buffers import BufferRow
from usmp_build.layout.models import ModelRow
from usmp_build.layout.plan_record import CostRow, PlanRecord
from usmp_build.layout.pools import PoolRow


@frozen
class Summary(PlanRecord):
    """A plan, ready for people: what plan.json says, and what the table and comments say besides."""

    _: KW_ONLY
    macro: str
    cost: CostRow
    pools: tuple[PoolRow, ...]
    models: tuple[ModelRow, ...]
    buffers: tuple[BufferRow, ...]
    other_buffers: bool
    """Copies, parts of tensors, or strips could have been chosen otherwise: proofs are of these buffers."""
    is_best: bool
    """No plan of this schedule in these pools, constants included, is better.  Proven."""

    @property
    def is_at_bound(self) -> bool:
        """Whether every pool is as small as its bound."""
        return all(pool.gap == 0 for pool in self.pools)

    @property
    def tool_version(self) -> str:
        """The version of usmp_build."""
        return self.generator.partition(" ")[2]

    @property
    def most_workspaces(self) -> int:
        """The most workspace pools that one model uses."""
        return max((sum(pool.is_workspace for pool, _ in model.pools) for model in self.models), default=0)

    def moved(self, pool: str) -> tuple[int, int]:
        """Return the bytes read and written of a pool in one run of every model."""
        rows = [row for model in self.models for row in model.traffic if row.pool == pool]
        return sum(row.read for row in rows), sum(row.written for row in rows)
