"""Plans buffers that share several pools: each area for the least cost, then all of them for the least peaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from usmp_build import effort
from usmp_build.planner.algorithms.exact.areas import Area, Budget, Limits
from usmp_build.planner.algorithms.exact.heights import Heights, ranked
from usmp_build.planner.algorithms.exact.one_pool import pack
from usmp_build.planner.algorithms.exact.verdict import Verdict
from usmp_build.planner.memory.components import components
from usmp_build.planner.memory.plan import Allocation
from usmp_build.planner.memory.problem import Problem


def plan_areas(problem: Problem, pools: Sequence[int], nodes: int, start: dict[int, Allocation] | None) -> Verdict:
    """Return the best plan and all proofs found within `nodes` nodes; `start` is a plan to begin with, or None."""
    budget = Budget(nodes)
    limits = {pool: problem.pools[pool].limit for pool in pools}
    areas = [Area(problem, component) for component in components(problem, range(len(problem.buffers)))]
    _cheapen(areas, limits, budget, start)
    verdict = Verdict({}, cost=sum(area.bound for area in areas))
    if any(area.cost is None for area in areas):
        verdict.places, verdict.impossible = None, any(area.impossible for area in areas)
    else:
        peaks = _lower(areas, limits, budget, verdict)
        _pack(problem, areas, peaks, budget, verdict)
    verdict.nodes = nodes - budget.left
    return verdict


def _cheapen(areas: list[Area], limits: Limits, budget: Budget, start: dict[int, Allocation] | None) -> None:
    """Search for the cheapest plan of each area; a quarter of the budget is left for peaks."""
    later = budget.share(4)
    for number, area in enumerate(areas):
        if start is not None:
            area.begin(start)
        part = budget.share(len(areas) - number)
        area.cheapen(limits, part)
        budget.left += part.left
    budget.left += later.left


def _lower(areas: list[Area], limits: Limits, budget: Budget, verdict: Verdict) -> dict[int, int]:
    """Lower the peaks without raising the cost; return them."""
    for pool in sorted(limits, reverse=True):
        for area in areas:
            area.repack(pool, limits[pool], budget)
    part = Budget(min(budget.left, max(effort.LOWER_PEAKS_NODES, budget.left // 64)))
    budget.left -= part.left
    heights = Heights(areas, limits, part)
    if all(area.is_cheapest for area in areas):
        verdict.total, *least = heights.lower()
        verdict.peaks = dict(zip(sorted(limits, reverse=True), least, strict=True))
        verdict.is_lowest = (verdict.total, *least) == ranked(heights.best)
    budget.left += part.left
    return dict(zip(sorted(limits), heights.best, strict=True))


def _pack(problem: Problem, areas: list[Area], peaks: Mapping[int, int], budget: Budget, verdict: Verdict) -> None:
    """Set the places of buffers below these peaks, and prove what their pools need."""
    verdict.places = {}
    for pool, peak in peaks.items():
        offsets = {index: at for area in areas for index, at in area.offsets(pool).items()}
        packed = pack(problem, sorted(offsets), peak, max(0, budget.left), offsets)
        budget.left -= packed.nodes
        verdict.claims[pool] = max(packed.bound, verdict.peaks[pool] if verdict.is_lowest else 0)
        verdict.places |= {index: Allocation(pool, at) for index, at in (packed.offsets or offsets).items()}
