"""Orders jobs lazily, each when a later one needs it, between cuts at which all jobs of the operators so far are done.

    operators     0    1    2  |  3  |  4    5  |  6
                  0 0 1 0 1 2  |  3  |  4 5 4 5 |  6        a stretch of one operator runs as a whole, others row by row

Without a cut, a row of each tensor waits for its readers; at a cut, a whole tensor does, but rows of tensors before it
are gone.  Dynamic programming finds the cuts: what is alive at a cut does not depend on how the jobs before it ran, so
the best stretches up to each cut are parts of the best stretches from there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.passes.order.states import Jobs, OrderState


@frozen
class JobStretch:
    """The jobs between two cuts, of successive operators."""

    operators: range
    """Their positions among the operators that run."""
    jobs: tuple[int, ...]
    """In the order in which they run."""

    @property
    def steps(self) -> int:
        """Number of jobs, where one operator by itself is one job."""
        return len(self.jobs) if len(self.operators) > 1 else 1


@frozen
class _Way:
    """The stretches that lead to a cut."""

    peak: int
    steps: int
    stretch: JobStretch | None
    before: _Way | None

    def stretches(self) -> Iterator[JobStretch]:
        way: _Way | None = self
        while way is not None and way.stretch is not None:
            yield way.stretch
            way = way.before


class Lazy:
    """The lazy orders of jobs, which are grouped by operator, one after the other."""

    def __init__(self, jobs: Jobs, operators: Sequence[int]) -> None:
        """`operators` names the operator of each job."""
        self._predecessors = [job.predecessors for job in jobs.jobs]
        self._groups = [list(group) for _, group in groupby(range(len(operators)), operators.__getitem__)]
        self._states = jobs.states
        self._cuts = [(self._states.first, 0)]
        """For each cut, the state there, and the jobs that are done."""
        for group in self._groups:
            state, done = self._cuts[-1]
            for job in group:
                done |= 1 << job
                state = self._states.after(state, job, done)
            self._cuts.append((state, done))

    def lowest(self) -> tuple[int, ...]:
        """Return the lazy order with the lowest peak."""
        return tuple(job for stretch in self._stretches(None) for job in stretch.jobs)

    def shortest(self, below: int) -> tuple[JobStretch, ...]:
        """Return the stretches with the fewest steps whose peak is below a limit; empty: no peak is."""
        return self._stretches(below)

    def _stretches(self, below: int | None) -> tuple[JobStretch, ...]:
        first, _ = self._cuts[0]
        ways: list[_Way | None] = [_Way(first.size, 0, None, None)]
        for end in range(1, len(self._cuts)):
            ways.append(self._way_to(end, ways, below))
        return tuple(way.stretches())[::-1] if (way := ways[-1]) else ()

    def _way_to(self, end: int, ways: Sequence[_Way | None], below: int | None) -> _Way | None:
        """Return the best way to a cut, given those to the cuts before it; None if no peak is below the limit."""
        best: _Way | None = None
        left = effort.LAZY_STEPS // len(self._groups)
        for start, way in reversed(list(enumerate(ways))):
            operators = range(start, end)
            steps = 1 if len(operators) == 1 else sum(len(self._groups[each]) for each in operators)
            limit = below if below is not None or best is None else best.peak
            if way is None or (len(operators) > 1 and left < steps) or _is_reached(way.peak, limit):
                continue
            if below is not None and best is not None and way.steps + steps >= best.steps:
                continue
            jobs, state = self._run(operators, limit)
            left -= len(jobs) if len(operators) > 1 else 0
            if not _is_reached(state.peak, limit):
                best = _Way(max(way.peak, state.peak), way.steps + steps, JobStretch(operators, tuple(jobs)), way)
        return best

    def _run(self, operators: range, limit: int | None) -> tuple[list[int], OrderState]:
        """Run the jobs of a stretch lazily, until it reaches the limit; return them, and the state then."""
        state, done = self._cuts[operators.start]
        state = state._replace(peak=0)
        jobs = []
        for job in self._in_turn(operators):
            jobs.append(job)
            done |= 1 << job
            state = self._states.after(state, job, done)
            if limit is not None and state.peak >= limit:
                break
        return jobs, state

    def _in_turn(self, operators: range) -> Iterator[int]:
        """Yield the jobs of the last operator, each after those that it needs; then those that nothing needed."""
        done = self._cuts[operators.start][1]
        for job in (job for each in reversed(operators) for job in self._groups[each]):
            waiting = [job]
            while waiting:
                missing = self._predecessors[waiting[-1]] & ~done
                if missing:
                    waiting.append((missing & -missing).bit_length() - 1)
                elif not done >> (ready := waiting.pop()) & 1:
                    done |= 1 << ready
                    yield ready


def _is_reached(peak: int, limit: int | None) -> bool:
    return limit is not None and peak >= limit
