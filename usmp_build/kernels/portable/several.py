"""ADD_N: the sum of several tensors of one shape."""

from __future__ import annotations

from math import prod

from usmp_build.arithmetic.fixed_point import SUM_FRACTION_BITS
from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, check_alike, unsupported_types
from usmp_build.kernels.portable.elementwise import below_one
from usmp_build.kernels.portable.pieces import elementwise
from usmp_build.kernels.requantization import output_fields, scale_fields, to_the_right

_MOST = 16
"""Operands that the C takes, as many as sums of int8 have bits for; where there are fewer, the last one is passed
again, and not read."""


def add_n(node: Node) -> Kernel:
    """ADD_N: int8 of one scale and one zero point."""
    inputs, output = node.inputs, node.output
    types = {tensor.dtype for tensor in (*inputs, output)}
    if types not in ({DType.INT8}, {DType.FLOAT32}):
        raise unsupported_types(*inputs, output)
    if not 2 <= len(inputs) <= _MOST:
        raise Unsupported(f"it adds {len(inputs)} tensors, not 2 to {_MOST}")
    node.expect({tensor.shape for tensor in inputs} == {output.shape}, "adds tensors of different shapes")
    fields = () if output.dtype.is_float else _fields(node)
    operands: tuple[Operand, ...] = (*(Input(min(position, len(inputs) - 1)) for position in range(_MOST)), Output(0))

    def kernel_of(axes: int) -> Kernel:
        size = prod(output.shape[-axes:])
        nest = Nest({"elements": size}, (*(reads(Input(i)) for i in range(len(inputs))), writes(Output(0))))
        counts = ("size", size), ("count", len(inputs))
        return kernel(node, c_name("add_n", output.dtype), nest, (*counts, *fields), operands=operands)

    return elementwise(node, kernel_of)


def _fields(node: Node) -> Fields:
    """Every input counts less its zero point, and, as in TensorFlow Lite Micro, a 0 that comes first."""
    check_alike(node, *node.inputs)
    source, output = node.input(0), node.output
    scale = below_one(node, 2 * node.scale(source) / ((1 << SUM_FRACTION_BITS) * node.scale(output)))
    return (
        ("offset", -(len(node.inputs) + 1) * node.zero_point(source)),
        *scale_fields(to_the_right(scale)),
        *output_fields(node, quantized_limits(node, Activation.NONE, output)),
    )
