"""Pixel strides: contiguous pixels, or wider strides where a tensor is some channels of another one."""

from __future__ import annotations

from typing import NamedTuple

from usmp_build.interfaces.kernels import Input, Operand, Output
from usmp_build.kernels.node import Node

PITCHED: frozenset[Operand] = frozenset({Input(0), Output(0)})
"""Operands that may be channels of another tensor, of all operators with windows."""


class Pitches(NamedTuple):
    """Elements from one pixel to the next."""

    input: int
    output: int


def pitches(node: Node) -> Pitches:
    """Return the pitches of an operator's images."""
    return Pitches(pitch(node, Input(0)), pitch(node, Output(0)))


def pitch(node: Node, operand: Input | Output) -> int:
    """Return the elements from one pixel of an image to the next."""
    index, tensor = node.index(operand), node.tensor(operand)
    stride = node.graph.pitches.get(index)
    return tensor.shape[-1] if stride is None else stride * 8 // tensor.dtype.bits


def pitch_fields(strides: Pitches) -> tuple[tuple[str, int], ...]:
    """Return the last parameters in the structs of such operators."""
    return ("input_pitch", strides.input), ("output_pitch", strides.output)


def are_apart(node: Node) -> bool:
    """Return whether the operator accesses a tensor that is channels of another one."""
    return not node.graph.pitches.keys().isdisjoint((*node.operator.inputs, *node.operator.outputs))
