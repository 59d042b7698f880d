"""Extracts the jobs of a model: the buffers that each operator of main needs and writes, and its predecessors.

    data            a tensor is written before it is read, also through views
    state           operators that touch variables, or are not known to be pure, stay in the file's order

Buffers that are always alive are left out: constants, variables and other persistent buffers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import islice, takewhile
from operator import or_

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Model, Operator, OperatorRef
from usmp_build.ir.schedule import Direction, Node, Step, steps
from usmp_build.operators.table import traits
from usmp_build.passes.effects import Effects, bits_of, members_of
from usmp_build.passes.order.states import Job, Jobs, JobStep
from usmp_build.passes.order.together import Near
from usmp_build.passes.separations import separations_at, straight
from usmp_build.passes.state import touches_state
from usmp_build.request import Request


def jobs_of(request: Request, analysis: Analysis, index: int) -> tuple[Jobs, tuple[int, ...]]:
    """Return the jobs of a model of operators, and the operator of each: in the order of the file."""
    effects = Effects(analysis.storage)
    survivors = analysis.survivors
    left_out = bits_of(survivors.always)
    sizes = tuple(buffer.extent for buffer in analysis.storage.buffers)
    enter, *nodes, leave = analysis.schedule.programs[index].body
    at = analysis.schedule.starts[index] + _length(enter)
    operators = analysis.choices.order(index, analysis.models[index])
    before = _predecessors(analysis, index, operators)
    filled = effects.of(enter)
    entered = filled.writes | filled.needs | bits_of(survivors.before[index])
    jobs = []
    for node, after in zip(nodes, before, strict=True):
        effect = effects.of(node)
        job_steps = tuple(_apart(step, entered) for step in _steps(request, analysis, node, at, effects, left_out))
        jobs.append(Job(after, effect.needs & ~left_out, effect.writes & ~left_out, job_steps))
        at += len(job_steps)
    needed = effects.of(leave).needs | bits_of(survivors.after[index])
    live_in = reduce(lambda after, node: effects.of(node).before(after), reversed(nodes), needed)
    alive_first = entered & live_in  # others are replaced before they are read
    return Jobs(tuple(jobs), sizes, alive_first & ~left_out, needed & ~left_out), operators


def _apart(step: JobStep, entered: int) -> JobStep:
    """Remove pairs that are both alive when the run begins: they share no bytes in any order."""
    return replace(
        step,
        near=tuple(
            {(w, r): how for (w, r), how in each.items() if not entered >> w & entered >> r & 1} for each in step.near
        ),
    )


def _length(node: Node) -> int:
    return sum(1 for _ in steps(node))


def _steps(
    request: Request, analysis: Analysis, node: Node, begin: int, effects: Effects, left_out: int
) -> Iterator[JobStep]:
    """Yield the steps of an operator; there are several if it calls subgraphs."""
    inside = _alive_inside(analysis, begin, _length(node), effects.of(node).touches & ~left_out)
    once = {at for _, at in straight(node, begin)}
    for at, step in enumerate(steps(node), begin):
        before, now, after = (inside.get(time, 0) for time in (at - 1, at, at + 1))
        near = _near(request, analysis, step) if at in once else ()
        meeting = ({(w, r): how for (w, r), how in each.items() if not (before >> w | after >> r) & 1} for each in near)
        yield JobStep(effects.of(step).touches & ~left_out | now, tuple(meeting))


def _alive_inside(analysis: Analysis, begin: int, length: int, touched: int) -> dict[int, int]:
    """Return for each step the buffers alive there with a lifetime within these steps, and so in any order."""
    alive: dict[int, int] = {}
    for buffer in members_of(touched):
        intervals = analysis.lifetimes.intervals[buffer]
        lives = islice(intervals, bisect_left(intervals, (begin,)), None)
        for life in takewhile(lambda life: life.stop <= begin + length, lives):
            for at in range(*life):
                alive[at] = alive.get(at, 0) | 1 << buffer
    return alive


def _near(request: Request, analysis: Analysis, step: Step) -> tuple[Near, ...]:
    """Return the pairs of buffers that may share bytes in a step, for each direction that its operator can take."""
    kernel = analysis.kernels.get(step.operator) if step.operator is not None else None
    is_reversible = isinstance(kernel, Kernel) and kernel.backward is not None
    directions = (Direction.FORWARD, Direction.BACKWARD) if is_reversible else (Direction.FORWARD,)
    return tuple(dict(separations_at(request, analysis, replace(step, direction=each))) for each in directions)


def _predecessors(analysis: Analysis, index: int, operators: tuple[int, ...]) -> Iterator[int]:
    """Yield for each operator that runs the set of its predecessors, by position in `operators`."""
    model = analysis.models[index]
    position = {operator: number for number, operator in enumerate(operators)}
    written: dict[int, int] = {}
    last = 0
    for i, op in enumerate(model.main.operators):
        before = reduce(or_, (written.get(t, 0) for t in op.inputs if t is not None), 0)
        if i in position:
            if _in_turn(analysis, model, OperatorRef(index, 0, i), op):
                before |= last
                last = 1 << position[i]
            yield before
            before = 1 << position[i]
        written |= dict.fromkeys(op.outputs, before)  # a view counts as written by the writers of its source


def _in_turn(analysis: Analysis, model: Model, ref: OperatorRef, op: Operator) -> bool:
    """Tell whether an operator must keep its order relative to all others for which this is true."""
    kernel = analysis.kernels.get(ref)
    if not traits(op.kind).is_pure or touches_state(op, model.main):
        return True
    if not isinstance(kernel, Kernel):
        return False
    calls_application = any(call.prototype for call in kernel.calls)  # its functions may have state
    return bool(kernel.updates) or calls_application
