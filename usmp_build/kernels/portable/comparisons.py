"""Comparisons, logic, and what follows from it: operators whose operands or outputs are bool."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from usmp_build.arithmetic.fixed_point import Factor, quantize
from usmp_build.interfaces.kernels import Input, Kernel
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.broadcasting import in_pairs
from usmp_build.kernels.portable.pieces import each_element
from usmp_build.kernels.requantization import operand_fields

_NUMBERS = frozenset({DType.INT8, DType.INT32, DType.INT64, DType.FLOAT32})
_SELECTED = {DType.INT8, DType.INT16, DType.INT32, DType.FLOAT32}


class _Comparison(NamedTuple):
    """How C compares: quantized numbers with a function of this name and `equal`, others with a plain one."""

    function: str
    types: frozenset[DType]
    equal: int
    """What comes of equal operands."""
    exchanged: bool = False
    """Whether operands change places."""

    @property
    def plain(self) -> str:
        """Return what the function for numbers as they are does."""
        return "greater_equal" if self.function == "greater" and self.equal else self.function


_COMPARISONS = {
    "EQUAL": _Comparison("equal", _NUMBERS | {DType.BOOL}, 1),
    "NOT_EQUAL": _Comparison("equal", _NUMBERS | {DType.BOOL}, 0),
    "GREATER": _Comparison("greater", _NUMBERS, 0),
    "GREATER_EQUAL": _Comparison("greater", _NUMBERS, 1),
    "LESS": _Comparison("greater", _NUMBERS, 0, exchanged=True),
    "LESS_EQUAL": _Comparison("greater", _NUMBERS, 1, exchanged=True),
}


def compare(node: Node) -> Kernel:
    """Comparisons: of quantized numbers by way of a common scale."""
    comparison = _COMPARISONS[node.operator.kind]
    operands = (Input(1), Input(0)) if comparison.exchanged else (Input(0), Input(1))
    first, second = (node.tensor(operand) for operand in operands)
    if first.dtype is not second.dtype or first.dtype not in comparison.types or node.output.dtype is not DType.BOOL:
        raise unsupported_types(node.input(0), node.input(1), node.output)
    equal = "equal", comparison.equal
    if first.dtype is DType.INT8:
        name = c_name(comparison.function, first.dtype)
        scales = operand_fields(node, *((tensor, _below_one(node, tensor)) for tensor in (first, second)))
        return in_pairs(node, name, (*scales, equal), "compare_parameters", operands)
    name = c_name(comparison.plain, DType.UINT8 if first.dtype is DType.BOOL else first.dtype)
    if comparison.function == "equal":
        return in_pairs(node, name, (equal,), "equal_parameters", operands)
    return in_pairs(node, name, operands=operands)


def _below_one(node: Node, tensor: Tensor) -> Factor:
    """Return the scale of a tensor; TensorFlow Lite Micro aborts for those that are not below 1."""
    scale = node.scale(tensor)
    if scale >= 1:
        raise Unsupported(f"it compares {node.label(tensor)}, whose scale is not below 1")
    return quantize(scale)


def logic(node: Node) -> Kernel:
    """LOGICAL_AND and LOGICAL_OR."""
    tensors = node.input(0), node.input(1), node.output
    other = next((tensor for tensor in tensors if tensor.dtype is not DType.BOOL), None)
    if other is not None:
        raise Unsupported(f"it takes bool only, but {node.label(other)} is {other.dtype.name}")
    return in_pairs(node, node.operator.kind.lower())


def negation(node: Node) -> Kernel:
    """LOGICAL_NOT."""
    node.expect_same_size()
    if not node.input(0).dtype is node.output.dtype is DType.BOOL:
        raise unsupported_types(node.input(0), node.output)
    return each_element(node, "logical_not", "elements")


def select(node: Node) -> Kernel:
    """SELECT_V2: elements move as they are."""
    condition, first, second, output = node.input(0), node.input(1), node.input(2), node.output
    types = {first.dtype, second.dtype, output.dtype}
    if condition.dtype is not DType.BOOL or len(types) > 1 or output.dtype not in _SELECTED:
        raise unsupported_types(condition, first, second, output)
    operands = (Input(0), Input(1), Input(2))
    return in_pairs(node, c_name("select", output.dtype), struct="select_parameters", operands=operands)


def select_alike(node: Node) -> Kernel:
    """SELECT: a condition of one dimension is for the first axis of its operands."""
    condition, output = node.input(0), node.output
    if len(condition.shape) != 1 or len(output.shape) < 2:
        return select(node)
    tensors = list(node.graph.tensors)
    ones = (1,) * (len(output.shape) - 1)
    tensors[node.index(Input(0))] = replace(condition, shape=(*condition.shape, *ones))
    return select(replace(node, graph=replace(node.graph, tensors=tuple(tensors))))
