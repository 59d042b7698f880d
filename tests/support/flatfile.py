"""A subgraph → the bytes of a .tflite file that holds it: how a case of these tests gets to TensorFlow Lite Micro."""

import dataclasses
from collections.abc import Iterator
from enum import Enum

import tflite
from flatbuffers import flexbuffers

from tests.support import flatbuffer as fb
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.options import Options
from usmp_build.operators.table import OPERATORS

_FIELDS = {
    "activation": "FusedActivationFunction",
    "body_subgraph": "BodySubgraphIndex",
    "cond_subgraph": "CondSubgraphIndex",
    "dilation_h": "DilationHFactor",
    "dilation_w": "DilationWFactor",
    "else_subgraph": "ElseSubgraphIndex",
    "filter_h": "FilterHeight",
    "filter_w": "FilterWidth",
    "shuffled_weights": "WeightsFormat",
    "then_subgraph": "ThenSubgraphIndex",
}
"""A field of our options → the schema's name of it, where that is not the same in camel case."""


def flatfile(*graphs: Subgraph) -> bytes:
    """Write a model of one subgraph, or several."""
    data = [tensor.data for graph in graphs for tensor in graph.tensors if tensor.data is not None]
    numbers = iter(range(1, len(data) + 1))
    return fb.write(fb.model(*(_subgraph(graph, numbers) for graph in graphs), data=data))


def _subgraph(graph: Subgraph, numbers: Iterator[int]) -> fb.Node:
    tensors = [_tensor(tensor, next(numbers) if tensor.data is not None else 0) for tensor in graph.tensors]
    operators = [_operator(op, graph) for op in graph.operators]
    return fb.subgraph(tensors, operators, graph.inputs, graph.outputs)


def _tensor(tensor: Tensor, buffer: int) -> fb.Node:
    fields = {"IsVariable": True} if tensor.is_variable else {}
    if tensor.quantization is not None:
        q = tensor.quantization
        fields["Quantization"] = fb.quantization(q.scales, q.zero_points, q.axis)
    return fb.tensor(tensor.name, tensor.shape, tensor.dtype.name, Buffer=buffer, **fields)


def _operator(op: Operator, graph: Subgraph) -> fb.Node:
    inputs = [-1 if index is None else index for index in op.inputs]
    if op.kind.startswith("CUSTOM:"):
        return fb.operator(op.kind, inputs, op.outputs, custom=custom_options(op, graph))
    options = _options(op.kind, op.options) if op.options else None
    if op.kind == "SPLIT":
        options = fb.Node("SplitOptions", NumSplits=len(op.outputs))
    return fb.operator(op.kind, inputs, op.outputs, options)


def custom_options(op: Operator, graph: Subgraph) -> bytes:
    """Return the options of a custom operator as TensorFlow's converter writes them: some with the type, as "T"."""
    values = {} if op.options is None else dataclasses.asdict(op.options)
    if op.kind in _TYPED:
        values["T"] = getattr(tflite.TensorType, graph.tensors[op.inputs[0] or 0].dtype.name)
    return bytes(flexbuffers.Dumps(values))


_TYPED = {"CUSTOM:SignalIrfft", "CUSTOM:SignalOverlapAdd", "CUSTOM:SignalRfft"}


def _options(kind: str, options: Options) -> fb.Node:
    stored = OPERATORS[kind].options
    assert stored is not None
    assert stored.table is not None
    fields = {}
    for name in options.__dataclass_fields__:
        value = getattr(options, name)
        if value is None or name in stored.left_out:
            continue  # TFLite does not have it
        shown = _FIELDS.get(name) or "".join(word.capitalize() for word in name.split("_"))
        fields[shown] = value.value if isinstance(value, Enum) else value
    if kind == "CALL_ONCE":
        fields = {"InitSubgraphIndex": fields["Subgraph"]}
    return fb.Node(stored.table, **fields)
