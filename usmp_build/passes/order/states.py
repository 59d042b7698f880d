"""What is alive when some jobs of a model are done: it depends only on which, not on their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from usmp_build.passes.effects import members_of
from usmp_build.passes.order.together import Way, least_together


@dataclass(frozen=True, slots=True)
class Job:
    """What runs without a break.  Sets of jobs and of buffers are integers, one bit for each."""

    after: int
    """The jobs that must come before it."""
    needs: int
    """The buffers that must hold data when it begins."""
    writes: int
    """The buffers that hold data when it has ended."""
    touches: int
    """The buffers that it touches at once; where it is several steps, at the step that needs most for them."""
    ways: tuple[Way, ...]
    """One for each direction that it can take; none: no two buffers share bytes."""

    @property
    def scratch(self) -> int:
        """The buffers that live in it only."""
        return self.touches & ~(self.needs | self.writes)


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs of a model, in the order of its file, which obeys them."""

    jobs: tuple[Job, ...]
    sizes: tuple[int, ...]
    """Of buffers."""
    before: int
    """The buffers that hold data before the first job."""
    behind: int
    """The buffers that must hold data behind the last one."""


class State(NamedTuple):
    """Some jobs are done."""

    peak: int
    live: int
    """The buffers that hold data, and are needed by jobs that are not done."""
    size: int
    """Bytes of `live`."""
    path: tuple[int, object] | None
    """The last job that was done, and the same of those before it."""


def bytes_of(sizes: tuple[int, ...], buffers: int) -> int:
    """Add up the sizes of some buffers."""
    return sum(sizes[index] for index in members_of(buffers))


class States:
    """From one state to the next."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.every = (1 << len(jobs.jobs)) - 1
        self._readers: dict[int, int] = {}
        self._together: dict[tuple[int, int, int], int] = {}
        self._behind: dict[int, list[int]] = {number: [] for number in range(len(jobs.jobs))}
        for number, job in enumerate(jobs.jobs):
            for before in members_of(job.after):
                self._behind[before].append(number)
            for buffer in members_of(job.needs):
                self._readers[buffer] = self._readers.get(buffer, 0) | 1 << number
        first = sum(1 << buffer for buffer in members_of(jobs.before) if self._is_needed(buffer, 0))
        size = self._bytes(first)
        self.first = State(size, first, size, None)

    def along(self, order: Iterable[int]) -> State:
        """Do the jobs in this order."""
        state, done = self.first, 0
        for job in order:
            done |= 1 << job
            state = self.after(state, job, done)
        return state

    def ready(self, done: int) -> Iterator[int]:
        """Yield the jobs that may be next."""
        return (job for job in members_of(self.every & ~done) if self.is_ready(job, done))

    def is_ready(self, job: int, done: int) -> bool:
        """Whether all that must come before a job is done."""
        return not self._jobs.jobs[job].after & ~done

    def behind(self, job: int) -> list[int]:
        """Return the jobs that name this one among those before them."""
        return self._behind[job]

    def _bytes(self, buffers: int) -> int:
        return bytes_of(self._jobs.sizes, buffers)

    def _is_needed(self, buffer: int, done: int) -> bool:
        return bool(self._readers.get(buffer, 0) & ~done or self._jobs.behind >> buffer & 1)

    def after(self, state: State, number: int, done: int) -> State:
        """Do one job more; `done` has it."""
        job = self._jobs.jobs[number]
        dying = sum(1 << b for b in members_of(job.needs & state.live) if not self._is_needed(b, done))
        born = job.writes & ~state.live
        staying = sum(1 << b for b in members_of(born) if self._is_needed(b, done))
        size = state.size - self._bytes(dying) + self._bytes(staying)
        across = state.size - self._bytes((job.touches | dying) & state.live)
        peak = max(state.peak, across + self.together(number, dying, job.touches & ~state.live), size)
        return State(peak, state.live & ~dying | staying, size, (number, state.path))

    def together(self, number: int, dying: int, born: int) -> int:
        """Return the bytes that a job needs for what it touches at once, if these buffers die in it, or are born."""
        job = self._jobs.jobs[number]
        key = number, dying & job.touches, born
        if key not in self._together:
            self._together[key] = least_together(job.ways, job.touches, dying | job.scratch, born, self._jobs.sizes)
        return self._together[key]
