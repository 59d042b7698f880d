"""What a search of all pools found and proved."""

from __future__ import annotations

from dataclasses import dataclass, field

from usmp_build.planner.memory.plan import Allocation


@dataclass(slots=True)
class Verdict:
    """The plan and the proofs of a problem, or of a part of it."""

    places: dict[int, Allocation] | None
    """Index of a buffer → place; None when no plan was found."""
    impossible: bool = False
    """Whether it is proven that there is no plan."""
    cost: int = 0
    """A lower bound of the cost, proven."""
    total: int = 0
    """A lower bound of the sum of peaks of plans that cost no more than `cost`, in bytes, proven."""
    peaks: dict[int, int] = field(default_factory=dict)
    """Pool → lower bound of its peak, in bytes, proven for plans of that cost, with peaks of the sum `total` and the
    least ones in less preferred pools."""
    is_lowest: bool = False
    """Whether the plan has these peaks."""
    claims: dict[int, int] = field(default_factory=dict)
    """Pool → bytes that its buffers in this plan need, proven."""
    nodes: int = 0
    """The work of all searches."""

    def include(self, kept: list[int], other: Verdict) -> None:
        """Add the verdict on a family, the buffers `kept` and the pools that only they use."""
        self.impossible |= other.impossible
        self.cost += other.cost
        self.total += other.total
        self.peaks |= other.peaks
        self.claims |= other.claims
        self.nodes += other.nodes
        if other.places is None or self.places is None:
            self.places = None
        else:
            self.places |= {kept[index]: place for index, place in other.places.items()}

    def keep(self, places: dict[int, Allocation]) -> None:
        """Replace the plan by other places; claims stay for pools with the same buffers."""
        for index, place in (self.places or {}).items():
            if place.pool != places[index].pool:
                self.claims.pop(place.pool, None)
                self.claims.pop(places[index].pool, None)
        self.places = places

    def bound(self, pools: int) -> tuple[int, ...]:
        """Return a lower bound of `plan.quality`, proven."""
        return (self.cost, self.total, *(self.peaks.get(pool, 0) for pool in reversed(range(pools))))
