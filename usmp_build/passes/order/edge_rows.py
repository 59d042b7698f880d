"""Counts the rows of edges one by one when the bytes of an order are added up.

An edge is an input or output in one piece that operators touch row by row: its rows die, or are born, one after the
other.  Each gets a number beyond those of the buffers; the edge itself counts nothing.

No other buffer fits into a hole of an edge.  So rows between those that a job touches count as touched, too:

    job        0    1    2    3
    reads      0 4  1 5  2 6  3 7     a picture of two planes
    alive      0-7  1-7  2-7  3-7     rows 4 to 6 of the second plane stay as long as there are some of the first
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.schedule import Node, RowRef, Step, Value, steps
from usmp_build.passes.effects import BufferEffect, Effects, bits_of, members_of


class EdgeRows:
    """The buffers of a firmware, with the rows of edges in place of these."""

    def __init__(self, analysis: Analysis) -> None:
        storage, allowed = analysis.storage, analysis.allowed
        self._storage, self._allowed = storage, allowed
        self._effects = Effects(storage)
        self._first: dict[int, int] = {}
        sizes = [buffer.extent for buffer in storage.buffers]
        for edge, rows in allowed.edges().items():
            self._first[edge] = len(sizes)
            sizes += [sizes[edge] // rows] * rows
            sizes[edge] = 0
        self.sizes = tuple(sizes)
        """Bytes of each buffer and row."""
        self._edges = bits_of(self._first)

    def all(self, buffers: int) -> int:
        """Return a set of buffers with all rows of the edges in it."""
        return buffers & ~self._edges | reduce(or_, map(self._rows, members_of(buffers & self._edges)), 0)

    def of(self, node: Node) -> BufferEffect:
        """Return the effect of a node of the schedule on buffers and rows."""
        effect = BufferEffect(*map(self.all, self._effects.of(node)))
        if not self._edges:
            return effect
        jobs = [step for step in steps(node) if step.job is not None]
        return self._of_job(jobs[0], effect) if jobs else effect

    def _of_job(self, step: Step, effect: BufferEffect) -> BufferEffect:
        touched, reads = self._of_values(step.values), self._of_values(step.reads)
        written = self._of_values((*step.writes, *step.updates))
        others = ~reduce(or_, map(self._rows, self._first), 0)
        return BufferEffect(
            effect.needs & others | reads,
            effect.replaces & others | written & ~reads,
            effect.writes & others | written,
            effect.touches & others | touched,
        )

    def near(self, step: Step) -> dict[tuple[int, int], tuple[int, int]]:
        """Return the pairs of rows that may share bytes in a job, at least one of them a row of an edge."""
        return {
            (written, read): (
                max(-self.sizes[read], -self.sizes[read] if below is None else below),
                max(-self.sizes[written], -self.sizes[written] if above is None else above),
            )
            for (written, read), below, above in self._distances(step)
        }

    def _distances(self, step: Step) -> Iterator[tuple[tuple[int, int], int | None, int | None]]:
        for written, read, distance in self._allowed.of_rows(step):
            pair = self._number(written), self._number(read)
            buffers = (self._storage.buffers_of(row).start for row in (written, read))
            if max(pair) >= len(self._storage.buffers) and self._allowed.may_overlap(*buffers):
                yield pair, distance.written_below, distance.written_above

    def _rows(self, edge: int) -> int:
        return ((1 << self._storage.edges[edge]) - 1) << self._first[edge]

    def _of_values(self, values: Iterable[Value]) -> int:
        """Return for each edge the rows from the first to the last one among these values."""
        ends: dict[int, tuple[int, int]] = {}
        for value in values:
            if isinstance(value, RowRef) and (edge := self._storage.tensors.get(value.tensor, -1)) in self._first:
                first, last = ends.get(edge, (value.row, value.row))
                ends[edge] = min(first, value.row), max(last, value.row)
        spans = ((2 << last) - (1 << first) << self._first[edge] for edge, (first, last) in ends.items())
        return reduce(or_, spans, 0)

    def _number(self, value: RowRef) -> int:
        buffer = self._storage.buffers_of(value).start
        return self._first[buffer] + value.row if buffer in self._first else buffer
