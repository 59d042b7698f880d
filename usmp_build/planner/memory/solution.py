"""The result of solving a problem: a plan or none, and what is proven about it."""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from usmp_build.frozen import frozen
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.shortage import Shortage


class Status(Enum):
    """What is known of a problem after solving."""

    OPTIMAL = "OPTIMAL"
    """A plan, and no plan is better: none costs less, and none that costs as little has a smaller sum of peaks."""
    FEASIBLE = "FEASIBLE"
    """A plan; whether there is a better one is not known."""
    INFEASIBLE = "INFEASIBLE"
    """No plan, and there is none: proven."""
    UNKNOWN = "UNKNOWN"
    """No plan was found; whether there is one is not known."""


@frozen
class Solution:
    """The answer to a problem.  Tuples have an entry for each pool; they are empty where there is no plan."""

    status: Status
    plan: Plan | None
    """Checked: every conflict, limit, alignment and fixed offset."""
    peaks: tuple[int, ...] = ()
    """Bytes that the plan uses."""
    witnesses: tuple[Witness, ...] = ()
    """Why a pool with these buffers cannot be smaller than `Witness.bytes`: buffers that lie side by side."""
    claims: tuple[int, ...] = ()
    """Certified bounds: bytes that the algorithm proved to be necessary by a search; 0: none."""
    shortage: Shortage = field(default_factory=Shortage)
    """Without a plan: what is too small, as far as that is known, and whether that is proven."""
    claim: int = 0
    """Without a plan: the certified bound, in bytes, of the pool that is too small; 0 where
    `shortage.witness` is the proof."""
    algorithm: str = ""
    """The name of the algorithm; empty where none had to run."""
    work: int = 0
    """Nodes of the search, or other units that the algorithm documents; the same on every machine."""

    @property
    def bounds(self) -> tuple[int, ...]:
        """Bytes that each pool needs for the buffers it has, in any plan."""
        return tuple(max(witness.bytes, claim) for witness, claim in zip(self.witnesses, self.claims, strict=True))

    @property
    def gaps(self) -> tuple[int, ...]:
        """Bytes of each peak above its bound."""
        return tuple(peak - bound for peak, bound in zip(self.peaks, self.bounds, strict=True))

    @property
    def gap(self) -> int:
        """Bytes above the bounds, all pools together."""
        return sum(self.gaps)
