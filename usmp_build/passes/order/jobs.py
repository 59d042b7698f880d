"""A model → jobs: what each operator of its main subgraph needs and writes, and which must come before it.

    data            a tensor is written before it is read, through views, too
    state           whatever touches variables, calls subgraphs, or may remember something, stays in the file's order

Buffers that are alive whatever the order are left out: constants, variables, what is kept between all runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import or_

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Model, Operator, OperatorRef
from usmp_build.ir.options import called_subgraphs
from usmp_build.ir.schedule import Direction, Node, steps
from usmp_build.passes.effects import Effects, bits_of
from usmp_build.passes.order.states import Job, Jobs, bytes_of
from usmp_build.passes.order.together import Way
from usmp_build.passes.separations import near_at
from usmp_build.request import Request

_REMEMBERING = frozenset({"HASHTABLE", "MULTINOMIAL", "RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM"})
"""Kinds whose results depend on how often they ran, and kinds that they depend on."""


def jobs_of(request: Request, analysis: Analysis, index: int) -> tuple[Jobs, tuple[int, ...]]:
    """Return the jobs of a model of operators, and the operator of each: in the order of the file."""
    effects = Effects(analysis.storage)
    survivors = analysis.survivors
    left_out = bits_of(survivors.always)
    sizes = tuple(buffer.extent for buffer in analysis.storage.buffers)
    enter, *nodes, leave = analysis.schedule.programs[index].body
    operators = analysis.choices.order(index, analysis.models[index])
    before = _predecessors(analysis, index, operators)
    jobs = []
    for node, after in zip(nodes, before, strict=True):
        effect = effects.of(node)
        touches = _fullest(node, effects, left_out, sizes)
        ways = _ways(request, analysis, node)
        jobs.append(Job(after, effect.needs & ~left_out, effect.writes & ~left_out, touches, ways))
    filled = effects.of(enter)
    found = (filled.writes | filled.needs | bits_of(survivors.before[index])) & ~left_out
    needed = (effects.of(leave).needs | bits_of(survivors.after[index])) & ~left_out
    return Jobs(tuple(jobs), sizes, found, needed), operators


def _ways(request: Request, analysis: Analysis, node: Node) -> tuple[Way, ...]:
    """Return how close an operator lets two buffers come, for each direction that it can take."""
    leaves = list(islice(steps(node), 2))
    if len(leaves) != 1:
        return ()
    kernel = analysis.kernels.get(leaves[0].operator) if leaves[0].operator is not None else None
    both = isinstance(kernel, Kernel) and kernel.backward is not None
    directions = (Direction.FORWARD, Direction.BACKWARD) if both else (Direction.FORWARD,)
    return tuple(dict(near_at(request, analysis, replace(leaves[0], direction=way))) for way in directions)


def _fullest(node: Node, effects: Effects, left_out: int, sizes: tuple[int, ...]) -> int:
    """Return the buffers of the step that touches most bytes."""
    touched = (effects.of(step).touches & ~left_out for step in steps(node))
    return max(touched, key=lambda some: (bytes_of(sizes, some), some), default=0)


def _predecessors(analysis: Analysis, index: int, operators: tuple[int, ...]) -> Iterator[int]:
    """Yield for each operator that runs the set of those, by position in `operators`, that must run before it."""
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
        written |= dict.fromkeys(op.outputs, before)  # what runs nothing stands for those who write what it shows


def _in_turn(analysis: Analysis, model: Model, ref: OperatorRef, op: Operator) -> bool:
    """Whether an operator must keep its place among those of which this is true, too."""
    kernel = analysis.kernels.get(ref)
    if op.kind in _REMEMBERING or op.kind.startswith("CUSTOM") or called_subgraphs(op.options):
        return True
    if isinstance(kernel, Kernel) and (kernel.updates or any(call.prototype for call in kernel.calls)):
        return True  # functions of the application may remember something, too
    graph = model.main
    touched = (graph.tensors[graph.roots.get(t, t)] for t in (*op.inputs, *op.outputs) if t is not None)
    return any(tensor.is_variable or tensor.resource for tensor in touched)
