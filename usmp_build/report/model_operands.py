"""Analysis → what runs when, what operators touch, and where that is: for those who check the plan."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.ir.schedule import Step, steps
from usmp_build.layout import OperatorRecord, StepRecord, TensorRecord
from usmp_build.layout.steps import StepKind


def tensors(analysis: Analysis, m: int) -> Iterator[TensorRecord]:
    """Yield the tensors of a model's main subgraph that are no constants, by index."""
    storage, rows = analysis.storage, analysis.choices.by_rows.tables
    channels = analysis.rewrites[m].channels if analysis.rewrites else {}
    for index, tensor in enumerate(analysis.models[m].main.tensors):
        ref = TensorRef(m, 0, index)
        buffer = storage.tensors.get(ref)
        if tensor.is_constant or (buffer is None and ref not in storage.arguments):
            continue
        name = "" if buffer is None else storage.buffers[buffer].name
        yield TensorRecord(
            tensor=index,
            buffer=name.rpartition("[")[0] if ref in rows else name,
            offset=storage.offsets.get(ref, 0),
            pitch=storage.pitches.get(ref, 0),
            channels=channels.get((0, index), ()),
        )


def operators(analysis: Analysis, m: int) -> Iterator[OperatorRecord]:
    """Yield the operators of a model's main subgraph that run."""
    storage, graph = analysis.storage, analysis.models[m].main
    for index, op in enumerate(graph.operators):
        if op.runs:
            reads = dict.fromkeys(t for t in op.inputs if t is not None and not graph.tensors[t].is_constant)
            scratch = storage.scratch.get(OperatorRef(m, 0, index), ())
            names = tuple(storage.buffers[buffer].name for buffer in scratch)
            yield OperatorRecord(op.position, tuple(reads), op.outputs, names)


def timeline(analysis: Analysis) -> Iterator[StepRecord]:
    """Yield all steps of all models, in order."""
    for number, step in enumerate(steps(analysis.schedule.root)):
        model, ref, arrival = analysis.models[step.model], step.operator, step.arrival
        operator = model.main.operators[ref.operator].position if ref is not None and ref.subgraph == 0 else None
        row = step.row if arrival is None else arrival.row
        yield StepRecord(model.name, _kind(analysis, number, step), operator, row, step.name)


def _kind(analysis: Analysis, number: int, step: Step) -> StepKind:
    """Return what a step does.  Operators of other subgraphs are a part of control flow."""
    if step.operator is not None:
        return "operator" if step.operator.subgraph == 0 else "other"
    if step.arrival is not None:
        return "arrival"
    if number in analysis.schedule.starts:
        return "enter"
    return "leave" if number + 1 in analysis.schedule.starts else "other"
