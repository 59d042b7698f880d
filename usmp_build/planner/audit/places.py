"""Audits places: one for each buffer, in one of its pools, aligned, within the limit, and at its fixed offset."""

from __future__ import annotations

from usmp_build.document.suggest import quoted
from usmp_build.frozen import frozen
from usmp_build.planner.audit.findings import Findings
from usmp_build.planner.audit.question import Audited
from usmp_build.planner.problems.plan_file import Placed, PlanFile


@frozen
class PlannedPlaces:
    """The place of each buffer, by its index in the problem."""

    pools: list[int]
    offsets: list[int]
    stated: list[Placed]


def check_places(question: Audited, plan: PlanFile, findings: Findings) -> PlannedPlaces | None:
    """Check each buffer by itself; return None when a buffer has no place, or one in an unknown pool."""
    by_index, pools = _placed(question, plan, findings)
    missing = [name for name, index in question.indices.items() if index not in by_index]
    if missing and not findings:
        more = f", nor have {len(missing) - 1:,} others" if len(missing) > 1 else ""
        findings.add("V101", f"buffer {quoted(missing[0])} has no place{more}", ())
    if findings:
        return None
    order = range(len(question.indices))
    places = PlannedPlaces([pools[i] for i in order], [by_index[i].offset for i in order], [by_index[i] for i in order])
    for index in order:
        _check_place(question, index, places, findings)
    return places


def _placed(question: Audited, plan: PlanFile, findings: Findings) -> tuple[dict[int, Placed], dict[int, int]]:
    """Return the place and the pool of each buffer that has one; report places of nothing, and unknown pools."""
    by_index: dict[int, Placed] = {}
    only = question.pools[0].name if len(question.pools) == 1 else ""
    pools: dict[int, int] = {}
    for placed in plan.placed:
        index = question.indices.get(placed.name)
        pool = question.numbers.get(placed.pool or only)
        if index is None:
            findings.add("V101", f"the problem has no buffer {quoted(placed.name)}", placed.place)
        elif index in by_index:
            findings.add("V101", f"buffer {quoted(placed.name)} has two places", placed.place)
        elif pool is None:
            message = f"buffer {quoted(placed.name)} is in pool {quoted(placed.pool)}, which the problem does not have"
            findings.add("V102", message, placed.place, "pool")
        else:
            by_index[index], pools[index] = placed, pool
    return by_index, pools


def _check_place(question: Audited, index: int, places: PlannedPlaces, findings: Findings) -> None:
    buffer, placed, offset = question.buffer(index), places.stated[index], places.offsets[index]
    pool = question.pools[places.pools[index]]
    end = offset + buffer.size
    if places.pools[index] not in buffer.pools:
        allowed = ", ".join(question.pools[candidate].name for candidate in buffer.pools)
        message = f"is in pool {pool.name}, but may only be in: {allowed}"
        findings.add("V102", f"buffer {quoted(buffer.name)} {message}", placed.place, "pool")
    if offset % buffer.alignment:
        message = f"is at {offset:,}, which is not a multiple of its alignment, {buffer.alignment:,}"
        findings.add("V103", f"buffer {quoted(buffer.name)} {message}", placed.place, "offset")
    if offset < 0:
        message = f"is at {offset:,}, before the start of {pool.name}"
        findings.add("V104", f"buffer {quoted(buffer.name)} {message}", placed.place, "offset")
    if pool.limit is not None and end > pool.limit:
        message = f"is at [{offset:,}, {end:,}), but {pool.name} has {pool.limit:,} bytes"
        findings.add("V104", f"buffer {quoted(buffer.name)} {message}", placed.place, "offset")
    if buffer.offset is not None and offset != buffer.offset:
        message = f"is at {offset:,}, but must be at {buffer.offset:,}"
        findings.add("V105", f"buffer {quoted(buffer.name)} {message}", placed.place, "offset")
