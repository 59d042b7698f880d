"""A subgraph → the bytes of a .tflite file that holds it: how a case of these tests gets to TensorFlow Lite Micro."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import flatbuffers
import numpy as np
import tflite

from usmp_build.ir import options as o
from usmp_build.ir.graph import Operator, Subgraph, Tensor

_TABLES: dict[str, str] = {
    "ADD": "AddOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "CONCATENATION": "ConcatenationOptions",
    "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions",
    "MUL": "MulOptions",
    "SOFTMAX": "SoftmaxOptions",
    "SUB": "SubOptions",
}
"""Operator kind → the schema's table of options; the others are written without one."""

_FIELDS: dict[str, str] = {
    "activation": "FusedActivationFunction",
    "dilation_h": "DilationHFactor",
    "dilation_w": "DilationWFactor",
    "filter_h": "FilterHeight",
    "filter_w": "FilterWidth",
    "shuffled_weights": "WeightsFormat",
}
"""A field of our options → the schema's name of it, where that is not the same in camel case."""


def flatfile(graph: Subgraph) -> bytes:
    """Write a model of one subgraph."""
    b = flatbuffers.Builder(1024)
    data = [b"", *(tensor.data for tensor in graph.tensors if tensor.data is not None)]
    buffers = [_buffer(b, piece) for piece in data]
    kinds = sorted({op.kind for op in graph.operators})
    codes = [_operator_code(b, kind) for kind in kinds]
    main = _subgraph(b, graph, kinds)
    vectors = {"Buffers": _offsets(b, buffers), "OperatorCodes": _offsets(b, codes), "Subgraphs": _offsets(b, [main])}
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    for name, vector in vectors.items():
        getattr(tflite, f"ModelAdd{name}")(b, vector)
    b.Finish(tflite.ModelEnd(b), file_identifier=b"TFL3")
    return bytes(b.Output())


def _subgraph(b: flatbuffers.Builder, graph: Subgraph, kinds: list[str]) -> int:
    position, offsets = 0, []
    for tensor in graph.tensors:
        position += tensor.data is not None
        offsets.append(_tensor(b, tensor, 0 if tensor.data is None else position))
    operators = _offsets(b, [_operator(b, op, kinds.index(op.kind)) for op in graph.operators])
    tensors = _offsets(b, offsets)
    inputs, outputs = _int32s(b, graph.inputs), _int32s(b, graph.outputs)
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, inputs)
    tflite.SubGraphAddOutputs(b, outputs)
    tflite.SubGraphAddOperators(b, operators)
    return int(tflite.SubGraphEnd(b))


def _tensor(b: flatbuffers.Builder, tensor: Tensor, buffer: int) -> int:
    name, shape = b.CreateString(tensor.name), _int32s(b, tensor.shape)
    quantization = None
    if tensor.quantization is not None:
        scales = b.CreateNumpyVector(np.array(tensor.quantization.scales, np.float32))
        zero_points = b.CreateNumpyVector(np.array(tensor.quantization.zero_points, np.int64))
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddScale(b, scales)
        tflite.QuantizationParametersAddZeroPoint(b, zero_points)
        tflite.QuantizationParametersAddQuantizedDimension(b, tensor.quantization.axis)
        quantization = tflite.QuantizationParametersEnd(b)
    tflite.TensorStart(b)
    tflite.TensorAddName(b, name)
    tflite.TensorAddShape(b, shape)
    tflite.TensorAddType(b, getattr(tflite.TensorType, tensor.dtype.name))
    tflite.TensorAddBuffer(b, buffer)
    if quantization is not None:
        tflite.TensorAddQuantization(b, quantization)
    return int(tflite.TensorEnd(b))


def _operator(b: flatbuffers.Builder, op: Operator, code: int) -> int:
    inputs = _int32s(b, [-1 if t is None else t for t in op.inputs])
    outputs = _int32s(b, op.outputs)
    table = _TABLES.get(op.kind)
    options = _options(b, table, op.options) if table and op.options else None
    tflite.OperatorStart(b)
    tflite.OperatorAddOpcodeIndex(b, code)
    tflite.OperatorAddInputs(b, inputs)
    tflite.OperatorAddOutputs(b, outputs)
    if options is not None:
        tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, str(table)))
        tflite.OperatorAddBuiltinOptions(b, options)
    return int(tflite.OperatorEnd(b))


def _options(b: flatbuffers.Builder, table: str, options: o.Options) -> int:
    getattr(tflite, f"{table}Start")(b)
    for field in options.__dataclass_fields__:
        value = getattr(options, field)
        name = _FIELDS.get(field) or "".join(word.capitalize() for word in field.split("_"))
        getattr(tflite, f"{table}Add{name}")(b, value.value if isinstance(value, Enum) else value)
    return int(getattr(tflite, f"{table}End")(b))


def _operator_code(b: flatbuffers.Builder, kind: str) -> int:
    code = getattr(tflite.BuiltinOperator, kind)
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(code, 127))
    tflite.OperatorCodeAddBuiltinCode(b, code)
    tflite.OperatorCodeAddVersion(b, 1)
    return int(tflite.OperatorCodeEnd(b))


def _buffer(b: flatbuffers.Builder, data: bytes) -> int:
    vector = None
    if data:
        b.StartVector(1, len(data), 16)
        b.head = b.head - len(data)
        b.Bytes[b.head : b.head + len(data)] = data
        vector = b.EndVector()
    tflite.BufferStart(b)
    if vector is not None:
        tflite.BufferAddData(b, vector)
    return int(tflite.BufferEnd(b))


def _int32s(b: flatbuffers.Builder, values: Sequence[int]) -> int:
    return int(b.CreateNumpyVector(np.array(values, np.int32)))


def _offsets(b: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    b.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        b.PrependUOffsetTRelative(offset)
    return int(b.EndVector())
