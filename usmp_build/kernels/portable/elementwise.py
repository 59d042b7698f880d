"""ADD, SUB and MUL, which broadcast operands along axes of size 1."""

from __future__ import annotations

from math import prod

from usmp_build.arithmetic.fixed_point import SUM_FRACTION_BITS, Factor, quantize
from usmp_build.interfaces.kernels import Derived, Input, Kernel, Traffic
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits, real_limits, whole_limits
from usmp_build.kernels.candidates import fastest
from usmp_build.kernels.mve.elementwise import add_mve, mul_mve
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, Moved, aside, kernel
from usmp_build.kernels.node import Node, Unsupported, check_plain, check_symmetric, unsupported_types
from usmp_build.kernels.portable.broadcasting import (
    MOST_AXES,
    Axis,
    broadcast,
    merged,
    output_axes,
    padded,
    stretched,
    table,
)
from usmp_build.kernels.requantization import (
    factor,
    int32_constant,
    operand_fields,
    output_fields,
    scale_fields,
    to_the_right,
)
from usmp_build.operators.binary import Binary
from usmp_build.request import Isa

_SUM_FRACTION_BITS_OF_INT16 = 15
_AXIS_BYTES, _SIZE_BYTES = 12, 4
"""Of an axis in the table: size and two steps; and of the size alone."""


def add_or_subtract(node: Node) -> Kernel:
    """ADD and SUB."""
    sign = -1 if node.operator.kind == "SUB" else 1
    return _binary(node, "add", sign)


def multiply(node: Node) -> Kernel:
    """MUL."""
    return _binary(node, "mul", 0)


def _binary(node: Node, name: str, sign: int) -> Kernel:
    axes = output_axes(node, node.input(0), node.input(1))
    fields = _typed_fields(node, sign)

    def kernel_of(count: int) -> Kernel:
        innermost = merged(axes[-count:])
        if [axis.steps for axis in innermost] == [(1, 1)]:
            return _of_one_shape(node, name, fields, innermost[0])
        return _broadcast(node, name, fields, innermost)

    return stretched(node, axes, (Input(0), Input(1)), kernel_of)


def _typed_fields(node: Node, sign: int) -> Fields:
    """Return the parameters of the function; `sign` is that of a second summand, 0 of a product."""
    tensors, options = (node.input(0), node.input(1), node.output), node.options(Binary)
    types = {tensor.dtype for tensor in tensors}
    if types == {DType.FLOAT32}:
        low, high = real_limits(options.activation, options.limits)
        return (*((("sign", float(sign)),) if sign else ()), ("low", low), ("high", high))
    if types == {DType.INT32}:
        check_plain(node, *tensors)
        if sign > 0 and options.activation is not Activation.NONE:
            raise Unsupported("it has no kernel for INT32 with an activation")
        least, most = whole_limits(options.activation, options.limits)
        return (*((("sign", sign),) if sign else ()), ("low", least), ("high", most))
    if types not in ({DType.INT8}, {DType.INT16}):
        raise unsupported_types(*tensors)
    if types == {DType.INT16} and not sign:
        check_symmetric(node, *tensors)
    return _sum_fields(node, sign) if sign else _product_fields(node)


def _of_one_shape(node: Node, name: str, fields: Fields, innermost: Axis) -> Kernel:
    function, size = c_name(name, node.output.dtype), innermost.size
    nest = broadcast([innermost], (Input(0), Input(1)))
    portable = kernel(node, function, nest, (("size", size), *fields))
    if name == "mul":
        return fastest(node, {Isa.MVE: lambda: mul_mve(node, portable, size, innermost.steps)}, portable)
    return fastest(node, {Isa.MVE: lambda: add_mve(node, portable)}, portable)


def _broadcast(node: Node, name: str, fields: Fields, axes: list[Axis]) -> Kernel:
    size = prod(axis.size for axis in axes)
    moved: Moved = {Derived(0): Traffic(_table_bytes(axes, size))}
    axes = padded(axes)
    portable = kernel(
        node,
        c_name(name, node.output.dtype, part="stretched"),
        broadcast(axes, (Input(0), Input(1)), aside(Derived(0))),
        (("size", size), *fields),
        struct=c_name(name, node.output.dtype, part="parameters"),
        constants=(int32_constant("axes", table(axes)),),
        moved=moved,
    )
    if name != "mul":
        return fastest(node, {}, portable)
    run, steps = axes[-1].size, axes[-1].steps
    return fastest(node, {Isa.MVE: lambda: mul_mve(node, portable, run, steps, "stretched")}, portable)


def _limits(node: Node) -> tuple[int, int]:
    options = node.options(Binary)
    return quantized_limits(node, options.activation, node.output, options.limits)


def _sum_fields(node: Node, sign: int) -> Fields:
    first, second, output = node.input(0), node.input(1), node.output
    scales = node.scale(first), node.scale(second)
    common = 2 * max(scales)
    first_factor, second_factor = (below_one(node, scale / common) for scale in scales)
    fraction_bits = SUM_FRACTION_BITS if output.dtype is DType.INT8 else _SUM_FRACTION_BITS_OF_INT16
    output_factor = below_one(node, common / ((1 << fraction_bits) * node.scale(output)))
    return (
        *operand_fields(node, (first, first_factor), (second, second_factor)),
        ("sign", sign),
        *scale_fields(to_the_right(output_factor), "output"),
        *output_fields(node, _limits(node)),
    )


def below_one(node: Node, real: float) -> Factor:
    """Quantize a factor below 1.  Raises KernelError for others: the output's scale is too small."""
    if real < 1 and quantize(real).shift <= 0:
        return quantize(real)
    message = f"has an output whose scale, {node.scale(node.output):g}, is too small for those of its inputs"
    raise node.error("K405", message, "quantize the model again; the sums are far outside of the output's range")


def _product_fields(node: Node) -> Fields:
    first, second, output = node.input(0), node.input(1), node.output
    scale = factor(node, node.scale(first) * node.scale(second) / node.scale(output))
    return (
        ("first_zero_point", node.zero_point(first)),
        ("second_zero_point", node.zero_point(second)),
        *scale_fields(scale),
        *output_fields(node, _limits(node)),
    )


def _table_bytes(axes: list[Axis], elements: int) -> int:
    """Count bytes that are read of the table: the innermost axis once, its size at its end, the next axis there, ...

    >>> _table_bytes([Axis(30, (4, 0)), Axis(4, (1, 1))], 120)
    528
    """
    inner, *others = [*reversed(axes), *[Axis(1, (0, 0))] * MOST_AXES][:MOST_AXES]
    visits = elements // inner.size
    total = _AXIS_BYTES + _SIZE_BYTES * visits
    for axis in others:
        total += _AXIS_BYTES * visits
        visits //= axis.size
    return total
