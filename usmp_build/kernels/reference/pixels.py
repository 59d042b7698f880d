"""Elementwise kernels of images that are channels of other tensors: each pixel is a call, as long as its channels.

Side by side, all elements are one call, which takes no more instructions than if there were no such tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from usmp_build.interfaces.kernels import (
    Constant,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Pieces,
    Traffic,
    Value,
    Whole,
)
from usmp_build.kernels.reference.accesses_of_elements import elementwise_accesses
from usmp_build.kernels.reference.node import Node
from usmp_build.kernels.reference.pitches import are_apart, pitch


def each_element(node: Node, function: str, struct: str, *fields: tuple[str, Value]) -> Kernel:
    """Return the kernel of a function from one input to one output, element by element.

    `fields` are its parameters without the first one, which is how many elements there are.
    """
    widths = tuple(tensor.dtype.bits // 8 for tensor in (node.input(0), node.output))

    def call(size: int) -> KernelCall:
        parameters = Parameters(struct, (("size", size), *fields))
        return KernelCall(
            function, Whole(), (Input(0), Output(0)), parameters, accesses=elementwise_accesses(size, widths)
        )

    return by_pixels(node, call)


def by_pixels(node: Node, call_of: Callable[[int], KernelCall], constants: tuple[Constant, ...] = ()) -> Kernel:
    """Say which operands may be channels of another tensor, and go pixel by pixel where one is.

    These have the output's shape; all others must be the same for every pixel.  `call_of` makes the call for a number
    of elements, those of the output or of one pixel; its traffic is that of all pixels.
    """
    shape, call = node.output.shape, call_of(node.output.elements)
    kernel = Kernel((call,), constants)
    touched = [operand for operand in call.operands if isinstance(operand, Input | Output)]
    images = frozenset[Operand](operand for operand in touched if node.tensor(operand).shape == shape)
    constant = any(node.tensor(operand).is_constant for operand in touched if operand in images)
    others = [node.tensor(operand).shape for operand in touched if operand not in images]
    if not shape or constant or not all(_is_pixel(each, shape[-1]) for each in others):
        return kernel
    if are_apart(node):
        kernel = replace(kernel, calls=(_pixel_by_pixel(node, call_of(shape[-1]), images),))
    return replace(kernel, pitched=images, slower=images)


def _is_pixel(shape: tuple[int, ...], channels: int) -> bool:
    return prod(shape[:-1]) == 1 and shape[-1:] in {(), (1,), (channels,)}


def _pixel_by_pixel(node: Node, call: KernelCall, images: frozenset[Operand]) -> KernelCall:
    """Return the call that is made for each pixel."""
    steps = tuple(
        pitch(node, operand) if isinstance(operand, Input | Output) and operand in images else 0
        for operand in call.operands
    )
    traffic = call.traffic or tuple(_traffic(node, operand) for operand in call.operands)
    return replace(call, form=Pieces(prod(node.output.shape[:-1]), steps), traffic=traffic)


def _traffic(node: Node, operand: Operand) -> Traffic:
    """An element of each operand for every element of the output."""
    assert isinstance(operand, Input | Output)
    moved = node.output.elements * node.tensor(operand).dtype.bits // 8
    return Traffic(moved) if isinstance(operand, Input) else Traffic(written=moved)
