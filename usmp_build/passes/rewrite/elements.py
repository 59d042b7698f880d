"""Tabulates elementwise int8 operators: the result for each of the 256 values of the tensor that they read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from usmp_build.arithmetic.limits import LEAST, MOST, int8_scale
from usmp_build.arithmetic.vectors import Booleans, Integers
from usmp_build.ir.graph import DType, Operator, Tensor
from usmp_build.operators.table import traits
from usmp_build.operators.values.interval import Interval
from usmp_build.operators.values.quantized import Opaque
from usmp_build.passes.rewrite.edit import Net
from usmp_build.passes.rewrite.ranges import value_range

VALUES = np.arange(LEAST, MOST + 1)
"""All values of an int8, in the order of a table."""


def elements_read(op: Operator | None, net: Net) -> set[int]:
    """Return the tensors that an elementwise int8 operator reads; empty if it is not one.

    It may also read constants of one element that no rule names.
    """
    behind_floats = int8_behind_floats(op, net)
    if behind_floats is not None:
        return {behind_floats}
    if op is None or len(op.outputs) != 1 or not (traits(op.kind).only_shape or traits(op.kind).int8):
        return set()
    output, sources = net.graph.tensors[op.outputs[0]], set()
    for index in _operands(op):
        tensor = net.tensor(index)
        if index is None or tensor is None or not _is_operand(tensor, output):
            return set()
        if not tensor.is_constant:
            sources.add(index)
        elif net.pins.keeps(net.index, index):
            return set()
    return sources


def _is_operand(tensor: Tensor, output: Tensor) -> bool:
    if tensor.is_variable or tensor.is_withheld or {tensor.dtype, output.dtype} != {DType.INT8}:
        return False
    return tensor.elements == (1 if tensor.is_constant else output.elements)


def int8_behind_floats(op: Operator | None, net: Net) -> int | None:
    """Return the int8 tensor that a QUANTIZE reads through a DEQUANTIZE; None if there is none."""
    match op:
        case Operator(kind="QUANTIZE", inputs=(int(read), *_), outputs=(written,)):
            before, real, output = net.producer(read), net.tensor(read), net.graph.tensors[written]
        case _:
            return None
    index = before.inputs[0] if before is not None and before.kind == "DEQUANTIZE" and before.inputs else None
    source = net.tensor(index)
    if before is None or source is None or source.is_variable or source.is_constant:
        return None
    fits = real is not None and real.dtype is DType.FLOAT32 and real.elements == output.elements
    return index if fits and _are_alike(source, output) and net.pins.may_join(net.index, before, op) else None


def _are_alike(one: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors of int8 have equally many elements."""
    return one.elements == other.elements and int8_scale(one) is not None and int8_scale(other) is not None


def table(ops: Sequence[Operator], source: int, net: Net) -> Integers | None:
    """Return the result of operators for each value of their source; None if it cannot be computed."""
    values_by_tensor = {source: VALUES}
    for op in ops:
        values = _values(op, net, values_by_tensor)
        if values is None:
            return None
        values_by_tensor[op.outputs[0]] = values
    return values_by_tensor[ops[-1].outputs[0]]


def changes_nothing(values: Integers, source: int, net: Net) -> bool:
    """Tell whether a table is the identity for all values that its source may hold."""
    low, high = value_range(source, net)
    outside: Booleans = (low > VALUES) | (high < VALUES)
    return bool(np.all((values == VALUES) | outside))


def _operands(op: Operator) -> tuple[int | None, ...]:
    elementwise = traits(op.kind).elementwise
    return op.inputs[: elementwise.operands if elementwise else 1]


def _values(op: Operator, net: Net, values_by_tensor: dict[int, Integers]) -> Integers | None:
    behind_floats = int8_behind_floats(op, net)
    if behind_floats is not None:
        return _through_floats(
            values_by_tensor[behind_floats], net.graph.tensors[behind_floats], net.graph.tensors[op.outputs[0]]
        )
    operands = [
        values_by_tensor[t] if t in values_by_tensor else _constant(t, net) for t in _operands(op) if t is not None
    ]
    if traits(op.kind).only_shape:
        return operands[0]
    int8 = traits(op.kind).int8
    if int8 is None:
        return None
    try:
        interval = int8.transfer(op, net.graph)([Interval(each, each) for each in operands])
    except Opaque:
        return None
    return interval.low if interval.is_constant.all() else None


def _through_floats(values: Integers, source: Tensor, output: Tensor) -> Integers | None:
    """Dequantize and quantize: round products and quotients to float32, then to nearest, halves away from zero."""
    before, after = int8_scale(source), int8_scale(output)
    if before is None or after is None:
        return None
    with np.errstate(over="ignore"):
        real = np.float32(before.scale) * (values - before.zero_point).astype(np.float32)
        steps = (real / np.float32(after.scale)).astype(np.float64)
    rounded = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    return np.asarray(np.clip(rounded + after.zero_point, LEAST, MOST)).astype(np.int64)


def _constant(index: int, net: Net) -> Integers:
    return np.full(len(VALUES), net.graph.tensors[index].as_array().item(), np.int64)
