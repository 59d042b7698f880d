"""The parts of TensorFlow Lite's schema that we read, table by table.

Tables are named as in schema.fbs; the fields of options as in `ir.options`, so that one converts into the other.
Defaults are the schema's, not ours.  A test compares all of it with the `tflite` package.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflite.BuiltinOptions import BuiltinOptions

from usmp_build.importers.tflite.flatbuffer import (
    Record,
    content,
    present,
    scalar,
    table,
    tables,
    text,
    union,
    vector,
)


@dataclass(frozen=True, slots=True)
class Conv2DOptions(Record):
    """Of CONV_2D."""

    padding: int = scalar(0, "b")
    stride_w: int = scalar(1, "i")
    stride_h: int = scalar(2, "i")
    activation: int = scalar(3, "b")
    dilation_w: int = scalar(4, "i", 1)
    dilation_h: int = scalar(5, "i", 1)


@dataclass(frozen=True, slots=True)
class TransposeConvOptions(Record):
    """Of TRANSPOSE_CONV."""

    padding: int = scalar(0, "b")
    stride_w: int = scalar(1, "i")
    stride_h: int = scalar(2, "i")
    activation: int = scalar(3, "b")


@dataclass(frozen=True, slots=True)
class DepthwiseConv2DOptions(Record):
    """Of DEPTHWISE_CONV_2D."""

    padding: int = scalar(0, "b")
    stride_w: int = scalar(1, "i")
    stride_h: int = scalar(2, "i")
    depth_multiplier: int = scalar(3, "i")
    activation: int = scalar(4, "b")
    dilation_w: int = scalar(5, "i", 1)
    dilation_h: int = scalar(6, "i", 1)


@dataclass(frozen=True, slots=True)
class Pool2DOptions(Record):
    """Of the pools."""

    padding: int = scalar(0, "b")
    stride_w: int = scalar(1, "i")
    stride_h: int = scalar(2, "i")
    filter_w: int = scalar(3, "i")
    filter_h: int = scalar(4, "i")
    activation: int = scalar(5, "b")


@dataclass(frozen=True, slots=True)
class FullyConnectedOptions(Record):
    """Of FULLY_CONNECTED."""

    activation: int = scalar(0, "b")
    shuffled_weights: int = scalar(1, "b")
    keep_num_dims: bool = scalar(2, "?")


@dataclass(frozen=True, slots=True)
class BinaryOptions(Record):
    """Of ADD, SUB, MUL and DIV: four tables, as far as they are alike."""

    activation: int = scalar(0, "b")


@dataclass(frozen=True, slots=True)
class SoftmaxOptions(Record):
    """Of SOFTMAX."""

    beta: float = scalar(0, "f", 0.0)


@dataclass(frozen=True, slots=True)
class ConcatenationOptions(Record):
    """Of CONCATENATION."""

    axis: int = scalar(0, "i")
    activation: int = scalar(1, "b")


@dataclass(frozen=True, slots=True)
class ReducerOptions(Record):
    """Of the reductions."""

    keep_dims: bool = scalar(0, "?")


@dataclass(frozen=True, slots=True)
class StridedSliceOptions(Record):
    """Of STRIDED_SLICE."""

    begin_mask: int = scalar(0, "i")
    end_mask: int = scalar(1, "i")
    ellipsis_mask: int = scalar(2, "i")
    new_axis_mask: int = scalar(3, "i")
    shrink_axis_mask: int = scalar(4, "i")
    offset: bool = scalar(5, "?")


@dataclass(frozen=True, slots=True)
class PackOptions(Record):
    """Of PACK."""

    values_count: int = scalar(0, "i")
    axis: int = scalar(1, "i")


@dataclass(frozen=True, slots=True)
class GatherOptions(Record):
    """Of GATHER."""

    axis: int = scalar(0, "i")
    batch_dims: int = scalar(1, "i")


@dataclass(frozen=True, slots=True)
class SvdfOptions(Record):
    """Of SVDF."""

    rank: int = scalar(0, "i")
    activation: int = scalar(1, "b")


@dataclass(frozen=True, slots=True)
class VarHandleOptions(Record):
    """Of VAR_HANDLE."""

    container: str = text(0)
    shared_name: str = text(1)


@dataclass(frozen=True, slots=True)
class IfOptions(Record):
    """Of IF."""

    then_subgraph: int = scalar(0, "i")
    else_subgraph: int = scalar(1, "i")


@dataclass(frozen=True, slots=True)
class WhileOptions(Record):
    """Of WHILE."""

    cond_subgraph: int = scalar(0, "i")
    body_subgraph: int = scalar(1, "i")


@dataclass(frozen=True, slots=True)
class CallOptions(Record):
    """Of CALL."""

    subgraph: int = scalar(0, "I")


@dataclass(frozen=True, slots=True)
class CallOnceOptions(Record):
    """Of CALL_ONCE."""

    subgraph: int = scalar(0, "i")


OPTIONS: dict[str, tuple[int, type[Record]]] = {
    "ADD": (BuiltinOptions.AddOptions, BinaryOptions),
    "AVERAGE_POOL_2D": (BuiltinOptions.Pool2DOptions, Pool2DOptions),
    "CALL": (BuiltinOptions.CallOptions, CallOptions),
    "CALL_ONCE": (BuiltinOptions.CallOnceOptions, CallOnceOptions),
    "CONCATENATION": (BuiltinOptions.ConcatenationOptions, ConcatenationOptions),
    "CONV_2D": (BuiltinOptions.Conv2DOptions, Conv2DOptions),
    "DEPTHWISE_CONV_2D": (BuiltinOptions.DepthwiseConv2DOptions, DepthwiseConv2DOptions),
    "DIV": (BuiltinOptions.DivOptions, BinaryOptions),
    "FULLY_CONNECTED": (BuiltinOptions.FullyConnectedOptions, FullyConnectedOptions),
    "GATHER": (BuiltinOptions.GatherOptions, GatherOptions),
    "IF": (BuiltinOptions.IfOptions, IfOptions),
    "L2_POOL_2D": (BuiltinOptions.Pool2DOptions, Pool2DOptions),
    "MAX_POOL_2D": (BuiltinOptions.Pool2DOptions, Pool2DOptions),
    "MEAN": (BuiltinOptions.ReducerOptions, ReducerOptions),
    "MUL": (BuiltinOptions.MulOptions, BinaryOptions),
    "PACK": (BuiltinOptions.PackOptions, PackOptions),
    "REDUCE_ALL": (BuiltinOptions.ReducerOptions, ReducerOptions),
    "REDUCE_ANY": (BuiltinOptions.ReducerOptions, ReducerOptions),
    "REDUCE_MAX": (BuiltinOptions.ReducerOptions, ReducerOptions),
    "REDUCE_MIN": (BuiltinOptions.ReducerOptions, ReducerOptions),
    "REDUCE_PROD": (BuiltinOptions.ReducerOptions, ReducerOptions),
    "SOFTMAX": (BuiltinOptions.SoftmaxOptions, SoftmaxOptions),
    "STRIDED_SLICE": (BuiltinOptions.StridedSliceOptions, StridedSliceOptions),
    "SUB": (BuiltinOptions.SubOptions, BinaryOptions),
    "SUM": (BuiltinOptions.ReducerOptions, ReducerOptions),
    "SVDF": (BuiltinOptions.SVDFOptions, SvdfOptions),
    "TRANSPOSE_CONV": (BuiltinOptions.TransposeConvOptions, TransposeConvOptions),
    "VAR_HANDLE": (BuiltinOptions.VarHandleOptions, VarHandleOptions),
    "WHILE": (BuiltinOptions.WhileOptions, WhileOptions),
}
"""Operator kind → the type that the union `builtin_options` must have, and its table.  Others are not read."""


@dataclass(frozen=True, slots=True)
class OperatorCode(Record):
    """A kind of operator that the file uses."""

    deprecated_builtin_code: int = scalar(0, "b")
    custom_code: str = text(1)
    builtin_code: int = scalar(3, "i")


@dataclass(frozen=True, slots=True)
class Operator(Record):
    """An operator, which names its kind by index."""

    opcode_index: int = scalar(0, "I")
    inputs: tuple[int, ...] = vector(1, "i")
    outputs: tuple[int, ...] = vector(2, "i")
    options_type: int = scalar(3, "B")
    options: tuple[Record, ...] = union(3, dict(OPTIONS.values()))


@dataclass(frozen=True, slots=True)
class QuantizationParameters(Record):
    """Scales and zero points."""

    scale: tuple[float, ...] = vector(2, "f")
    zero_point: tuple[int, ...] = vector(3, "q")
    details_type: int = scalar(4, "B")
    quantized_dimension: int = scalar(6, "i")


@dataclass(frozen=True, slots=True)
class Tensor(Record):
    """A tensor, which names its data by index."""

    shape: tuple[int, ...] = vector(0, "i")
    type: int = scalar(1, "b")
    buffer: int = scalar(2, "I")
    name: str = text(3)
    quantization: tuple[QuantizationParameters, ...] = table(4, QuantizationParameters)
    is_variable: bool = scalar(5, "?")
    is_sparse: bool = present(6)
    external_buffer: int = scalar(10, "I")


@dataclass(frozen=True, slots=True)
class SubGraph(Record):
    """Tensors and operators."""

    tensors: tuple[Tensor, ...] = tables(0, Tensor)
    inputs: tuple[int, ...] = vector(1, "i")
    outputs: tuple[int, ...] = vector(2, "i")
    operators: tuple[Operator, ...] = tables(3, Operator)
    name: str = text(4)


@dataclass(frozen=True, slots=True)
class Buffer(Record):
    """Data of tensors."""

    data: bytes = content(0, 1, 2)


@dataclass(frozen=True, slots=True)
class TensorMap(Record):
    """A name of an input or output."""

    name: str = text(0)
    tensor_index: int = scalar(1, "I")


@dataclass(frozen=True, slots=True)
class SignatureDef(Record):
    """Names of the inputs and outputs of a subgraph."""

    inputs: tuple[TensorMap, ...] = tables(0, TensorMap)
    outputs: tuple[TensorMap, ...] = tables(1, TensorMap)
    subgraph_index: int = scalar(4, "I")


@dataclass(frozen=True, slots=True)
class Model(Record):
    """The root."""

    version: int = scalar(0, "I")
    operator_codes: tuple[OperatorCode, ...] = tables(1, OperatorCode)
    subgraphs: tuple[SubGraph, ...] = tables(2, SubGraph)
    buffers: tuple[Buffer, ...] = tables(4, Buffer)
    signature_defs: tuple[SignatureDef, ...] = tables(7, SignatureDef)
