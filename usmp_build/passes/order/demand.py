"""Runs jobs when they are needed, and those whose rows were dropped again.

To compute a row, first what it needs is made ready: for a row that is dropped and computed again, the rows that it is
computed from; any other row itself.  Then the dropped rows are computed, all at once and as late as possible:

    e0 e1 d0 p0   ...   d1 needs e0 e1 e2: first what e2 is computed from, however much that is, then e0 e1 e2, then d1
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from usmp_build import effort
from usmp_build.passes.effects import members_of
from usmp_build.passes.order.states import Jobs, States

_COMPUTE, _RUN, _HAVE, _PREPARE = range(4)
"""Tasks: have what a job needs, and run it; run it; have a row; have what a row is computed from."""


class OrderMaker:
    """Makes orders of the jobs of a model."""

    def __init__(self, jobs: Jobs, tensors: Mapping[int, range], writers: Mapping[int, int]) -> None:
        """Begin with the rows that may be dropped, by the first one of a tensor, and the job that computes each."""
        self._jobs = jobs
        self._tensors = {tensor: sorted(span, key=lambda row: -writers[row]) for tensor, span in tensors.items()}
        self._writers = writers
        self.tensor = {row: tensor for tensor, span in tensors.items() for row in span}
        self.rows = sum(1 << row for row in self.tensor)
        self.needs = [tuple(members_of(job.needs & self.rows)) for job in jobs.jobs]
        self.before = [
            tuple(each for each in members_of(job.predecessors) if not self._jobs.jobs[each].writes & self.rows)
            for job in jobs.jobs
        ]
        self.beside = self._beside()
        states, unread = States(jobs), {each for of_job in self.beside.values() for each in of_job}
        self.last = [each for each in range(len(jobs.jobs)) if not states.successors(each) and each not in unread]

    def _beside(self) -> dict[int, list[int]]:
        """Return the jobs whose rows nobody reads, by the job of a row beside them that somebody reads."""
        read = {row for rows in self.needs for row in rows}
        beside: dict[int, list[int]] = {}
        for rows in self._tensors.values():
            in_turn = rows[::-1]
            nearest = next((self._writers[row] for row in in_turn if row in read), self._writers[in_turn[-1]])
            for row in in_turn:
                if row in read:
                    nearest = self._writers[row]
                elif self._writers[row] != nearest:
                    beside.setdefault(nearest, []).append(self._writers[row])
        return beside

    def order(self, kept: Mapping[int, int], complete: Collection[int]) -> tuple[int, ...] | None:
        """Return the jobs in order; None if there are more than `effort.RECOMPUTED_TIMES` as many as without dropping.

        Tensors in `kept` keep so many rows, the last ones, when a job has read them; of those in `complete` all rows
        are computed before one is read.
        """
        run = _Run(self, self._jobs, kept, set(complete))
        run.tasks += [(_COMPUTE, number) for number in reversed(self.last)]
        while run.tasks and len(run.order) <= effort.RECOMPUTED_TIMES * len(self._jobs.jobs):
            run.do(*run.tasks.pop())
        return None if run.tasks else tuple(run.order)

    def latest_first(self, tensor: int) -> list[int]:
        """Return the rows of a tensor, beginning with the one that is computed last."""
        return self._tensors[tensor]

    def writer(self, row: int) -> int:
        """Return the job that computes a row."""
        return self._writers[row]


class _Run:
    """One order in the making; tasks are done from the last one on, so that recursion has no limit."""

    def __init__(self, demand: OrderMaker, jobs: Jobs, kept: Mapping[int, int], incomplete: set[int]) -> None:
        self.order: list[int] = []
        self.tasks: list[tuple[int, int]] = []
        self._demand = demand
        self._jobs = jobs
        self._kept = kept
        self._incomplete = incomplete
        self._done = 0
        self._present = 0
        self._awaited = dict.fromkeys(demand.tensor, 0)
        """Row → the jobs that are about to read it."""

    def do(self, task: int, number: int) -> None:
        if task == _RUN:
            self._run(number)
        elif task == _COMPUTE:
            self._compute(number)
        elif not self._present >> number & 1:
            tensor = self._demand.tensor[number]
            if tensor in self._incomplete:
                self._incomplete.remove(tensor)
                self.tasks.append((task, number))
                self.tasks += [(_HAVE, row) for row in self._demand.latest_first(tensor)]
            elif task == _PREPARE and tensor in self._kept:
                self._require(self._demand.writer(number), _PREPARE)
            else:
                self.tasks.append((_COMPUTE, self._demand.writer(number)))

    def _compute(self, number: int) -> None:
        if self._done >> number & 1 and not self._jobs.jobs[number].writes & self._demand.rows:
            return
        self.tasks.append((_RUN, number))
        for row in self._demand.needs[number]:
            self._awaited[row] += 1
        self._require(number, _HAVE)
        self._require(number, _PREPARE)

    def _require(self, number: int, task: int) -> None:
        self.tasks += [(task, row) for row in reversed(self._demand.needs[number])]
        self.tasks += [(_COMPUTE, each) for each in reversed(self._demand.before[number]) if not self._done >> each & 1]

    def _run(self, number: int) -> None:
        self.order.append(number)
        self._done |= 1 << number
        self._present |= self._jobs.jobs[number].writes & self._demand.rows
        needs = self._demand.needs[number]
        unread = self._demand.beside.get(number, ())
        self.tasks += [(_COMPUTE, each) for each in reversed(unread) if not self._done >> each & 1]
        for row in needs:
            self._awaited[row] -= 1
        for tensor in sorted({self._demand.tensor[row] for row in needs}):
            if tensor in self._kept:
                present = [row for row in self._demand.latest_first(tensor) if self._present >> row & 1]
                for row in present[self._kept[tensor] :]:
                    if not self._awaited[row]:
                        self._present &= ~(1 << row)
