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
    made = replace(kernel_of(len(shape)), by_rows=_row_by_row(node, kernel_of))
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


def _row_by_row(node: Node, kernel_of: KernelOf) -> Kernel | None:
    """Return the kernel that makes one row of an image in a call; None if there is none."""
    shape = node.output.shape
    if len(shape) != 4 or shape[0] != 1 or shape[1] == 1 or are_apart(node):
        return None
    of_row, steps = kernel_of(2), dict[Operand, int]()
    for operand in _tensors(of_row):
        step = _row_step(node, operand)
        if step is None:
            return None
        steps[operand] = step
    return piece_by_piece(of_row, shape[1], steps)


def _row_step(node: Node, operand: Input | Output) -> int | None:
    """Return the elements from one row of an operand to the next, 0 if all rows of the output need the same.

    None if neither is so, or for a constant with rows, since pieces are parts of what is in workspace.
    """
    tensor, (_, rows, *row) = node.tensor(operand), node.output.shape
    if len(tensor.shape) == 4 and tensor.shape[:2] == (1, rows) and not tensor.is_constant:
        return prod(tensor.shape[2:])
    return 0 if prod(tensor.shape[:-2]) == 1 and tensor.elements <= prod(row) else None


def piece_by_piece(of_piece: Kernel, count: int, steps: Mapping[Operand, int]) -> Kernel:
    """Return a kernel that calls the kernel of one piece `count` times.

    `steps` are elements from one piece of an operand to the next; operands without any are the same for all.
    """
    (call,) = of_piece.calls
    pitches = tuple(steps.get(operand, 0) for operand in call.operands)
    traffic = {position: count * each for position, each in call.traffic.items()}
    return replace(of_piece, calls=(replace(call, form=Pieces(count, pitches), traffic=traffic),))
