"""The metadata "OfflineMemoryAllocation" of a .tflite file: where TensorFlow Lite Micro puts tensors in its arena.

Operators of most kinds take tensors wherever they are.  The command stream of an Ethos-U does not: it finds inputs and
outputs by their offsets in the arena, which it gets as its scratch.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from usmp_build.errors import Diagnostic
from usmp_build.importers.tflite import schema
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.ir.labels import operator_label, tensor_label

NAME = "OfflineMemoryAllocation"
ONLINE = -1
"""In place of an offset: the interpreter chooses one."""
_HEAD = 3
"""Numbers before the offsets: version, subgraphs, and how many offsets there are."""
_BY_OFFSET = "CUSTOM:ethos-u"
_HELP = (
    "plan the model as it was before Vela compiled it, for the processor; or run this file in TensorFlow Lite Micro,"
    " which keeps these offsets, as `usmp-build export tflm` does"
)


def stored_offsets(file: schema.Model) -> tuple[int, ...]:
    """Return the offsets of the tensors of all subgraphs, in bytes, or `ONLINE`; none without such metadata."""
    numbers = [entry.buffer for entry in file.metadata if entry.name == NAME]
    if not numbers or numbers[-1] >= len(file.buffers):
        return ()
    content = file.buffers[numbers[-1]].data  # TensorFlow Lite Micro takes the last one
    return struct.unpack(f"<{len(content) // 4}i", content[: len(content) // 4 * 4])[_HEAD:]


def offset_faults(file: schema.Model, graphs: tuple[Subgraph, ...]) -> Iterator[Diagnostic]:
    """Yield a fault for each operator that finds tensors only at the offsets that the file states."""
    offsets, first = stored_offsets(file), 0
    for index, graph in enumerate(graphs):
        own = dict(enumerate(offsets[first : first + len(graph.tensors)]))
        first += len(graph.tensors)
        for op in graph.operators:
            placed = [t for t in _operands(op) if own.get(t, ONLINE) != ONLINE]
            if op.kind == _BY_OFFSET and placed:
                places = ", ".join(f"{tensor_label(index, t, graph.tensors[t].name)} at {own[t]:,}" for t in placed)
                who = operator_label(index, op.position, op.kind)
                message = f"{who} finds its tensors at offsets in one arena: {places}; here each has its own place"
                yield Diagnostic("T271", message, help=_HELP)


def _operands(op: Operator) -> list[int]:
    """Return the tensors of an operator, each once, in order."""
    return list(dict.fromkeys(t for t in (*op.inputs, *op.outputs) if t is not None))
