"""Elementwise kernels: one call for all elements, or one for each row or pixel of an image.

Only images that are channels of other tensors take a call for each pixel; all others take no extra instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import TypeAlias

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Operand, Output, Pieces, Value
from usmp_build.kernels.nest import Nest, aside, kernel, reads, writes
from usmp_build.kernels.node import Node
from usmp_build.kernels.pitches import are_apart, pitch

Shape: TypeAlias = tuple[int, ...]

KernelOf: TypeAlias = Callable[[int], Kernel]
"""Number of innermost axes of the output → the kernel whose only call makes that much: 1 for a pixel, 2 for a row."""


def each_element(
    node: Node, function: str, struct: str, *fields: tuple[str, Value], table: Constant | None = None, values: int = 1
) -> Kernel:
    """Return the kernel of a function from one input to one output, element by element.

    `fields` are its parameters without the first one, the number of elements.  With a table, it reads `values` of it
    for each element.
    """
    tables = () if table is None else (table,)

    def kernel_of(axes: int) -> Kernel:
        size = prod(node.output.shape[-axes:])
        spans = (reads(Input(0)), *(aside(Derived(0), values) for _ in tables), writes(Output(0)))
        nest = Nest({"elements": size}, spans)
        return kernel(node, function, nest, (("size", size), *fields), struct=struct, constants=tables)

    return elementwise(node, kernel_of)


def elementwise(node: Node, kernel_of: KernelOf) -> Kernel:
    """Return the kernel that computes all elements in one call, with the one that goes row by row as its `by_rows`.

    Operands with the shape of the output may be channels of another tensor: where one is, the kernel goes pixel by
    pixel.  All others must be the same for every pixel.
    """
    shape = node.output.shape
    made = replace(kernel_of(len(shape)), by_rows=_slice_by_slice(node, kernel_of))
    touched = _tensors(made)
    images = frozenset[Operand](operand for operand in touched if node.tensor(operand).shape == shape)
    constant = any(node.tensor(operand).is_constant for operand in touched if operand in images)
    others = [node.tensor(operand).shape for operand in touched if operand not in images]
    if not shape or constant or not all(_is_pixel(each, shape[-1]) for each in others):
        return made
    if are_apart(node):
        steps: dict[Operand, int] = {each: pitch(node, each) for each in touched if each in images}
        made = piece_by_piece(kernel_of(1), prod(shape[:-1]), steps)
    return replace(made, pitched=images, slower=images)


def _tensors(of_piece: Kernel) -> list[Input | Output]:
    """Return the operands of a kernel's only call that are tensors."""
    (call,) = of_piece.calls
    return [operand for operand in call.operands if isinstance(operand, Input | Output)]


def _is_pixel(shape: tuple[int, ...], channels: int) -> bool:
    return prod(shape[:-1]) == 1 and shape[-1:] in {(), (1,), (channels,)}


def sliced_axis(shape: Shape) -> int | None:
    """Return the axis along which a tensor is a row of contiguous slices: the first that is longer than 1.

    None if that is the last one, or there is none.

    >>> sliced_axis((1, 96, 96, 3)), sliced_axis((1, 1, 8000, 4)), sliced_axis((1, 10))
    (1, 2, None)
    """
    return next((axis for axis, size in enumerate(shape[:-1]) if size > 1), None)


def _slice_by_slice(node: Node, kernel_of: KernelOf) -> Kernel | None:
    """Return the kernel that makes one slice of the output in a call; None if there is none."""
    shape = node.output.shape
    axis = sliced_axis(shape)
    if axis is None or are_apart(node):
        return None
    of_slice, steps = kernel_of(len(shape) - 1 - axis), dict[Operand, int]()
    for operand in _tensors(of_slice):
        step = _slice_step(node, operand, axis)
        if step is None:
            return None
        steps[operand] = step
    return piece_by_piece(of_slice, shape[axis], steps)


def _slice_step(node: Node, operand: Input | Output, axis: int) -> int | None:
    """Return the elements from one slice of an operand to the next, 0 if all slices of the output need the same.

    None if neither is so, or for a constant with slices, since pieces are parts of what is in workspace.
    """
    tensor, shape = node.tensor(operand), node.output.shape
    before, inside = shape[: axis + 1], shape[axis + 1 :]
    if len(tensor.shape) == len(shape) and tensor.shape[: axis + 1] == before and not tensor.is_constant:
        return prod(tensor.shape[axis + 1 :])
    return 0 if prod(tensor.shape[: -len(inside)]) == 1 and tensor.elements <= prod(inside) else None


def piece_by_piece(of_piece: Kernel, count: int, steps: Mapping[Operand, int]) -> Kernel:
    """Return a kernel that makes the calls of the kernel of one piece `count` times.

    `steps` are elements from one piece of an operand to the next; operands without any are the same for all.
    """
    calls = []
    for call in of_piece.calls:
        pitches = tuple(steps.get(operand, 0) for operand in call.operands)
        traffic = {position: count * each for position, each in call.traffic.items()}
        calls.append(replace(call, form=Pieces(count, pitches), traffic=traffic))
    return replace(of_piece, calls=tuple(calls))
