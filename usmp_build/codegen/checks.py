"""States the plan as conditions for the C compiler: (condition, name)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.layout import Place
from usmp_build.planner.memory.problem import Problem

Check = tuple[str, str]


def place_checks(model: str, problem: Problem, places: Mapping[int, Place]) -> Iterator[Check]:
    """Yield conditions that each buffer is inside its pool, aligned, and apart from those it must not overlap."""
    for number, place in places.items():
        end = _end(place)
        pool = f"{model.upper()}_{place.pool.name.upper()}_WORKSPACE_POOL_SIZE"
        yield f"{place.macro}_OFFSET >= 0 && {end} <= {pool}", f"{place.macro}_is_inside".lower()
        if place.row.alignment > 1:
            yield f"{place.macro}_OFFSET % {place.row.alignment} == 0", f"{place.macro}_is_aligned".lower()
        for other, above in _above(problem, places, number):
            if (number, other) not in problem.separations:
                yield f"{end} <= {above.macro}_OFFSET", f"{place.macro}_is_below_{above.variable}".lower()


def overlap_checks(problem: Problem, places: Mapping[int, Place]) -> Iterator[Check]:
    """Yield conditions on distances between starts, where an operator may write over what it has read."""
    for number, place in places.items():
        for other, above in _above(problem, places, number):
            if (number, other) in problem.separations:
                start = _behind(place, problem.separations[number, other])
                yield f"{start} <= {above.macro}_OFFSET", f"{place.macro}_is_clear_of_{above.variable}".lower()


def _above(problem: Problem, places: Mapping[int, Place], number: int) -> Iterator[tuple[int, Place]]:
    """Yield the buffers in conflict with this one that are above it in its pool."""
    for other in problem.conflicts[number]:
        above = places.get(other)
        if above and above.pool is places[number].pool and _is_below(problem, places, number, other):
            yield other, above


def _is_below(problem: Problem, places: Mapping[int, Place], one: int, other: int) -> bool:
    """Whether `one` counts as the lower of two buffers in conflict; exactly one of each pair does."""
    distance = places[other].row.offset - places[one].row.offset
    holds, holds_too = distance >= problem.separation(one, other), -distance >= problem.separation(other, one)
    return (distance, other - one) > (0, 0) if holds == holds_too else holds


def _end(place: Place) -> str:
    """Return the end of a buffer, or that of its last cache line, which it shares with nothing."""
    end, line = f"{place.macro}_OFFSET + {place.macro}_BYTES", place.row.cache_line
    return f"({end} + {line - 1}) / {line} * {line}" if line else end


def _behind(place: Place, distance: int) -> str:
    """Return the start of a buffer plus a distance in bytes, which may be negative."""
    further = f" {'+' if distance > 0 else '-'} {abs(distance)}" if distance else ""
    return f"{place.macro}_OFFSET{further}"
