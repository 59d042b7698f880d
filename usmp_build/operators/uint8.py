"""Operators of uint8, as TensorFlow 1 quantized them: which of them int8 computes with every value 128 less.

    uint8: real = scale * (q - z)        int8: real = scale * ((q - 128) - (z - 128))

Only differences from zero points are multiplied and added, and results are rounded before a zero point is added: so
most operators make the same numbers, 128 less.  What LiteRT's reference kernels compute in another way for uint8 is
named by `difference`.  FULLY_CONNECTED and all others that are not named are computed in the same way.
"""

from __future__ import annotations

import numpy as np

from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.operators.detection import DETECTION

SHIFT = 128
CONVOLUTIONS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"})
"""Kinds whose kernels take no weights with a zero point."""
_COMPUTED = CONVOLUTIONS | {
    "ADD", "ARG_MAX", "ARG_MIN", "AVERAGE_POOL_2D", DETECTION, "DIV", "EQUAL", "FULLY_CONNECTED", "GREATER",
    "GREATER_EQUAL", "HARD_SWISH", "LEAKY_RELU", "LESS", "LESS_EQUAL", "LOGISTIC", "LOG_SOFTMAX", "MAXIMUM",
    "MAX_POOL_2D", "MEAN", "MINIMUM", "MUL", "NOT_EQUAL", "PRELU", "REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6",
    "SELECT", "SELECT_V2", "SOFTMAX", "SUB", "SUM", "TANH",
}  # fmt: skip
"""Kinds that have no kernel of uint8, and compute the same in int8, except for what `difference` says."""
_MOVED = frozenset({
    "BATCH_TO_SPACE_ND", "CONCATENATION", "DEPTH_TO_SPACE", "DEQUANTIZE", "DYNAMIC_UPDATE_SLICE", "EXPAND_DIMS", "FILL",
    "GATHER", "GATHER_ND", "MIRROR_PAD", "PACK", "PAD", "PADV2", "QUANTIZE", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR",
    "REVERSE_V2", "SLICE", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE",
    "TILE", "TRANSPOSE", "UNPACK",
})  # fmt: skip
"""Kinds that have kernels of uint8, mostly, and run in int8 where others do."""


def is_quantized(tensor: Tensor) -> bool:
    """Tell whether a tensor has real numbers as uint8, with one scale."""
    quantization = tensor.quantization
    if tensor.dtype is not DType.UINT8 or quantization is None:
        return False
    return len(quantization.scales) == len(quantization.zero_points) == 1 and quantization.scales[0] > 0


def is_computed(op: Operator, graph: Subgraph) -> bool:
    """Tell whether an operator of uint8 does more than move bytes, so that it has no kernel of that type."""
    operands = [graph.tensors[t] for t in (*op.inputs, *op.outputs) if t is not None]
    if op.kind == "QUANTIZE":
        return {tensor.dtype for tensor in operands} != {DType.UINT8, DType.INT8}
    if op.kind == "CONCATENATION":
        return len({tensor.quantization for tensor in operands}) > 1
    return op.kind in _COMPUTED


def difference(op: Operator, graph: Subgraph) -> str:
    """Return why int8 does not compute what an operator of uint8 does, as a clause; empty where it does."""
    operands = [graph.tensors[t] for t in (*op.inputs, *op.outputs) if t is not None]
    if op.kind not in _COMPUTED | _MOVED:
        return f"int8 does not compute {op.kind} as uint8 does"
    if any(tensor.dtype is DType.UINT8 and not is_quantized(tensor) for tensor in operands):
        return "its uint8 does not have one scale for each tensor"
    if op.kind in CONVOLUTIONS:
        return _of_weights(graph.tensors[op.inputs[1] or 0])
    if op.kind == "RELU6" and operands[0].quantization != operands[-1].quantization:
        return "its input and output are quantized in different ways"
    return ""


def _of_weights(weights: Tensor) -> str:
    if not is_quantized(weights):
        return f"its weights are of {weights.dtype.name}"
    if weights.quantization is None or not weights.is_constant:
        return "its weights are not constant"
    if signed_weights(weights) is None:
        point = weights.quantization.zero_points[0]
        return f"its weights lie up to 255 from their zero point, {point}, and only those around {SHIFT} fit into int8"
    return ""


def signed_weights(weights: Tensor) -> bytes | None:
    """Return weights of uint8 as what they are from their zero point, in int8; None where that does not fit."""
    assert weights.quantization is not None
    if weights.is_withheld:
        return weights.data if weights.quantization.zero_points[0] == SHIFT else None
    values = weights.as_array().astype(np.int16) - weights.quantization.zero_points[0]
    return values.astype(np.int8).tobytes() if ((values >= -SHIFT) & (values < SHIFT)).all() else None
