"""A plan for people: what the table, plan.json and every comment say."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.layout.buffers import BufferRow
from usmp_build.layout.costs import CostRow, WithoutLimitsRow
from usmp_build.layout.models import ModelRow
from usmp_build.layout.pools import PoolRow, WorkspaceRow


@dataclass(frozen=True, slots=True)
class Summary:
    """A plan, ready for people: what the table, plan.json and every comment say."""

    project: str
    macro: str
    version: str
    """Of usmp_build."""
    manifest: str
    algorithm: str
    optimal: bool
    """Every pool is at its bound."""
    best: bool
    """No plan in these pools is better: none costs less, and none that costs as little needs less.  Proven."""
    other_buffers: bool
    """Copies, or parts of tensors, could have been chosen otherwise: proofs are of these buffers."""
    work: int
    """What the search of the algorithm looked at, in units that it explains."""
    pools: tuple[PoolRow, ...]
    workspace: WorkspaceRow
    buffers: tuple[BufferRow, ...]
    repeated_constants: int
    """Bytes of constants that are stored once for several tensors, counted once less than these are."""
    steps: tuple[str, ...]
    """The timeline: the name of every step."""
    models: tuple[ModelRow, ...]
    concurrent: tuple[tuple[str, str], ...]
    """Models that may run at the same time, by name."""
    concurrent_workspace: int
    """Bytes of workspace that this costs."""
    cost: CostRow
    without_limits: WithoutLimitsRow | None
    """None where every buffer is where it costs least."""

    @property
    def most_workspaces(self) -> int:
        """The most workspace pools that one model uses."""
        return max((sum(pool.access == "rw" for pool, _ in model.pools) for model in self.models), default=0)

    def moved(self, pool: str) -> tuple[int, int]:
        """Return the bytes read and written of a pool in one run of every model."""
        rows = [row for model in self.models for row in model.traffic if row.pool == pool]
        return sum(row.read for row in rows), sum(row.written for row in rows)
