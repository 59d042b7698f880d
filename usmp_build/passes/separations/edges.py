"""Computes how close other buffers may be to a tensor in one piece that is read, or written, row by row.

The rows of the input of a model die one after the other, and those of an output are born so:

    step          3    4    5    6    7
    input    0    [====)                       what is above the input's first live row at every step may begin there
             1    [=========)
             2    [==============)
    row                [=========)             written in step 4: it may lie over row 0, and over row 1 as far as the
                                               kernel has read it

At each step both buffers have regions that hold data.  With one buffer below the other, no region of it may end above
where one of the other begins; only the row that is written may come closer to a row that is read for the last time, as
close as the kernel allows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.ir.lifetimes import Interval, Lifetimes
from usmp_build.ir.schedule import RowRef, Sequence, Step
from usmp_build.ir.separations import Separation
from usmp_build.passes.separations.allowed import AllowedDistances, straight
from usmp_build.passes.separations.distances import Distance

Entries = dict[tuple[int, int], Separation]
Row = tuple[int, int]
"""A buffer, and a row of it; a buffer that is no edge has one row."""


def edge_separations(allowed: AllowedDistances, program: Sequence, start: int, lifetimes: Lifetimes) -> Entries:
    """Return the pairs of buffers with an edge of a model in them that may be closer than the size of the lower one.

    They depend on the order and the directions of rows only; `start` is the first step of the model's program.
    """
    timeline = _Timeline(allowed, lifetimes)
    for step, at in straight(program, start):
        timeline.add(step, at)
    entries: Entries = {}
    for edge in timeline.edges():
        for other in range(len(lifetimes.intervals)):
            if other != edge:
                entries.update(timeline.pair(edge, other))
    return entries


@frozen
class _Life:
    """The steps from the first to the last that touch a row."""

    first: int
    last: int


class _Timeline:
    """The lives of all rows of edges, and what jobs allow."""

    def __init__(self, allowed: AllowedDistances, lifetimes: Lifetimes) -> None:
        self._allowed = allowed
        self._storage = allowed.storage
        self._intervals = lifetimes.intervals
        self._row_bytes = {
            edge: self._storage.buffers[edge].size // rows
            for edge, rows in allowed.edges().items()
            if len(self._intervals[edge]) == 1
        }
        """Edge of any model → bytes of a row."""
        self._sizes = [buffer.extent for buffer in self._storage.buffers]
        """Bytes of each buffer; of an edge, those of a row."""
        for edge, bytes_ in self._row_bytes.items():
            self._sizes[edge] = bytes_
        self._lives: dict[Row, _Life] = {}
        self._near: dict[int, dict[tuple[Row, Row], Distance]] = {}
        self._close: dict[int, dict[tuple[Row, Row], int | None]] = {}
        self._jobs: dict[int, list[tuple[int, Step]]] = {}
        self._cached: dict[tuple[int, int], tuple[Row, ...]] = {}
        self._profiles: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        self._closely: dict[int, list[int]] = {}

    def edges(self) -> list[int]:
        return [*self._jobs]

    def add(self, step: Step, at: int) -> None:
        for value in step.values:
            for buffer in self._storage.buffers_of(value):
                if buffer in self._row_bytes:
                    rows = [value.row] if isinstance(value, RowRef) else range(self._storage.edges[buffer])
                    for row in rows:
                        life = self._lives.get((buffer, row))
                        self._lives[buffer, row] = _Life(life.first if life else at, at)
                    if step.job is not None:
                        self._jobs.setdefault(buffer, []).append((at, step))
        for written, read, distance in self._allowed.of_rows(step):
            self._near.setdefault(at, {})[self._row(written), self._row(read)] = distance

    def _row(self, value: RowRef) -> Row:
        buffer = self._storage.buffers_of(value).start
        return (buffer, value.row) if buffer in self._row_bytes else (buffer, 0)

    def pair(self, edge: int, other: int) -> Iterator[tuple[tuple[int, int], Separation]]:
        """Yield the separations of an edge and another buffer, if they may overlap."""
        if not self._allowed.may_overlap(edge, other):  # it tells constants apart, which meet the edge at every step
            return
        meetings = [meeting for life in self._intervals[other] if (meeting := self._meeting(edge, life))]
        if not meetings:
            return
        for below, above in ((edge, other), (other, edge)):
            bytes_, at = max(self._farthest(below, above, meeting) for meeting in meetings)
            if bytes_ < self._storage.buffers[below].extent:
                job = self._job_at(edge, at)
                assert job.operator is not None
                yield (below, above), Separation(bytes_, job.operator, job.direction)

    def _meeting(self, edge: int, life: Interval) -> range:
        (of_edge,) = self._intervals[edge]
        return range(max(of_edge.start, life.start), min(of_edge.stop, life.stop))

    def _farthest(self, below: int, above: int, meeting: range) -> tuple[int, int]:
        """Return the largest minimum distance of all steps of a meeting, and the last step that needs it.

        Only at a step in which a row of the one is written, and one of the other is read, they may be closer than the
        rows of theirs that are alive.
        """
        if below in self._row_bytes and above in self._row_bytes:
            return max((self._minimum_distance(below, above, t), t) for t in meeting)
        top, bottom = self._profile(below)[1], self._profile(above)[0]
        apart = (top[meeting.start : meeting.stop] - bottom[meeting.start : meeting.stop]).copy()
        for t in self._meeting_closely(below if above in self._row_bytes else above, meeting):
            apart[t - meeting.start] = self._minimum_distance(below, above, t)
        last = len(apart) - 1 - int(apart[::-1].argmax())
        return int(apart[last]), meeting.start + last

    def _profile(self, buffer: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each step where the first row that is alive begins, and where the last one ends."""
        if buffer not in self._profiles:
            steps = max(interval.stop for intervals in self._intervals for interval in intervals)
            begins, ends = np.zeros(steps, np.int64), np.full(steps, self._sizes[buffer], np.int64)
            rows = [(row, self._lives.get((buffer, row))) for row in range(self._storage.edges.get(buffer, 0))]
            alive = [(row, life) for row, life in rows if life is not None and buffer in self._row_bytes]
            for row, life in reversed(alive):
                begins[life.first : life.last + 1] = self._begin((buffer, row))
            for row, life in alive:
                ends[life.first : life.last + 1] = self._begin((buffer, row)) + self._sizes[buffer]
            self._profiles[buffer] = begins, ends
        return self._profiles[buffer]

    def _meeting_closely(self, buffer: int, meeting: range) -> list[int]:
        """Return the steps of a meeting in which a buffer without rows is written or read closely."""
        if not self._closely:
            for at, pairs in self._near.items():
                for each in {row[0] for pair in pairs for row in pair}:
                    self._closely.setdefault(each, []).append(at)
        closely = self._closely.get(buffer, [])
        return closely[bisect_left(closely, meeting.start) : bisect_left(closely, meeting.stop)]

    def _minimum_distance(self, below: int, above: int, at: int) -> int:
        """Return the minimum distance from the start of `below` to that of `above` at one step."""
        close = self._close_at(at)
        distance = -self._storage.buffers[above].extent
        for lower in self._rows(below, at):
            end = self._begin(lower) + self._sizes[below]
            for upper in self._rows(above, at):
                nearest = close.get((lower, upper), end)
                if nearest is not None:
                    distance = max(distance, nearest - self._begin(upper))
        return distance

    def _close_at(self, at: int) -> dict[tuple[Row, Row], int | None]:
        """Return the pairs of rows (lower, upper) that may be closer at a step, each with where the upper may begin.

        None: anywhere.
        """
        if at not in self._close:
            close = self._close[at] = {}
            for (written, read), distance in self._near.get(at, {}).items():
                if self._is_born(written, at) and self._is_dying(read, at):
                    below, above = distance.written_below, distance.written_above
                    close[written, read] = None if below is None else self._begin(written) + below
                    close[read, written] = None if above is None else self._begin(read) + above
        return self._close[at]

    def _rows(self, buffer: int, at: int) -> tuple[Row, ...]:
        """Return the rows that matter at a step: those that it touches, and of others alive the first and the last."""
        if buffer not in self._row_bytes:
            return ((buffer, 0),)
        if (buffer, at) not in self._cached:
            touched = {row for pair in self._near.get(at, {}) for row in pair if row[0] == buffer}
            begins, ends = self._profile(buffer)
            span = range(int(begins[at]) // self._sizes[buffer], int(ends[at]) // self._sizes[buffer])
            ends_of_others = (self._first_other(buffer, at, rows, touched) for rows in (span, reversed(span)))
            alive = {row for row in touched if self._is_alive(row, at)}
            self._cached[buffer, at] = tuple(alive.union(row for row in ends_of_others if row is not None))
        return self._cached[buffer, at]

    def _first_other(self, buffer: int, at: int, rows: Iterable[int], touched: set[Row]) -> Row | None:
        """Return the first of some rows that is alive at a step, and not touched."""
        each = ((buffer, row) for row in rows)
        return next((row for row in each if row not in touched and self._is_alive(row, at)), None)

    def _is_alive(self, row: Row, at: int) -> bool:
        life = self._lives.get(row)
        return life is not None and life.first <= at <= life.last

    def _begin(self, row: Row) -> int:
        return row[1] * self._sizes[row[0]]

    def _is_born(self, row: Row, at: int) -> bool:
        life = self._lives.get(row)
        return life.first == at if life else any(life.start == at for life in self._intervals[row[0]])

    def _is_dying(self, row: Row, at: int) -> bool:
        life = self._lives.get(row)
        return life.last == at if life else any(life.stop == at + 1 for life in self._intervals[row[0]])

    def _job_at(self, edge: int, at: int) -> Step:
        """Return the job that lets a pair overlap at a step: the one that touched the edge last."""
        jobs = self._jobs[edge]
        return jobs[max(0, bisect_right(jobs, at, key=lambda job: job[0]) - 1)][1]
