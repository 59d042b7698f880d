"""ADD, SUB and MUL, which broadcast operands along axes of size 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from usmp_build.arithmetic.fixed_point import SUM_FRACTION_BITS, Factor, quantize
from usmp_build.interfaces.kernels import (
    Derived,
    Input,
    Kernel,
    KernelCall,
    Output,
    Parameters,
    Traffic,
    Whole,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.reference.accesses_of_elements import broadcast_accesses, elementwise_accesses
from usmp_build.kernels.reference.activation import quantized_limits, real_limits
from usmp_build.kernels.reference.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.reference.pieces import elementwise
from usmp_build.kernels.reference.requantization import factor, int32_constant
from usmp_build.operators.binary import Binary

_MOST_AXES = 5
_AXIS_BYTES = 12
"""Of an axis in the table: size and two steps."""

Fields = tuple[tuple[str, int | float], ...]


class _Axis(NamedTuple):
    """An axis of the output, and how far one step along it moves in the operands."""

    size: int
    first: int
    second: int


def add_or_subtract(node: Node) -> Kernel:
    """ADD and SUB."""
    sign = -1 if node.operator.kind == "SUB" else 1
    return _binary(node, "add", (("sign", float(sign)),), sign)


def multiply(node: Node) -> Kernel:
    """MUL."""
    return _binary(node, "mul", (), 0)


def _binary(node: Node, name: str, real: Fields, sign: int) -> Kernel:
    first, second, output = node.input(0), node.input(1), node.output
    axes = _axes(node, first, second, output)
    types = {first.dtype, second.dtype, output.dtype}
    if types == {DType.FLOAT32}:
        options = node.options(Binary)
        low, high = real_limits(options.activation, options.limits)
        suffix, fields = "f32", (*real, ("low", low), ("high", high))
    elif types == {DType.INT8}:
        suffix, fields = "s8", _sum_fields(node, sign) if sign else _product_fields(node)
    else:
        raise unsupported_types(first, second, output)

    def kernel_of(count: int) -> Kernel:
        innermost = _merged(axes[-count:])
        if len(innermost) == 1 and innermost[0].first == innermost[0].second == 1:
            return _of_one_shape(node, f"{name}_{suffix}", fields, innermost[0].size)
        return _broadcast(node, f"{name}_{suffix}", fields, innermost)

    return elementwise(node, kernel_of)


def _of_one_shape(node: Node, name: str, fields: Fields, size: int) -> Kernel:
    accesses = elementwise_accesses(size, (node.output.dtype.bits // 8,) * 3)
    parameters = Parameters(f"{name}_parameters", (("size", size), *fields))
    return Kernel((KernelCall(name, Whole(), (Input(0), Input(1), Output(0)), parameters, accesses=accesses),))


def _broadcast(node: Node, name: str, fields: Fields, axes: list[_Axis]) -> Kernel:
    output, size = node.output, prod(axis.size for axis in axes)
    visits = output.elements // size * _visits(axes, size)
    traffic = (*[Traffic(output.size)] * 2, Traffic(_AXIS_BYTES * visits), Traffic(written=output.size))
    axes = _padded(axes)
    accesses = broadcast_accesses(axes, output.dtype.bits // 8)
    parameters = Parameters(f"{name}_parameters", (("size", size), *fields))
    operands = (Input(0), Input(1), Derived(0), Output(0))
    call = KernelCall(f"{name}_stretched", Whole(), operands, parameters, traffic, accesses=accesses)
    return Kernel((call,), (int32_constant("axes", (number for axis in axes for number in axis)),))


def _limits(node: Node) -> tuple[int, int]:
    options = node.options(Binary)
    return quantized_limits(node, options.activation, node.output, options.limits)


def _sum_fields(node: Node, sign: int) -> Fields:
    first, second, output = node.input(0), node.input(1), node.output
    scales = node.scale(first), node.scale(second)
    common = 2 * max(scales)
    first_factor, second_factor = (_below_one(node, scale / common) for scale in scales)
    output_factor = _below_one(node, common / ((1 << SUM_FRACTION_BITS) * node.scale(output)))
    low, high = _limits(node)
    return (
        ("first_zero_point", node.zero_point(first)),
        ("first_multiplier", first_factor.multiplier),
        ("first_shift", -first_factor.shift),
        ("second_zero_point", node.zero_point(second)),
        ("second_multiplier", second_factor.multiplier),
        ("second_shift", -second_factor.shift),
        ("sign", sign),
        ("output_multiplier", output_factor.multiplier),
        ("output_shift", -output_factor.shift),
        ("output_zero_point", node.zero_point(output)),
        ("low", low),
        ("high", high),
    )


def _below_one(node: Node, real: float) -> Factor:
    if real < 1 and quantize(real).shift <= 0:
        return quantize(real)
    message = f"has an output whose scale, {node.scale(node.output):g}, is too small for those of its inputs"
    raise node.error("K405", message, "quantize the model again; the sums are far outside of the output's range")


def _product_fields(node: Node) -> Fields:
    first, second, output = node.input(0), node.input(1), node.output
    scale = factor(node, node.scale(first) * node.scale(second) / node.scale(output))
    low, high = _limits(node)
    return (
        ("first_zero_point", node.zero_point(first)),
        ("second_zero_point", node.zero_point(second)),
        ("multiplier", scale.multiplier),
        ("shift", scale.shift),
        ("output_zero_point", node.zero_point(output)),
        ("low", low),
        ("high", high),
    )


def _axes(node: Node, first: Tensor, second: Tensor, output: Tensor) -> list[_Axis]:
    """The output's axes, each with the steps of both operands."""
    rank = len(output.shape)
    steps = []
    for operand in (first, second):
        node.expect(len(operand.shape) <= rank, "has an input with more dimensions than its output")
        shape = (1,) * (rank - len(operand.shape)) + operand.shape
        fits = all(size in (1, output_size) for size, output_size in zip(shape, output.shape, strict=True))
        node.expect(fits, f"cannot stretch {list(operand.shape)} to {list(output.shape)}")
        steps.append(_steps(shape))
    return [_Axis(*axis) for axis in zip(output.shape, *steps, strict=True)]


def _steps(shape: Sequence[int]) -> list[int]:
    """Elements from one index to the next along each axis; 0 where there is only one."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step if size > 1 else 0)
        step *= size
    return steps[::-1]


def _merged(axes: list[_Axis]) -> list[_Axis]:
    """Merge adjacent axes that both operands cross in equal steps; the result is never empty.

    >>> _merged([_Axis(2, 12, 0), _Axis(3, 4, 0), _Axis(4, 1, 1)])
    [_Axis(size=6, first=4, second=0), _Axis(size=4, first=1, second=1)]
    """
    merged: list[_Axis] = []
    for axis in axes:
        if axis.size == 1:
            continue
        if merged and merged[-1][1:] == (axis.first * axis.size, axis.second * axis.size):
            axis = axis._replace(size=merged.pop().size * axis.size)
        merged.append(axis)
    return merged or [_Axis(1, 1, 1)]


def _visits(axes: list[_Axis], elements: int) -> int:
    """Count reads of the table of axes: the innermost for every element, the next one whenever that one ends, ...

    >>> _visits([_Axis(30, 4, 0), _Axis(4, 1, 1)], 120)
    153
    """
    total = elements
    for axis in [*reversed(axes), *[_Axis(1, 0, 0)] * _MOST_AXES][: _MOST_AXES - 1]:
        elements //= max(1, axis.size)
        total += elements
    return total


def _padded(axes: list[_Axis]) -> list[_Axis]:
    """Return as many axes as the table has; those in front have one step."""
    if len(axes) > _MOST_AXES:
        raise Unsupported(f"it stretches its inputs along more than {_MOST_AXES} groups of axes")
    return [_Axis(1, 0, 0)] * (_MOST_AXES - len(axes)) + axes


KERNELS = {"ADD": add_or_subtract, "MUL": multiply, "SUB": add_or_subtract}
