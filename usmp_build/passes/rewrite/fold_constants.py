"""Folds constants: evaluates operators that read only constants.

    %3 = DEQUANTIZE(%2)                                  %2 is a constant of float16 or int8
    %4 = CONV_2D(%1, %3, %5)    →    %4 = CONV_2D(%1, %3, %5)        %3 is a constant

Converters leave such operators where weights are stored in a smaller type, transposed or shared between shapes.  Only
operators that move numbers, change their type or unpack them are folded, and only those that unpack make many numbers
from a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.operators.decoding import DECODE, decoded
from usmp_build.operators.kind import Known
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_LARGEST = 1024
"""Most elements of a result that is larger than its inputs."""
_KNOWN = {Known.BYTES, Known.VALUES}


def fold_constants(model: Model, pins: Pins = NO_PINS) -> Model:
    """Evaluate operators with constant inputs."""
    subgraphs = (_in_subgraph(Net(graph, index, pins)) for index, graph in enumerate(model.subgraphs))
    return replace(model, subgraphs=tuple(subgraphs))


def _in_subgraph(net: Net) -> Subgraph:
    tensors = list(net.graph.tensors)
    for place, op in enumerate(net.graph.operators):
        values = _values(op, tensors) if _foldable(op, tensors, net) else None
        if values is not None:
            for index, value in zip(op.outputs, values, strict=True):
                tensors[index] = value
            net.put(place, None)
    return replace(net.finished(), tensors=tuple(tensors))


def _foldable(op: Operator, tensors: Sequence[Tensor], net: Net) -> bool:
    """Tell whether an operator has constant inputs, rules and ports allow folding, and its readers take constants."""
    fold = traits(op.kind).fold
    if op.kind != DECODE and (fold is None or fold.known not in _KNOWN or len(op.outputs) != 1):
        return False
    sources = [tensors[index] for index in op.inputs if index is not None]
    if not sources or not all(source.is_constant and not source.is_withheld for source in sources):
        return False
    return _may_go(op, net) and (op.kind == DECODE or _is_small(op, tensors[op.outputs[0]], sources))


def _may_go(op: Operator, net: Net) -> bool:
    """Tell whether rules, ports, and the readers of its outputs allow an operator to disappear."""
    is_kept = any(net.pins.keeps(net.index, index) for index in op.inputs if index is not None)
    if is_kept or not net.may_change(op) or not all(map(net.may_go, op.outputs)):
        return False
    readers = (net.graph.operators[place] for output in op.outputs for place in net.readers[output])
    return not any(traits(reader.kind).streams and reader.inputs[0] in op.outputs for reader in readers)


def _is_small(op: Operator, target: Tensor, sources: Sequence[Tensor]) -> bool:
    """Tell whether an operator makes an array of its sources' type that is hardly larger than they are."""
    is_array = all(tensor.dtype.numpy and tensor.elements for tensor in (target, *sources))
    is_array &= target.dtype in ({source.dtype for source in sources} if op.kind != "DEQUANTIZE" else {DType.FLOAT32})
    counts = [source.elements for source in sources]
    most = max(_LARGEST, *counts)
    return is_array and target.elements <= most and sum(counts) <= 2 * most  # one constant may be read repeatedly


def _values(op: Operator, tensors: Sequence[Tensor]) -> list[Tensor] | None:
    """Return the constants that an operator computes; None if they do not fit the declared outputs."""
    if op.kind != DECODE:
        value = folded(op, tensors, has_shape=not traits(op.kind).only_shape)
        return None if value is None else [value]
    sources = [tensors[index] for index in op.inputs if index is not None]
    try:
        pairs = [*zip(sources[::2], sources[1::2], (tensors[index] for index in op.outputs), strict=True)]
        return [replace(target, data=_stored(decoded(codes, how, target), target)) for codes, how, target in pairs]
    except ValueError:
        return None


def _stored(value: NDArray[Any], target: Tensor) -> bytes:
    return value.astype(np.dtype(target.dtype.numpy).newbyteorder("<")).tobytes()


def folded(op: Operator, tensors: Sequence[Tensor], has_shape: bool = False) -> Tensor | None:
    """Return the constant that an operator computes; None if operands are invalid, or the output has other elements.

    With `has_shape`, the result must have the declared shape, too.
    """
    target, fold = tensors[op.outputs[0]], traits(op.kind).fold
    if fold is None:
        return None
    try:
        result = np.asarray(fold.value(op, [tensors[index] for index in op.inputs if index is not None]))
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    if result.size != target.elements or (has_shape and result.shape != target.shape):
        return None
    return replace(target, data=_stored(result, target))
