"""Replaces writes of one item of a list, which converters make from TensorArrays in loops of GRU and LSTM layers.

    SLICE(list, 0, index) ──┐
    item ───────────────────┼─ CONCATENATION ─→ list    becomes    DYNAMIC_UPDATE_SLICE(list, item, index)
    SLICE(list, index + 1) ─┘

The sizes of both slices change with each iteration: LiteRT resizes them, and the file cannot state them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from usmp_build.ir.check import check
from usmp_build.ir.graph import DType, Model, Operator, Subgraph
from usmp_build.ir.options import Activation
from usmp_build.operators.joining import Concatenation

_INDICES = (DType.INT32, DType.INT64)


class _Write(NamedTuple):
    """The operators of one write, in the file and here."""

    slices: tuple[Operator, Operator]
    """SLICE of the items before the one that is written, and of those after it."""
    begin_after: Operator
    """CONCATENATION that makes the `begin` of the second slice."""
    operators: tuple[Operator, Operator]
    """CONCATENATION that makes the place of the item, and DYNAMIC_UPDATE_SLICE."""


def with_updates(model: Model) -> Model:
    """Return the model with an update in place of each such write; the model itself where there is none."""
    if len(model.subgraphs) == 1 or check(model):
        return model
    subgraphs = tuple(map(_updated, model.subgraphs))
    return model if subgraphs == model.subgraphs else replace(model, subgraphs=subgraphs)


def _updated(graph: Subgraph) -> Subgraph:
    writers = {tensor: op for op in graph.operators for tensor in op.outputs}
    uses = Counter(tensor for op in graph.operators for tensor in op.inputs)
    uses.update(graph.outputs)
    writes = {op.position: write for op in graph.operators if (write := _write(op, graph, writers, uses))}
    gone = {op.position for write in writes.values() for op in (*write.slices, write.begin_after)}
    kept = [op for op in graph.operators if op.position not in gone]
    operators = [new for op in kept for new in (writes[op.position].operators if op.position in writes else (op,))]
    return replace(graph, operators=tuple(operators)) if writes else graph


def _write(
    op: Operator, graph: Subgraph, writers: Mapping[int, Operator], uses: Mapping[int | None, int]
) -> _Write | None:
    """Return the write whose last operator is this CONCATENATION; None for all other operators."""
    if len(op.inputs) != 3 or not _joins(op):
        return None
    before, after = (_written(part, "SLICE", 3, writers, uses) for part in (op.inputs[0], op.inputs[2]))
    if not before or not after or not _is_item(op, before.inputs[0], graph) or before.inputs[0] != after.inputs[0]:
        return None
    (items, first, count), (_, begin, rest) = before.inputs, after.inputs
    end, start = (_written(part, "CONCATENATION", 2, writers, uses) for part in (count, begin))
    if not end or not start or not (_joins(end) and _joins(start) and _all(0, first, graph) and _all(-1, rest, graph)):
        return None
    (index, all_sizes), (following, zeros) = end.inputs, start.inputs
    is_next = _is_next(_scalar(following, writers), _scalar(index, writers), graph, writers)
    if not (is_next and _all(-1, all_sizes, graph) and _all(0, zeros, graph)):
        return None
    update = Operator("DYNAMIC_UPDATE_SLICE", (items, op.inputs[1], begin), op.outputs, None, op.position)
    return _Write((before, after), start, (replace(start, inputs=(index, zeros)), update))


def _is_item(op: Operator, items: int | None, graph: Subgraph) -> bool:
    """Tell whether the middle input is one item of a list, and the output a list of the same shape."""
    item = op.inputs[1]
    if items is None or item is None:
        return False
    shape = graph.tensors[items].shape
    return graph.tensors[op.outputs[0]].shape == shape and graph.tensors[item].shape == (1, *shape[1:])


def _joins(op: Operator) -> bool:
    """Tell whether an operator is a CONCATENATION along the first axis."""
    options = op.options if op.kind == "CONCATENATION" else None
    return isinstance(options, Concatenation) and (options.axis, options.activation) == (0, Activation.NONE)


def _written(
    tensor: int | None, kind: str, inputs: int, writers: Mapping[int, Operator], uses: Mapping[int | None, int]
) -> Operator | None:
    """Return the operator that writes a tensor with one reader, if it has this kind and number of inputs."""
    op = writers.get(tensor) if tensor is not None and uses[tensor] == 1 else None
    return op if op and op.kind == kind and len(op.inputs) == inputs else None


def _all(value: int, tensor: int | None, graph: Subgraph) -> bool:
    """Tell whether a tensor is a constant whose integers all have this value."""
    if tensor is None:
        return False
    stored = graph.tensors[tensor]
    return stored.is_constant and stored.dtype in _INDICES and bool((stored.as_array() == value).all())


def _scalar(tensor: int | None, writers: Mapping[int, Operator]) -> int | None:
    """Return the scalar that a RESHAPE made a tensor from, or the tensor itself."""
    op = writers.get(tensor) if tensor is not None else None
    return op.inputs[0] if op and op.kind == "RESHAPE" and op.inputs else tensor


def _is_next(following: int | None, index: int | None, graph: Subgraph, writers: Mapping[int, Operator]) -> bool:
    """Tell whether `following` is computed as `index` + 1."""
    op = writers.get(following) if following is not None else None
    if index is None or not op or op.kind != "ADD" or len(op.inputs) != 2 or index not in op.inputs:
        return False
    (other,) = [each for each in op.inputs if each != index] or [None]
    return _all(1, other, graph)
