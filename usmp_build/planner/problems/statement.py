"""Draft → Statement: resolves names to indices, and checks that all parts of a problem are consistent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter

import numpy as np

from usmp_build import effort
from usmp_build.document.faults import Faults, Place
from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, ProblemError, Span
from usmp_build.frozen import frozen
from usmp_build.planner.memory.alive import conflicts, count_pairs
from usmp_build.planner.memory.problem import UNNAMED_POOL, Buffer, Pool, Problem
from usmp_build.planner.memory.timeline import Timeline, most_together
from usmp_build.planner.problems.draft import BufferDraft, Draft
from usmp_build.units import is_power_of_two

MOST_POOLS = 256


@frozen
class Statement:
    """A problem as it was stated."""

    problem: Problem | Timeline
    pools: tuple[Pool, ...]
    """All pools; a timeline has the limit of its only one, but not its name."""
    names: tuple[str, ...]
    """Names of the buffers; a timeline has none."""
    timed: bool
    """Whether two buffers conflict exactly when they are alive at one step."""


def assemble(draft: Draft) -> Statement:
    """Return the problem of a draft.  Raises ProblemError with everything that is wrong."""
    faults = Faults()
    limits = _limits(draft, faults)
    index = _names(draft, faults)
    for buffer in draft.buffers:
        _check_buffer(buffer, limits, draft, faults)
    separations = _separations(draft, index, faults)
    stated_conflicts = _stated_conflicts(draft, index, faults)
    faults.stop()
    pools = tuple(Pool(name, limit) for name, limit in limits.items())
    lifetimes = [tuple(sorted((start, stop) for start, stop, _ in buffer.intervals)) for buffer in draft.buffers]
    pairs = 0 if stated_conflicts is not None else _pairs(lifetimes)
    if pairs > effort.LISTED_PAIRS and _is_plain(draft):
        return Statement(_timeline(draft, pools[0].limit), pools, tuple(index), timed=True)
    check_pairs(pairs, draft.places.span(()))
    conflicts_ = conflicts(lifetimes) if stated_conflicts is None else stated_conflicts
    _check_separations(draft, index, conflicts_, faults)
    faults.stop()
    numbers = {name: number for number, name in enumerate(limits)}
    buffers = tuple(_buffer(b, lifetime, numbers) for b, lifetime in zip(draft.buffers, lifetimes, strict=True))
    return Statement(
        Problem(pools, buffers, conflicts_, separations), pools, tuple(index), timed=stated_conflicts is None
    )


def check_pairs(pairs: int, place: Span) -> None:
    """Raise ProblemError when a problem that is no timeline has too many pairs in conflict."""
    if pairs > effort.MOST_PAIRS:
        message = f"{pairs:,} pairs of buffers are alive together; at most {effort.MOST_PAIRS:,} can be planned"
        help_ = (
            "more may have one interval each, one pool, and alignments that are powers of two, "
            "but no costs, separations or fixed offsets"
        )
        raise ProblemError(Diagnostic("Q111", message, place, help_))


def check_sum(total: int, count: int, place: Span) -> None:
    """Raise ProblemError when `count` buffers of a timeline have too many bytes together, alignments included."""
    if total > most_together(count):
        message = (
            f"the {count:,} buffers have {total:,} bytes together; at most {most_together(count):,} can be counted"
        )
        raise ProblemError(Diagnostic("Q111", message, place, "count in larger units"))


def _limits(draft: Draft, faults: Faults) -> dict[str, int | None]:
    """Return the limits by name of the pool; if no pools are stated, there is one without a limit."""
    limits: dict[str, int | None] = {}
    for pool in draft.pools:
        if pool.name in limits:
            message = f"pool {quoted(pool.name)} is declared twice"
            faults.add("Q109", message, draft.places.span(pool.place), "remove one of the two")
        limits[pool.name] = pool.limit
    if len(limits) > MOST_POOLS:
        place = draft.places.span(draft.pools[MOST_POOLS].place)
        faults.add("Q111", f"there are {len(limits):,} pools; at most {MOST_POOLS} are read", place, "merge some")
    return limits or {UNNAMED_POOL: None}


def _names(draft: Draft, faults: Faults) -> dict[str, int]:
    index: dict[str, int] = {}
    for number, buffer in enumerate(draft.buffers):
        if index.setdefault(buffer.name, number) != number:
            message = f"buffer {quoted(buffer.name)} is declared twice"
            faults.add("Q109", message, draft.places.span(buffer.place), "give each buffer its own name")
    return index


def _check_buffer(buffer: BufferDraft, pools: Mapping[str, int | None], draft: Draft, faults: Faults) -> None:
    span = draft.places.span
    for name in buffer.pools:
        if name not in pools:
            message = f"buffer {quoted(buffer.name)} names pool {quoted(name)}, which does not exist"
            faults.add("Q108", message, span(buffer.place, "pools"), suggestion(name, pools, "the pools are"))
    if len(set(buffer.pools)) < len(buffer.pools):
        message = f"buffer {quoted(buffer.name)} names a pool twice"
        faults.add("Q109", message, span(buffer.place, "pools"), "name each pool once, the most preferred one first")
    if buffer.costs and len(buffer.costs) != len(buffer.pools or pools):
        message = f"buffer {quoted(buffer.name)} has {len(buffer.costs)} costs for {len(buffer.pools or pools)} pools"
        faults.add("Q110", message, span(buffer.place, "costs"), "give a cost for each of its pools, or none")
    if buffer.offset is not None and buffer.offset % buffer.alignment:
        message = f"offset {buffer.offset:,} is not a multiple of the alignment, {buffer.alignment:,}"
        faults.add("Q110", message, span(buffer.place, "offset"), "correct one of the two")
    if not buffer.intervals and draft.conflicts is None:
        message = f"buffer {quoted(buffer.name)} is never alive"
        faults.add("Q105", message, span(buffer.place), "state its intervals, or the conflicts of all buffers")
    last = 0
    for start, stop, place in sorted(buffer.intervals, key=itemgetter(0, 1)):
        if start >= stop:
            message = f"buffer {quoted(buffer.name)} is alive from step {start:,} until before step {stop:,}: never"
            faults.add(
                "Q105", message, span(place, "upper"), "intervals are half-open: `upper` is the first step after"
            )
        elif start < last:
            message = f"buffer {quoted(buffer.name)} has two intervals with step {start:,} in common"
            faults.add("Q105", message, span(place, "lower"), "merge them; if they are two buffers, give each its name")
        last = max(last, stop)


def _stated_conflicts(draft: Draft, index: Mapping[str, int], faults: Faults) -> tuple[tuple[int, ...], ...] | None:
    if draft.conflicts is None:
        return None
    neighbors: list[set[int]] = [set() for _ in draft.buffers]
    for one, other, place in draft.conflicts:
        if _are_buffers((one, other), place, draft, index, faults):
            a, b = index[one], index[other]
            neighbors[a].add(b)
            neighbors[b].add(a)
    return tuple(tuple(sorted(others)) for others in neighbors)


def _separations(draft: Draft, index: Mapping[str, int], faults: Faults) -> dict[tuple[int, int], int]:
    distances: dict[tuple[int, int], int] = {}
    for stated in draft.separations:
        if _are_buffers((stated.below, stated.above), stated.place, draft, index, faults):
            pair = (index[stated.below], index[stated.above])
            size = draft.buffers[pair[0]].size
            if pair in distances:
                message = f"the separation of {quoted(stated.above)} above {quoted(stated.below)} is given twice"
                faults.add("Q109", message, draft.places.span(stated.place), "remove one of the two")
            elif stated.bytes > size:
                message = (
                    f"a separation of {stated.bytes:,} bytes is more than the size of {quoted(stated.below)}, {size:,}"
                )
                help_ = "a separation lets buffers share bytes; to keep more between them, enlarge the lower one"
                faults.add("Q104", message, draft.places.span(stated.place), help_)
            distances[pair] = stated.bytes
    return distances


def _are_buffers(pair: tuple[str, str], place: Place, draft: Draft, index: Mapping[str, int], faults: Faults) -> bool:
    unknown = [name for name in pair if name not in index]
    for name in unknown:
        message = f"there is no buffer {quoted(name)}"
        faults.add("Q108", message, draft.places.span(place), suggestion(name, index, "the buffers are"))
    if not unknown and pair[0] == pair[1]:
        message = f"buffer {quoted(pair[0])} is paired with itself"
        faults.add("Q108", message, draft.places.span(place), "name two buffers")
    return not unknown and pair[0] != pair[1]


def _check_separations(
    draft: Draft, index: Mapping[str, int], conflicts_: tuple[tuple[int, ...], ...], faults: Faults
) -> None:
    """Check that separations are of buffers in conflict: others would have no effect."""
    for stated in draft.separations:
        if index[stated.above] not in conflicts_[index[stated.below]]:
            message = (
                f"{quoted(stated.below)} and {quoted(stated.above)} do not conflict: they share bytes as they like"
            )
            faults.add("Q108", message, draft.places.span(stated.place), "remove this separation, or correct the names")


def _pairs(lifetimes: Iterable[Iterable[tuple[int, int]]]) -> int:
    """Count conflicts; those of buffers with several common intervals count several times."""
    flat = np.array([interval for lifetime in lifetimes for interval in lifetime], dtype=np.int64).reshape(-1, 2)
    return count_pairs(flat[:, 0], flat[:, 1])


def _is_plain(draft: Draft) -> bool:
    simple = all(len(b.intervals) == 1 and b.offset is None and not any(b.costs) for b in draft.buffers)
    aligned = all(is_power_of_two(buffer.alignment) for buffer in draft.buffers)
    return simple and aligned and not draft.separations and len(draft.pools) <= 1


def _timeline(draft: Draft, limit: int | None) -> Timeline:
    """Return a problem with many pairs as a timeline.  Raises ProblemError when it is too large for that, too."""
    check_sum(sum(b.size + b.alignment for b in draft.buffers), len(draft.buffers), draft.places.span(()))
    rows = [(*b.intervals[0][:2], b.size, b.alignment) for b in draft.buffers]
    lower, upper, size, alignment = np.array(rows, dtype=np.int64).T.copy()
    return Timeline(lower, upper, size, alignment, limit)


def _buffer(draft: BufferDraft, lifetime: tuple[tuple[int, int], ...], numbers: Mapping[str, int]) -> Buffer:
    pools = tuple(numbers[name] for name in draft.pools) or tuple(numbers.values())
    costs = draft.costs or (tuple(rank * draft.size for rank in range(len(pools))) if len(pools) > 1 else ())
    return Buffer(draft.name, draft.size, pools, costs, draft.alignment, lifetime, draft.offset)
