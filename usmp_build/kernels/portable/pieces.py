"""Elementwise kernels: one call for all elements, or one for each row or pixel of an image.

Only images that are channels of other tensors take a call for each pixel; all others take no extra instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import TypeAlias

from usmp_build.interfaces.kernels import (
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Pieces,
    Value,
    Whole,
)
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import are_apart, pitch
from usmp_build.kernels.portable.accesses_of_elements import elementwise_accesses

KernelOf: TypeAlias = Callable[[int], Kernel]
"""Number of the output's innermost axes → the kernel whose only call makes that much of it: 1 for a pixel, 2 for a row.
Traffic that the call states is that of the complete output."""


def each_element(node: Node, function: str, struct: str, *fields: tuple[str, Value]) -> Kernel:
    """Return the kernel of a function from one input to one output, element by element.

    `fields` are its parameters without the first one, the number of elements.
    """
    widths = tuple(tensor.dtype.bits // 8 for tensor in (node.input(0), node.output))

    def kernel_of(axes: int) -> Kernel:
        size = prod(node.output.shape[-axes:])
        parameters = Parameters(struct, (("size", size), *fields))
        accesses = elementwise_accesses(size, widths)
        return Kernel((KernelCall(function, Whole(), (Input(0), Output(0)), parameters, accesses=accesses),))

    return elementwise(node, kernel_of)


def elementwise(node: Node, kernel_of: KernelOf) -> Kernel:
    """Return the kernel that computes all elements in one call, with the one that goes row by row as its `by_rows`.

    Operands with the shape of the output may be channels of another tensor: where one is, the kernel goes pixel by
    pixel.  All others must be the same for every pixel.
    """
    shape = node.output.shape
    kernel = replace(kernel_of(len(shape)), by_rows=_row_by_row(node, kernel_of))
    touched = _tensors(kernel)
    images = frozenset[Operand](operand for operand in touched if node.tensor(operand).shape == shape)
    constant = any(node.tensor(operand).is_constant for operand in touched if operand in images)
    others = [node.tensor(operand).shape for operand in touched if operand not in images]
    if not shape or constant or not all(_is_pixel(each, shape[-1]) for each in others):
        return kernel
    if are_apart(node):
        steps: dict[Operand, int] = {each: pitch(node, each) for each in touched if each in images}
        kernel = piece_by_piece(kernel_of(1), prod(shape[:-1]), steps)
    return replace(kernel, pitched=images, slower=images)


def _tensors(kernel: Kernel) -> list[Input | Output]:
    """Return the operands of a kernel's only call that are tensors."""
    (call,) = kernel.calls
    return [operand for operand in call.operands if isinstance(operand, Input | Output)]


def _is_pixel(shape: tuple[int, ...], channels: int) -> bool:
    return prod(shape[:-1]) == 1 and shape[-1:] in {(), (1,), (channels,)}


def _row_by_row(node: Node, kernel_of: KernelOf) -> Kernel | None:
    """Return the kernel that makes one row of an image in a call; None if there is none."""
    shape = node.output.shape
    if len(shape) != 4 or shape[0] != 1 or shape[1] == 1 or are_apart(node):
        return None
    kernel, steps = kernel_of(2), dict[Operand, int]()
    for operand in _tensors(kernel):
        step = _row_step(node, operand)
        if step is None:
            return None
        steps[operand] = step
    return piece_by_piece(kernel, shape[1], steps)


def _row_step(node: Node, operand: Input | Output) -> int | None:
    """Return the elements from one row of an operand to the next, 0 if all rows of the output need the same.

    None if neither is so, or for a constant with rows, since pieces are parts of what is in workspace.
    """
    tensor, (_, rows, *row) = node.tensor(operand), node.output.shape
    if len(tensor.shape) == 4 and tensor.shape[:2] == (1, rows) and not tensor.is_constant:
        return prod(tensor.shape[2:])
    return 0 if prod(tensor.shape[:-2]) == 1 and tensor.elements <= prod(row) else None


def piece_by_piece(kernel: Kernel, count: int, steps: Mapping[Operand, int]) -> Kernel:
    """Return a kernel that calls the kernel of one piece `count` times.

    `steps` are elements from one piece of an operand to the next; operands without any are the same for all.
    """
    (call,) = kernel.calls
    pitches = tuple(steps.get(operand, 0) for operand in call.operands)
    return replace(kernel, calls=(replace(call, form=Pieces(count, pitches)),))
