"""Extracts the jobs of a model: the buffers that each operator of main, or row of it, needs and writes.

Jobs that must come before another one are its predecessors:

    data            a tensor, or row of it, is written before it is read, also through views
    rows            those of an operator are computed in turn
    state           operators that touch variables, or are not known to be pure, stay in the file's order

Buffers that are always alive are left out: constants, variables and other persistent buffers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice, takewhile
from operator import or_

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.interfaces.row_jobs import RowJobs, row_jobs
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph
from usmp_build.ir.schedule import Direction, Node, Step, steps
from usmp_build.operators.table import traits
from usmp_build.passes.effects import bits_of, members_of
from usmp_build.passes.order.edge_rows import EdgeRows
from usmp_build.passes.order.states import Job, Jobs, JobStep
from usmp_build.passes.order.together import Near
from usmp_build.passes.separations import separations_at, straight
from usmp_build.passes.state import touches_state


def jobs_of(analysis: Analysis, index: int) -> tuple[Jobs, tuple[int, ...]]:
    """Return the jobs of a model of operators, and the operator of each: in the order of the schedule."""
    rows = EdgeRows(analysis)
    survivors = analysis.survivors
    left_out = bits_of(survivors.always)
    enter, *nodes, leave = analysis.schedule.programs[index].body
    at = analysis.schedule.starts[index] + _length(enter)
    operators = analysis.choices.order(index, analysis.models[index])
    before = _predecessors(analysis, index, operators)
    filled = rows.of(enter)
    entered = filled.writes | filled.needs | bits_of(survivors.before[index])
    jobs = []
    for node, after in zip(nodes, before, strict=True):
        effect = rows.of(node)
        job_steps = tuple(_steps(analysis, node, at, rows, left_out, entered))
        jobs.append(Job(after, effect.needs & ~left_out, effect.writes & ~left_out, job_steps))
        at += len(job_steps)
    needed = rows.of(leave).needs | rows.all(bits_of(survivors.after[index]))
    live_in = reduce(lambda after, node: rows.of(node).before(after), reversed(nodes), needed)
    alive_first = entered & live_in  # others are replaced before they are read
    return Jobs(tuple(jobs), rows.sizes, alive_first & ~left_out, needed & ~left_out), operators


def _length(node: Node) -> int:
    return sum(1 for _ in steps(node))


def _steps(
    analysis: Analysis, node: Node, begin: int, rows: EdgeRows, left_out: int, entered: int
) -> Iterator[JobStep]:
    """Yield the steps of an operator; there are several if it calls subgraphs.

    Two buffers that are both in `entered`, alive when the run begins, share no bytes in any order.
    """
    inside = _alive_inside(analysis, begin, _length(node), rows.of(node).touches & ~left_out)
    once = {at for _, at in straight(node, begin)}
    for at, step in enumerate(steps(node), begin):
        before, now, after = (inside.get(time, 0) for time in (at - 1, at, at + 1))
        near = _near(analysis, step, rows) if at in once else ()
        meeting = (
            {
                (written, read): how
                for (written, read), how in each.items()
                if not (before >> written | after >> read | entered >> written & entered >> read) & 1
            }
            for each in near
        )
        yield JobStep(rows.of(step).touches & ~left_out | now, tuple(meeting))


def _alive_inside(analysis: Analysis, begin: int, length: int, touched: int) -> dict[int, int]:
    """Return for each step the buffers alive there with a lifetime within these steps, and so in any order."""
    alive: dict[int, int] = {}
    for buffer in takewhile(lambda number: number < len(analysis.lifetimes.intervals), members_of(touched)):
        intervals = analysis.lifetimes.intervals[buffer]
        lives = islice(intervals, bisect_left(intervals, (begin,)), None)
        for life in takewhile(lambda life: life.stop <= begin + length, lives):
            for at in range(*life):
                alive[at] = alive.get(at, 0) | 1 << buffer
    return alive


def _near(analysis: Analysis, step: Step, rows: EdgeRows) -> tuple[Near, ...]:
    """Return the pairs of buffers that may share bytes in a step, for each direction that its operator can take."""
    if step.job is not None:
        return (dict(separations_at(analysis.allowed, step)) | rows.near(step),)
    kernel = analysis.kernels.get(step.operator) if step.operator is not None else None
    is_reversible = isinstance(kernel, Kernel) and kernel.backward is not None
    directions = (Direction.FORWARD, Direction.BACKWARD) if is_reversible else (Direction.FORWARD,)
    return tuple(dict(separations_at(analysis.allowed, replace(step, direction=each))) for each in directions)


def _predecessors(analysis: Analysis, index: int, operators: tuple[int, ...]) -> list[int]:
    """Return for each job in `operators` the set of its predecessors, by position there."""
    model = analysis.models[index]
    positions: dict[int, list[int]] = {}
    for position, operator in enumerate(operators):
        positions.setdefault(operator, []).append(position)
    predecessors = [0] * len(operators)
    writers = _Writers(model.main)
    last = 0
    for i, op in enumerate(model.main.operators):
        if i not in positions:
            writers.add_view(op)
            continue
        ref = OperatorRef(index, 0, i)
        is_in_turn = _in_turn(analysis, model, ref, op)
        rows = _row_jobs(analysis, ref) if len(positions[i]) > 1 else None
        previous = last if is_in_turn else 0
        for job, position in enumerate(positions[i]):
            predecessors[position] = writers.before(op, rows, job) | previous
            previous = 1 << position
        writers.add(op, rows, [1 << position for position in positions[i]])
        last = 1 << positions[i][-1] if is_in_turn else last
    return predecessors


def _row_jobs(analysis: Analysis, ref: OperatorRef) -> RowJobs | None:
    kernel = analysis.kernel_of(ref)
    return row_jobs(kernel) if isinstance(kernel, Kernel) else None


@dataclass
class _Writers:
    """The jobs that write each tensor, and each row of it, as sets."""

    graph: Subgraph
    whole: dict[int, int] = field(default_factory=dict)
    rows: dict[int, tuple[tuple[int, int], dict[int, int]]] = field(default_factory=dict)
    """Tensor written row by row → the shape of its rows, and the job that writes each."""

    def add_view(self, op: Operator) -> None:
        """A view counts as written by the writers of its source."""
        self.whole |= dict.fromkeys(op.outputs, self._all(op))

    def add(self, op: Operator, jobs: RowJobs | None, bits: list[int]) -> None:
        self.whole |= dict.fromkeys(op.outputs, sum(bits))
        shapes = jobs.shapes if jobs else {}
        for position, tensor in enumerate(op.outputs):
            if jobs is not None and (shape := shapes.get(Output(position))) is not None:
                self.rows[self.graph.root(tensor)] = shape, {jobs.row_of(job): bit for job, bit in enumerate(bits)}

    def before(self, op: Operator, jobs: RowJobs | None, job: int) -> int:
        """Return the jobs that write what a job reads."""
        if jobs is None:
            return self._all(op)
        shapes = jobs.shapes
        before = 0
        for number, tensor in enumerate(op.inputs):
            shape, rows = self.rows.get(-1 if tensor is None else self.graph.root(tensor), (None, {}))
            if shape is not None and shapes.get(Input(number)) == shape:
                before |= reduce(or_, (rows[row] for row in jobs.rows_touched(Input(number), job)), 0)
            elif tensor is not None:
                before |= self.whole.get(tensor, 0)
        return before

    def _all(self, op: Operator) -> int:
        return reduce(or_, (self.whole.get(t, 0) for t in op.inputs if t is not None), 0)


def _in_turn(analysis: Analysis, model: Model, ref: OperatorRef, op: Operator) -> bool:
    """Tell whether an operator must keep its order relative to all others for which this is true."""
    kernel = analysis.kernels.get(ref)
    if not traits(op.kind).is_pure or touches_state(op, model.main):
        return True
    if not isinstance(kernel, Kernel):
        return False
    calls_application = any(call.prototype for call in kernel.calls)  # its functions may have state
    return bool(kernel.updates) or calls_application
