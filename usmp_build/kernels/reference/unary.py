"""LOGISTIC, TANH, RELU and RELU6 as operators of their own."""

from __future__ import annotations

from usmp_build.arithmetic import tables
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Traffic,
    Whole,
)
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.reference.activation import quantized_limits
from usmp_build.kernels.reference.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.reference.quantization import requantize

_FUNCTIONS = {"LOGISTIC": tables.logistic, "TANH": tables.tanh}


def smooth(node: Node) -> Kernel:
    """LOGISTIC and TANH: for int8 a table."""
    if _is_int8(node):
        operands = (Input(0), Derived(0), Output(0))
        size = node.output.elements
        traffic = (Traffic(size), Traffic(size), Traffic(written=size))
        return Kernel((_call(node, "lookup_s8", operands, traffic),), (Constant("table", DType.INT8, _table(node)),))
    return Kernel((_call(node, f"{node.operator.kind.lower()}_f32"),))


def relu(node: Node) -> Kernel:
    """RELU: for int8 also to another scale."""
    if _is_int8(node):
        return requantize(node, "s8_s8", quantized_limits(node, Activation.RELU, node.output))
    return Kernel((_call(node, "relu_f32"),))


def relu6(node: Node) -> Kernel:
    """RELU6: for int8 the input's scale counts, whatever the output's is."""
    if not _is_int8(node):
        return Kernel((_call(node, "relu6_f32"),))
    source = node.input(0)
    zero_point = node.zero_point(source)
    _, six = quantized_limits(node, Activation.RELU6, source)
    fields = (("size", source.elements), ("low", zero_point), ("high", six + zero_point))
    parameters = Parameters("clamp_s8_parameters", fields)
    return Kernel((KernelCall("clamp_s8", Whole(), (Input(0), Output(0)), parameters),))


def _is_int8(node: Node) -> bool:
    source, output = node.input(0), node.output
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    types = (source.dtype, output.dtype)
    if types not in {(DType.INT8, DType.INT8), (DType.FLOAT32, DType.FLOAT32)}:
        raise unsupported_types(source, output)
    return source.dtype is DType.INT8


def _call(
    node: Node, function: str, operands: tuple[Operand, ...] = (Input(0), Output(0)), traffic: tuple[Traffic, ...] = ()
) -> KernelCall:
    parameters = Parameters("elements", (("size", node.output.elements),))
    return KernelCall(function, Whole(), operands, parameters, traffic)


def _table(node: Node) -> bytes:
    source, kind = node.input(0), node.operator.kind
    if kind == "LOGISTIC" and node.zero_point(node.output) != -128:
        raise Unsupported("its output has a zero point other than -128")
    table = tables.of_scale(_FUNCTIONS[kind], node.scale(source), node.zero_point(source))
    if table is None:
        message = f"has an input whose scale, {node.scale(source):g}, is too small or too large for its table"
        raise node.error("K407", message, "quantize the model again")
    return table
