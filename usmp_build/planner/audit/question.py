"""Queries of the audited problem, buffer by buffer, whether it lists pairs or is a timeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.planner.problems.statement import Statement


class Audited:
    """A problem and queries of its buffers, conflicts and separations."""

    def __init__(self, statement: Statement, capacity: int | None = None) -> None:
        self.statement = statement
        self.pools = tuple(
            replace(pool, limit=capacity if pool.limit is None else pool.limit) for pool in statement.pools
        )
        self.numbers = {pool.name: index for index, pool in enumerate(statement.pools)}

    @cached_property
    def indices(self) -> dict[str, int]:
        """Indices of buffers by name."""
        return {name: index for index, name in enumerate(self.statement.names)}

    @cached_property
    def alignments(self) -> list[int]:
        """All alignments, ascending, in bytes."""
        stated = self.statement.problem
        if isinstance(stated, Problem):
            return sorted({buffer.alignment for buffer in stated.buffers})
        return sorted(set(stated.alignment.tolist()))

    def buffer(self, index: int) -> Buffer:
        """Return a buffer as the problem states it."""
        stated = self.statement.problem
        if isinstance(stated, Problem):
            return stated.buffers[index]
        lower, upper, size, alignment = (column[index] for column in self._columns)
        return Buffer(self.statement.names[index], size, (0,), (), alignment, ((lower, upper),))

    @cached_property
    def _columns(self) -> tuple[list[int], ...]:
        stated = self.statement.problem
        if isinstance(stated, Problem):
            return ()
        return tuple(column.tolist() for column in (stated.lower, stated.upper, stated.size, stated.alignment))

    def separation(self, below: int, above: int) -> int:
        """Return the least distance, in bytes, from the start of `below` to that of `above` in conflict with it."""
        stated = self.statement.problem
        distances = stated.separations if isinstance(stated, Problem) else {}
        return distances.get((below, above), self.buffer(below).size)

    @property
    def is_timed(self) -> bool:
        """Whether conflicts follow from intervals: two buffers may overlap unless they share a step."""
        stated = self.statement.problem
        return self.statement.timed and not (isinstance(stated, Problem) and stated.separations)

    def conflicts(self, index: int) -> Iterable[int]:
        """Return the stated conflicts of a buffer; empty for timelines."""
        stated = self.statement.problem
        return stated.conflicts[index] if isinstance(stated, Problem) else ()

    def rectangles(self, members: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        """Yield an index for each interval of these buffers, with the interval."""
        for index in members:
            for lower, upper in self.buffer(index).intervals:
                yield index, lower, upper

    def strangers(self, members: list[int], step: int | None) -> tuple[int, int] | None:
        """Return two of these buffers that do not conflict, if any; all are alive at `step` where one is given."""
        if self.statement.timed and step is not None:
            return None
        if self.statement.timed and all(len(self.buffer(index).intervals) == 1 for index in members):
            # if any are apart, the first to end and the last to begin are
            last = max(members, key=lambda index: self.buffer(index).intervals[0][0], default=0)
            first = min(members, key=lambda index: self.buffer(index).intervals[0][1], default=0)
            return None if not members or self._meet(first, last) else (first, last)
        for position, a in enumerate(members):
            conflicts = None if self.statement.timed else set(self.conflicts(a))
            for b in members[position + 1 :]:
                if not (self._meet(a, b) if conflicts is None else b in conflicts):
                    return a, b
        return None

    def is_alive(self, index: int, step: int) -> bool:
        """Whether a buffer is alive at a step."""
        return any(lower <= step < upper for lower, upper in self.buffer(index).intervals)

    def _meet(self, a: int, b: int) -> bool:
        intervals_a, intervals_b = self.buffer(a).intervals, self.buffer(b).intervals
        return any(x < v and u < y for x, y in intervals_a for u, v in intervals_b)
