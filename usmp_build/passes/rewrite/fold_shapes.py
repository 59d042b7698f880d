"""Folds shape arithmetic: of SHAPE → STRIDED_SLICE → PACK → RESHAPE only the RESHAPE is left.

Converters emit such chains for models with a variable batch size.  All shapes are known here, so every operator of the
chain has constant inputs; it is evaluated, and its output becomes a constant.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.operators.kind import Known
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.fold_constants import folded
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_LARGEST = 1024
"""Most elements of a result.  Shapes are short; folding must not turn a small model into a large one."""

_INTEGERS = {DType.INT32, DType.INT64, DType.UINT32, DType.UINT64, DType.INT16, DType.BOOL}


def fold_shapes(model: Model, pins: Pins = NO_PINS) -> Model:
    """Evaluate integer operators with known inputs."""
    subgraphs = (_in_subgraph(graph, index, pins) for index, graph in enumerate(model.subgraphs))
    return replace(model, subgraphs=tuple(subgraphs))


def _in_subgraph(graph: Subgraph, index: int, pins: Pins) -> Subgraph:
    tensors = list(graph.tensors)
    operators = []
    for op in graph.operators:
        foldable = _foldable(op, tensors, graph) and pins.may_fold(index, op)
        value = folded(op, tensors) if foldable else None
        if value is None:
            operators.append(op)
        else:
            tensors[op.outputs[0]] = value
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))


def _foldable(op: Operator, tensors: list[Tensor], graph: Subgraph) -> bool:
    """Tell whether an operator makes small integers from known inputs, and no output of the subgraph."""
    fold = traits(op.kind).fold
    if fold is None or fold.known is Known.VALUES or len(op.outputs) != 1 or op.outputs[0] in graph.outputs:
        return False
    target = tensors[op.outputs[0]]
    if target.quantization is not None or not _is_small(target):
        return False
    sources = [tensors[i] for i in op.inputs if i is not None]
    if fold.known is Known.SHAPES:
        return len(sources) == 1
    if sum(t.elements for t in sources) > 4 * _LARGEST:  # one constant may be named many times
        return False
    return all(each.is_constant and _is_small(each) for each in sources)


def _is_small(tensor: Tensor) -> bool:
    return tensor.dtype in _INTEGERS and tensor.elements <= _LARGEST
