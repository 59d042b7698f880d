"""Operators that read constants only are done now: their results are constants.

    %3 = DEQUANTIZE(%2)                                  %2 is a constant of float16 or int8
    %4 = CONV_2D(%1, %3, %5)    →    %4 = CONV_2D(%1, %3, %5)        %3 is a constant

Converters leave such operators where weights are kept in a smaller type, transposed or shared between shapes.  Only
what moves numbers or changes their type is done here, and nothing that makes many numbers of a few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.ir.options import Activation, Concatenation
from usmp_build.passes.rewrite.edit import Net
from usmp_build.passes.rewrite.fold_shapes import EVALUATORS, Array, Evaluator
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.views import SHAPES_ONLY

_LARGEST = 1024
"""Elements of a result that is larger than what it is made of."""
_STREAMED = {"AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MAX_POOL_2D", "MEAN"}
"""Kinds whose first input must not be a constant."""
_WHOLE = {DType.INT8, DType.UINT8, DType.INT16}


def fold_constants(model: Model, pins: Pins = NO_PINS) -> Model:
    """Compute operators whose inputs are all known."""
    subgraphs = (_in_subgraph(Net(graph, index, pins)) for index, graph in enumerate(model.subgraphs))
    return replace(model, subgraphs=tuple(subgraphs))


def _in_subgraph(net: Net) -> Subgraph:
    tensors = list(net.graph.tensors)
    for place, op in enumerate(net.graph.operators):
        value = _value(op, tensors) if _foldable(op, tensors, net) else None
        if value is not None:
            tensors[op.outputs[0]] = value
            net.put(place, None)
    return replace(net.finished(), tensors=tuple(tensors))


def _foldable(op: Operator, tensors: Sequence[Tensor], net: Net) -> bool:
    """What is not a port, of which and of whose inputs no rule speaks, and whose readers take constants."""
    if op.kind not in _EVALUATORS or len(op.outputs) != 1 or not net.may_change(op) or not net.may_go(op.outputs[0]):
        return False
    if any(net.pins.keeps(net.index, index) for index in op.inputs if index is not None):
        return False
    sources = [tensors[index] for index in op.inputs if index is not None]
    target = tensors[op.outputs[0]]
    if not sources or not all(source.is_constant and not source.is_withheld for source in sources):
        return False
    readers = (net.graph.operators[place] for place in net.readers[op.outputs[0]])
    if any(reader.kind in _STREAMED and reader.inputs[0] == op.outputs[0] for reader in readers):
        return False
    is_array = all(tensor.dtype.numpy and tensor.elements for tensor in (target, *sources))
    is_array &= target.dtype in ({source.dtype for source in sources} if op.kind != "DEQUANTIZE" else {DType.FLOAT32})
    counts = [source.elements for source in sources]
    most = max(_LARGEST, *counts)
    return is_array and target.elements <= most and sum(counts) <= 2 * most  # one constant may be named many times


def _value(op: Operator, tensors: Sequence[Tensor]) -> Tensor | None:
    """Return the constant that the operator computes, or None when its operands do not make what it declares."""
    target = tensors[op.outputs[0]]
    try:
        result = _EVALUATORS[op.kind](op, [tensors[index] for index in op.inputs if index is not None])
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    if result.size != target.elements or (op.kind not in SHAPES_ONLY and result.shape != target.shape):
        return None
    little = np.dtype(target.dtype.numpy).newbyteorder("<")
    return replace(target, data=result.astype(little).tobytes())


def _moved(op: Operator, sources: Sequence[Tensor]) -> Array:
    """As shapes are: the bytes are what they were."""
    if isinstance(op.options, Concatenation) and (
        op.options.activation is not Activation.NONE or len({source.quantization for source in sources}) > 1
    ):
        raise ValueError
    return EVALUATORS[op.kind](op, sources)


def _transposed(_: Operator, sources: Sequence[Tensor]) -> Array:
    data, axes = sources
    return np.asarray(data.as_array().transpose([int(axis) for axis in axes.as_array().ravel()]))


def _stretched(_: Operator, sources: Sequence[Tensor]) -> Array:
    data, shape = sources
    return np.broadcast_to(data.as_array(), [int(size) for size in shape.as_array().ravel()])


def _filled(_: Operator, sources: Sequence[Tensor]) -> Array:
    shape, value = sources
    if value.elements != 1:
        raise ValueError
    return np.broadcast_to(value.as_array().ravel()[0], [int(size) for size in shape.as_array().ravel()])


def _dequantized(_: Operator, sources: Sequence[Tensor]) -> Array:
    """The product is rounded once, to float32."""
    (source,) = sources
    data, quantized = source.as_array(), source.quantization
    if source.dtype is DType.FLOAT16:
        return data.astype(np.float32)
    if source.dtype not in _WHOLE or quantized is None:
        raise ValueError
    scales, points = (_along(numbers, quantized, data.ndim) for numbers in (quantized.scales, quantized.zero_points))
    with np.errstate(over="ignore"):  # what is too large is infinite, as in C
        return np.asarray(scales * (data.astype(np.float64) - points)).astype(np.float32)


def _along(numbers: Sequence[float], quantized: Quantization, rank: int) -> Array:
    """Lay one number, or one for each index along the axis, beside an array."""
    if len(numbers) == 1:
        return np.array(numbers, np.float64)
    return np.array(numbers, np.float64).reshape([-1 if axis == quantized.axis else 1 for axis in range(rank)])


_EVALUATORS: Mapping[str, Evaluator] = {
    **dict.fromkeys(
        ("CONCATENATION", "EXPAND_DIMS", "PACK", "RESHAPE", "SLICE", "SQUEEZE", "STRIDED_SLICE"),
        _moved,
    ),
    "BROADCAST_TO": _stretched,
    "DEQUANTIZE": _dequantized,
    "FILL": _filled,
    "TRANSPOSE": _transposed,
}
