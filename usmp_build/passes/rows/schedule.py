"""Schedules operators that run row by row: a step for each job.

Jobs run in turn.  A tensor in one piece is written by the first job and updated by all others; a reduction keeps its
sums from its first job to its last, which writes the output.

The rows of an input that has rows arrive in turn, each in a step right before the first job that reads it:

    row 0 arrives · row 1 arrives · CONV_2D 0, row 0 · row 2 arrives · CONV_2D 0, row 1 · ...

So no order of jobs has to say when.  Rows that no job reads arrive before the last job of the operator that reads the
others.
"""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.interfaces.row_jobs import RowJobs, row_jobs
from usmp_build.ir.by_rows import RowMove
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import Model, OperatorRef, TensorRef
from usmp_build.ir.labels import short_label
from usmp_build.ir.schedule import Call, Node, RowRef, Scope, ScratchRef, Sequence, Step, Value
from usmp_build.passes.schedule.leaves import Leaves


class RowSteps:
    """Makes the steps of one model's operators that run row by row, one job at a time."""

    def __init__(self, leaves: Leaves, model: Model, kernels: Kernels, choices: Choices) -> None:
        self._leaves = leaves
        self._model = model
        self._kernels = kernels
        self._choices = choices
        self._streamed = {**choices.by_rows.tables, **choices.by_rows.edges}
        self._done: dict[OperatorRef, int] = {}
        self._jobs: dict[OperatorRef, RowJobs] = {}
        inputs = (TensorRef(leaves.model, 0, tensor) for tensor in model.main.inputs)
        self._arrived = {ref: 0 for ref in inputs if ref in choices.by_rows.tables}
        self._moves: dict[tuple[int, int], list[RowMove]] = {}
        for move in choices.moves.get(leaves.model, ()):
            self._moves.setdefault((move.position, move.arrivals), []).append(move)
        self._places: dict[RowRef, int] = {}
        """Row → the number of its place, if it has moved."""
        self._moved: dict[TensorRef, int] = {}
        """Tensor → how often a row of it has moved."""

    def next(self, ref: OperatorRef, position: int) -> Node:
        """Return the node of an operator's next job, at this position in the order of the model."""
        kernel, direction = self._kernels[ref], self._choices.direction(ref)
        assert isinstance(kernel, Kernel)
        jobs = self._jobs[ref] if ref in self._jobs else row_jobs(kernel.towards(direction))
        assert jobs is not None
        self._jobs[ref] = jobs
        job = self._done[ref] = self._done.get(ref, -1) + 1
        scratch = tuple(ScratchRef(ref, position) for position in range(len(kernel.scratch)))
        sums = scratch if jobs.adds_up else ()
        within = scratch if not sums else ()
        rows = tuple(self._values(ref, jobs, job, Input))
        before = tuple(self._before(position, self._arrivals(rows, is_last=job == jobs.count - 1)))
        inputs = tuple(self._placed(row) for row in rows)
        reads = (*inputs, *sums) if job else inputs
        written, updated = self._results(jobs, job, sums, tuple(self._values(ref, jobs, job, Output)))
        updates = updated if job else ()
        writes = tuple(each for each in written if each not in updates)
        op = self._model.main.operators[ref.operator]
        row = jobs.row_of(job)
        name = f"{op.kind} {op.position}, row {row}"
        step = self._leaves.step(name, reads, writes, ref, updates, within, direction=direction, job=job, row=row)
        node = Call(name, Scope(within, step)) if within else step
        return Sequence((*before, node)) if before else node

    def _before(self, position: int, arrivals: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps in which rows arrive for the job at a position, and those in which others make room."""
        yield from self._made_room(position, 0)
        for count, arrival in enumerate(arrivals, 1):
            yield arrival
            yield from self._made_room(position, count)

    def _made_room(self, position: int, arrivals: int) -> Iterator[Step]:
        for move in self._moves.get((position, arrivals), ()):
            row, table = RowRef(move.tensor, move.row), self._choices.by_rows.tables[move.tensor]
            source, count = self._placed(row), self._moved.get(move.tensor, 0)
            self._moved[move.tensor], self._places[row] = count + 1, table.rows + count
            name = short_label(self._model.main.tensors[move.tensor.tensor].name, move.tensor.tensor)
            yield self._leaves.step(f"row {move.row} of {name} moves", (source,), (self._placed(row),))

    def _placed(self, value: Value) -> Value:
        """Return a value, in place of a row that has moved its place."""
        return value._replace(row=self._places.get(value, value.row)) if isinstance(value, RowRef) else value

    def _results(
        self, jobs: RowJobs, job: int, sums: tuple[Value, ...], outputs: tuple[Value, ...]
    ) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Return what a job writes, and what of that holds results of earlier jobs if there were any."""
        if not jobs.adds_up:
            return outputs, tuple(each for each in outputs if not self._has_rows(each))
        is_last = job == jobs.count - 1
        return (*sums, *outputs) if is_last else sums, sums

    def _arrivals(self, inputs: tuple[Value, ...], is_last: bool) -> Iterator[Step]:
        """Yield the steps in which the rows arrive that a job reads and no job before it."""
        for row in (value for value in inputs if isinstance(value, RowRef) and value.tensor in self._arrived):
            table = self._choices.by_rows.tables[row.tensor]
            name = short_label(self._model.main.tensors[row.tensor.tensor].name, row.tensor.tensor)
            for number in range(self._arrived[row.tensor], table.rows if is_last else row.row + 1):
                yield self._leaves.step(f"row {number} of {name} arrives", writes=(RowRef(row.tensor, number),))
                self._arrived[row.tensor] = number + 1

    def _has_rows(self, value: Value) -> bool:
        return isinstance(value, RowRef) and value.tensor in self._choices.by_rows.tables

    def _values(self, ref: OperatorRef, jobs: RowJobs, job: int, side: type[Input | Output]) -> Iterator[Value]:
        """Yield the inputs or outputs of a job: single rows of tensors that have rows, all of other tensors."""
        op, streamed = self._model.main.operators[ref.operator], jobs.shapes
        for position, number in enumerate(op.inputs if side is Input else op.outputs):
            if number is not None:
                root, operand = TensorRef(ref.model, 0, self._model.main.root(number)), side(position)
                if operand in streamed and root in self._streamed:
                    at_once = streamed[operand][0] // self._streamed[root].rows
                    rows = (row // at_once for row in jobs.rows_touched(operand, job))
                    yield from dict.fromkeys(RowRef(root, row) for row in rows)
                else:
                    yield root._replace(tensor=number)
