"""States the plan as conditions for the C compiler: (condition, name)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.layout.code import BufferCode
from usmp_build.planner.memory.problem import Problem

Check = tuple[str, str]


def placement_checks(model: str, problem: Problem, buffers: Mapping[int, BufferCode]) -> Iterator[Check]:
    """Yield conditions that each buffer is inside its pool, aligned, and apart from those it must not overlap."""
    for number, buffer in buffers.items():
        end = _end(buffer)
        pool = f"{model.upper()}_{buffer.pool.name.upper()}_WORKSPACE_POOL_SIZE"
        yield f"{buffer.macro}_OFFSET >= 0 && {end} <= {pool}", f"{buffer.macro}_is_inside".lower()
        if buffer.row.alignment > 1:
            yield f"{buffer.macro}_OFFSET % {buffer.row.alignment} == 0", f"{buffer.macro}_is_aligned".lower()
        for other, above in _above(problem, buffers, number):
            if (number, other) not in problem.separations:
                yield f"{end} <= {above.macro}_OFFSET", f"{buffer.macro}_is_below_{above.variable}".lower()


def overlap_checks(problem: Problem, buffers: Mapping[int, BufferCode]) -> Iterator[Check]:
    """Yield conditions on distances between starts, where an operator may write over what it has read."""
    for number, buffer in buffers.items():
        for other, above in _above(problem, buffers, number):
            if (number, other) in problem.separations:
                start = _start_plus(buffer, problem.separations[number, other])
                yield f"{start} <= {above.macro}_OFFSET", f"{buffer.macro}_is_clear_of_{above.variable}".lower()


def _above(problem: Problem, buffers: Mapping[int, BufferCode], number: int) -> Iterator[tuple[int, BufferCode]]:
    """Yield the buffers in conflict with this one that are above it in its pool."""
    for other in problem.conflicts[number]:
        above = buffers.get(other)
        if above and above.pool is buffers[number].pool and _is_below(problem, buffers, number, other):
            yield other, above


def _is_below(problem: Problem, buffers: Mapping[int, BufferCode], one: int, other: int) -> bool:
    """Whether `one` counts as the lower of two buffers in conflict; exactly one of each pair does."""
    distance = buffers[other].row.offset - buffers[one].row.offset
    holds, holds_too = distance >= problem.separation(one, other), -distance >= problem.separation(other, one)
    return (distance, other - one) > (0, 0) if holds == holds_too else holds


def _end(buffer: BufferCode) -> str:
    """Return the end of a buffer, or that of its last cache line, which it shares with nothing."""
    end, line = f"{buffer.macro}_OFFSET + {buffer.macro}_BYTES", buffer.row.cache_line
    return f"({end} + {line - 1}) / {line} * {line}" if line else end


def _start_plus(buffer: BufferCode, distance: int) -> str:
    """Return the start of a buffer plus a distance in bytes, which may be negative."""
    further = f" {'+' if distance > 0 else '-'} {abs(distance)}" if distance else ""
    return f"{buffer.macro}_OFFSET{further}"
