"""Models of int8 as TensorFlow 1 would have made them: of uint8, one scale for each tensor, values 128 more."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests.support.kernels.drawing import Array, Case
from tests.support.kernels.driver import Runner
from tests.support.kernels.samples import kernel_of
from usmp_build.ir.graph import DType, Quantization, Subgraph, Tensor


def as_uint8(graph: Subgraph) -> Subgraph:
    """Return a graph with uint8 in place of quantized int8."""
    return replace(graph, tensors=tuple(map(_unsigned, graph.tensors)))


def _unsigned(tensor: Tensor) -> Tensor:
    if tensor.quantization is None:
        return tensor
    scales, points = tensor.quantization.scales[:1], tensor.quantization.zero_points[:1]
    if tensor.dtype is not DType.INT8:
        return replace(tensor, quantization=Quantization(scales, points))
    data = None if tensor.data is None else (np.frombuffer(tensor.data, np.uint8) ^ 128).tobytes()
    return replace(tensor, dtype=DType.UINT8, quantization=Quantization(scales, (points[0] + 128,)), data=data)


def computed(graph: Subgraph, runner: Runner, inputs: Sequence[Array]) -> list[Array]:
    """Return the outputs of a graph, operator by operator."""
    values = dict(zip(graph.inputs, inputs, strict=True))
    for op in graph.operators:
        if op.kind == "VIEW":
            values[op.outputs[0]] = values[op.inputs[0] or 0].reshape(graph.tensors[op.outputs[0]].shape)
            continue
        read = [t for t in dict.fromkeys(op.inputs) if t is not None and not graph.tensors[t].is_constant]
        one = replace(graph, inputs=tuple(read), outputs=op.outputs, operators=(op,))
        operands = tuple(values[t] for t in read)
        values |= zip(op.outputs, runner.run(one, kernel_of(Case(one, operands)), operands), strict=True)
    return [values[t] for t in graph.outputs]
