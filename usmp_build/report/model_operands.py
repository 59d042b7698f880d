"""Request + Analysis + Plan → what the operators of a model touch, and where it is: for those who check the plan."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.layout import OperatorRecord, TensorRecord


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
    storage, model = analysis.storage, analysis.models[m]
    if model.is_program:
        return
    graph = model.main
    for index, op in enumerate(graph.operators):
        if op.runs:
            reads = dict.fromkeys(t for t in op.inputs if t is not None and not graph.tensors[t].is_constant)
            scratch = storage.scratch.get(OperatorRef(m, 0, index), ())
            names = tuple(storage.buffers[buffer].name for buffer in scratch)
            yield OperatorRecord(op.position, tuple(reads), op.outputs, names)
