"""The tables of a report: rows of words and numbers, made of the plan alone; bars are shares of the largest number."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence

from usmp_build.errors import one_line
from usmp_build.frozen import frozen
from usmp_build.layout import BufferRecord, PlanRecord, PoolRecord, RowsRecord
from usmp_build.report.page.places import Place
from usmp_build.units import show_bytes, show_range

_LISTED = 8
"""Rows of a tensor that a cell lists."""


@frozen
class Filling:
    """A buffer, or rows of a tensor, that fill a pool at the step that no plan can make smaller."""

    name: str
    color: int
    rows: str
    size: int
    """Bytes of all of them."""
    places: str
    reason: str


@frozen
class OperatorRow:
    """An operator, or another step."""

    step: str
    """Its name, which `Study.operators` has it by."""
    name: str
    model: str
    jobs: int
    """How many steps it is."""
    occupied: int
    """Most bytes of all workspace pools that hold data in one of them."""


@frozen
class BufferLine:
    """A line of the table of all buffers."""

    name: str
    color: int
    kind: str
    pool: str
    place: str
    size: str
    alive: str
    reason: str


def fillings(plan: PlanRecord, pool: PoolRecord, places: Mapping[str, Place]) -> tuple[Filling, ...]:
    """Return what shows the bound of a pool: the buffers of its certificate, rows of a tensor together."""
    if pool.certificate is None:
        return ()
    members: dict[str, list[Place]] = {}
    for name in pool.certificate.buffers:
        if name in places:
            members.setdefault(places[name].record.name, []).append(places[name])
    rows = [_filling(plan, each) for each in members.values()]
    return tuple(sorted(rows, key=lambda row: (-row.size, row.name)))


def _filling(plan: PlanRecord, members: Sequence[Place]) -> Filling:
    record = members[0].record
    rows = ""
    if isinstance(record, RowsRecord):
        numbers = [str(record.row_at(each.row or 0)) for each in members]
        rows = f"row{'s' if len(numbers) > 1 else ''} {_listed(numbers, ', ')} of {record.rows}"
    return Filling(
        name=one_line(record.name),
        color=color_of(plan, record.model),
        rows=rows,
        size=sum(each.size for each in members),
        places=_listed([show_range(each.offset, each.end) for each in members], " "),
        reason=one_line(record.reason),
    )


def _listed(texts: Sequence[str], between: str) -> str:
    """Join texts, of many only the first ones and the last."""
    return between.join(texts if len(texts) <= _LISTED else [*texts[: _LISTED - 1], "…", texts[-1]])


def operator_rows(plan: PlanRecord, places: Mapping[str, Place]) -> tuple[OperatorRow, ...]:
    """Return the operators in the order in which they first run, with how much memory holds data meanwhile."""
    models: dict[str, str] = {}
    jobs: dict[str, int] = {}
    most: dict[str, int] = {}
    for step, occupied in zip(plan.steps, _occupied(plan, places), strict=True):
        name = f"{step.model}: rows move" if step.kind == "move" else step.text.removesuffix(f", row {step.row}")
        models[name] = step.model
        jobs[name] = jobs.get(name, 0) + 1
        most[name] = max(most.get(name, 0), occupied)
    return tuple(
        OperatorRow(name, one_line(name.removeprefix(f"{models[name]}: ")), models[name], count, most[name])
        for name, count in jobs.items()
    )


def _occupied(plan: PlanRecord, places: Mapping[str, Place]) -> Iterator[int]:
    """Yield for each step the bytes that hold data: what lies under several buffers counts once."""
    edges: list[list[tuple[bool, tuple[str, int, int]]]] = [[] for _ in range(len(plan.steps) + 1)]
    for place in places.values():
        for start, stop in place.intervals:
            edges[start].append((True, (place.pool, place.offset, place.end)))
            edges[stop].append((False, (place.pool, place.offset, place.end)))
    alive, occupied = list[tuple[str, int, int]](), 0
    for changes in edges[:-1]:
        for is_start, extent in sorted(changes):
            if is_start:
                insort(alive, extent)
            else:
                alive.remove(extent)
        occupied = _covered(alive) if changes else occupied
        yield occupied


def _covered(extents: Sequence[tuple[str, int, int]]) -> int:
    """Return how many bytes sorted extents cover."""
    total, pool, covered_to = 0, "", 0
    for name, start, end in extents:
        if name != pool:
            pool, covered_to = name, 0
        total += max(0, end - max(start, covered_to))
        covered_to = max(covered_to, end)
    return total


def constants(plan: PlanRecord) -> tuple[BufferLine, ...]:
    """Return the constants, the largest first."""
    records = [each for each in plan.buffers if isinstance(each, BufferRecord) and each.kind == "constant"]
    return tuple(_line(plan, record) for record in sorted(records, key=lambda each: (-each.size, each.name)))


def buffers(plan: PlanRecord) -> tuple[BufferLine, ...]:
    """Return the buffers that are not constants, in the order of the plan."""
    return tuple(_line(plan, record) for record in plan.buffers if record.kind != "constant")


def _line(plan: PlanRecord, record: BufferRecord | RowsRecord) -> BufferLine:
    if isinstance(record, BufferRecord):
        pool, size = record.pool, show_bytes(record.size)
        place = show_range(record.offset, record.offset + record.size)
    else:
        pool, size = ", ".join(sorted({*record.pools})), f"{record.rows} × {show_bytes(record.row_size)}"
        place = _places_of_rows(record)
    alive = ""
    if record.kind != "constant" and record.intervals:
        start, stop = min(each[0] for each in record.intervals), max(each[1] for each in record.intervals)
        alive = f"{one_line(plan.steps[start].text)} – {one_line(plan.steps[stop - 1].text)}"
    return BufferLine(
        one_line(record.name),
        color_of(plan, record.model),
        record.kind,
        pool,
        place,
        size,
        alive,
        one_line(record.reason),
    )


def _places_of_rows(record: RowsRecord) -> str:
    """Return from where to where rows are, for each pool that has some."""
    offsets: dict[str, list[int]] = {}
    for name, offset in zip(record.pools, record.offsets, strict=True):
        offsets.setdefault(name, []).append(offset)
    extents = {name: show_range(min(each), max(each) + record.row_size) for name, each in sorted(offsets.items())}
    return ", ".join(f"{name} {extent}" if len(extents) > 1 else extent for name, extent in extents.items())


def color_of(plan: PlanRecord, model: str) -> int:
    """Return the number of a model's color: its position."""
    return next((number for number, each in enumerate(plan.models) if each.name == model), 0)
