"""Tracks the live buffers of a model after any set of jobs: they depend on the set only, not on the order of jobs.

Sets of jobs and of buffers are integers, one bit for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

from usmp_build.frozen import frozen
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.together import Near, least_together


@frozen
class JobStep:
    """One step of a job."""

    alive: int
    """The buffers alive in it, whatever the order of jobs: those that it touches, and those that carry data between
    other steps of the job."""
    near: tuple[Near, ...] = ()
    """One for each direction that its operator can take; empty: no two buffers share bytes."""


@frozen
class Job:
    """The unit of ordering: an operator, with all steps of the subgraphs that it calls."""

    predecessors: int
    """The jobs that must come before it."""
    needs: int
    """The buffers that must hold data when it begins."""
    writes: int
    """The buffers that hold data when it has ended."""
    steps: tuple[JobStep, ...]
    """In the order in which they run."""

    @property
    def touches(self) -> int:
        """All buffers that are alive at some step."""
        return reduce(or_, (step.alive for step in self.steps), 0)


@frozen
class Jobs:
    """All jobs of a model, in an order that dependencies allow, such as that of its file."""

    jobs: tuple[Job, ...]
    sizes: tuple[int, ...]
    """Bytes of each buffer."""
    before: int
    """The buffers that hold data before the first job."""
    after: int
    """The buffers that must hold data after the last job."""

    @cached_property
    def states(self) -> States:
        """The states after these jobs; all searches share the moves that it has computed."""
        return States(self)


def confined(jobs: Jobs, members: frozenset[int]) -> Jobs:
    """Return the same jobs, but all buffers except `members` take no memory."""

    def near(step: JobStep) -> tuple[Near, ...]:
        return tuple({pair: how for pair, how in each.items() if members.issuperset(pair)} for each in step.near)

    return replace(
        jobs,
        sizes=tuple(size if index in members else 0 for index, size in enumerate(jobs.sizes)),
        jobs=tuple(replace(job, steps=tuple(replace(s, near=near(s)) for s in job.steps)) for job in jobs.jobs),
    )


class OrderState(NamedTuple):
    """The model after some jobs are done."""

    peak: int
    """Most bytes alive so far."""
    live: int
    """The buffers that hold data, and are needed by jobs that are not done."""
    size: int
    """Bytes of `live`."""
    ready: int
    """The jobs that may be next."""
    path: tuple[int, object] | None
    """The last job that was done, and the path of the state before it: a linked list."""


class _Move(NamedTuple):
    """How a job changes the state."""

    dying: int
    """The live buffers that no job needs after it."""
    staying: int
    """The buffers that are alive after it, and were not before."""
    grows: int
    """Bytes alive after it, minus those before it."""
    needs: int
    """Bytes alive at its fullest step, minus those before it."""
    freed: int
    """The jobs that become ready because of it."""


def bytes_of(sizes: tuple[int, ...], buffers: int) -> int:
    """Return the total size of a set of buffers."""
    return sum(sizes[index] for index in members_of(buffers))


class States:
    """Computes the successors of states; moves are cached."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.every = (1 << len(jobs.jobs)) - 1
        self._readers: dict[int, int] = {}
        self._beside: dict[tuple[int, int, int], int] = {}
        self._touches = [job.touches for job in jobs.jobs]
        self._successors: dict[int, list[int]] = {number: [] for number in range(len(jobs.jobs))}
        for number, job in enumerate(jobs.jobs):
            for before in members_of(job.predecessors):
                self._successors[before].append(number)
            for buffer in members_of(job.needs):
                self._readers[buffer] = self._readers.get(buffer, 0) | 1 << number
        self._concerned = [job.needs | job.writes | job.touches for job in jobs.jobs]
        self._around = [self._deciding_jobs(number) for number in range(len(jobs.jobs))]
        self._moves: dict[tuple[int, int, int], _Move] = {}
        first = sum(1 << buffer for buffer in members_of(jobs.before) if self._is_needed(buffer, 0))
        size = self._bytes(first)
        ready = sum(1 << number for number, job in enumerate(jobs.jobs) if not job.predecessors)
        self.first = OrderState(size, first, size, ready, None)

    def along(self, order: Iterable[int]) -> OrderState:
        """Return the state after the jobs, in this order."""
        state, done = self.first, 0
        for job in order:
            done |= 1 << job
            state = self.after(state, job, done)
        return state

    def is_ready(self, job: int, done: int) -> bool:
        """Tell whether all jobs that must come before a job are done."""
        return not self._jobs.jobs[job].predecessors & ~done

    def successors(self, job: int) -> list[int]:
        """Return the jobs that must come after this one, as direct successors."""
        return self._successors[job]

    def _bytes(self, buffers: int) -> int:
        return bytes_of(self._jobs.sizes, buffers)

    def _is_needed(self, buffer: int, done: int) -> bool:
        return bool(self._readers.get(buffer, 0) & ~done or self._jobs.after >> buffer & 1)

    def after(self, state: OrderState, number: int, done: int) -> OrderState:
        """Return the state after one more job; `done` already contains it."""
        key = number, state.live & self._concerned[number], done & self._around[number]
        move = self._moves.get(key) or self._moves.setdefault(key, self._move(number, state.live, done))
        size = state.size + move.grows
        peak = max(state.peak, state.size + move.needs, size)
        ready = state.ready & ~(1 << number) | move.freed
        return OrderState(peak, state.live & ~move.dying | move.staying, size, ready, (number, state.path))

    def _deciding_jobs(self, number: int) -> int:
        """Return the jobs that decide the move of a job: readers of its buffers, predecessors of its successors."""
        readers = (self._readers.get(buffer, 0) for buffer in members_of(self._concerned[number]))
        return reduce(
            or_, (self._jobs.jobs[each].predecessors for each in self._successors[number]), reduce(or_, readers, 0)
        )

    def _move(self, number: int, live: int, done: int) -> _Move:
        job = self._jobs.jobs[number]
        dying = sum(1 << b for b in members_of(job.needs & live) if not self._is_needed(b, done))
        staying = sum(1 << b for b in members_of(job.writes & ~live) if self._is_needed(b, done))
        freed_bytes = self._bytes(dying)
        freed = sum(1 << each for each in self._successors[number] if self.is_ready(each, done))
        grows = self._bytes(staying) - freed_bytes
        return _Move(dying, staying, grows, self.beside(number, dying, live) - freed_bytes, freed)

    def beside(self, number: int, dying: int, live: int) -> int:
        """Return the bytes that a job needs at its fullest step, given the buffers that are alive before it.

        Those that do not die in it are not counted: they are alive in all of its steps.
        """
        touched = self._touches[number]
        key = number, dying & touched, live & touched
        if key not in self._beside:
            inner = sum(1 << b for b in members_of(touched & ~live) if not self._is_needed(b, 1 << number))
            bytes_needed = (self._of_step(step, dying, live, inner) for step in self._jobs.jobs[number].steps)
            self._beside[key] = max(bytes_needed, default=0)
        return self._beside[key]

    def _of_step(self, step: JobStep, dying: int, live: int, inner: int) -> int:
        """Return the same for one step; `inner` are the buffers that are alive within the job only."""
        together = least_together(step.near, step.alive, dying | inner, step.alive & ~live, self._jobs.sizes)
        return together - self._bytes(step.alive & live & ~dying)
