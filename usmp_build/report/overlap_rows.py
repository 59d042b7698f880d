"""Which buffers share bytes while both are alive, and which operator allows it."""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.errors import one_line
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import operator_at
from usmp_build.ir.schedule import Direction
from usmp_build.ir.separations import Separation
from usmp_build.layout import OverlapRow
from usmp_build.planner.memory.plan import Plan


def overlaps(analysis: Analysis, plan: Plan) -> Mapping[int, tuple[OverlapRow, ...]]:
    """Return for each buffer those that it shares bytes with at some step, in the order of buffers."""
    rows_by_buffer: dict[int, dict[int, OverlapRow]] = {}
    for (below, above), allowed in analysis.separations.pairs.items():
        shared = _shared(analysis, plan, below, above)
        distance = plan.allocations[above].offset - plan.allocations[below].offset
        if shared <= 0 or distance < allowed.bytes:
            continue  # they are apart, or it is the other one that lies lower
        assert allowed.direction is not Direction.EITHER  # the chosen analysis has every direction decided
        for one, other in ((below, above), (above, below)):
            rows_by_buffer.setdefault(one, {})[other] = OverlapRow(
                buffer=analysis.storage.buffers[other].name,
                bytes=shared,
                operator=_label(analysis, allowed),
                direction=allowed.direction.value,
                is_lower=one == below,
                separation=allowed.bytes,
                distance=distance,
            )
    return {one: tuple(row for _, row in sorted(others.items())) for one, others in rows_by_buffer.items()}


def _label(analysis: Analysis, allowed: Separation) -> str:
    if isinstance(allowed.operator, str):
        return one_line(allowed.operator)
    op = operator_at(analysis.models, allowed.operator)
    return f"{op.kind} {op.position}"


def _shared(analysis: Analysis, plan: Plan, one: int, other: int) -> int:
    """Return how many bytes are of both buffers, in the plan."""
    places, sizes = zip(*((plan.allocations[b], analysis.storage.buffers[b].size) for b in (one, other)), strict=True)
    if places[0].pool != places[1].pool:
        return 0
    ends = (place.offset + size for place, size in zip(places, sizes, strict=True))
    return int(min(ends) - max(place.offset for place in places))
