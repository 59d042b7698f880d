"""Elementwise kernels of images that are channels of other tensors: each pixel is a call, as long as its channels.

Side by side, all elements are one call, which takes no more instructions than if there were no such tensors.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Operand, Output, Pieces, Traffic
from usmp_build.kernels.reference.node import Node
from usmp_build.kernels.reference.pitches import are_apart, pitch


def by_pixels(node: Node, kernel: Kernel) -> Kernel:
    """Say which operands may be channels of another tensor, and go pixel by pixel where one is.

    These have the output's shape; all others must be the same for every pixel.
    """
    shape, (call,) = node.output.shape, kernel.calls
    touched = [operand for operand in call.operands if isinstance(operand, Input | Output)]
    images = frozenset[Operand](operand for operand in touched if node.tensor(operand).shape == shape)
    constant = any(node.tensor(operand).is_constant for operand in touched if operand in images)
    others = [node.tensor(operand).shape for operand in touched if operand not in images]
    if not shape or constant or not all(_is_pixel(each, shape[-1]) for each in others):
        return kernel
    if are_apart(node):
        kernel = replace(kernel, calls=(_pixel_by_pixel(node, call, images),))
    return replace(kernel, pitched=images, slower=images)


def _is_pixel(shape: tuple[int, ...], channels: int) -> bool:
    return prod(shape[:-1]) == 1 and shape[-1:] in {(), (1,), (channels,)}


def _pixel_by_pixel(node: Node, call: KernelCall, images: frozenset[Operand]) -> KernelCall:
    """Return a call for each pixel; its parameters and tables are those of one."""
    *pixels, channels = node.output.shape
    assert call.parameters is not None
    fields = tuple((name, channels if name == "size" else value) for name, value in call.parameters.fields)
    steps = tuple(
        pitch(node, operand) if isinstance(operand, Input | Output) and operand in images else 0
        for operand in call.operands
    )
    traffic = call.traffic or tuple(_traffic(node, operand) for operand in call.operands)
    parameters = replace(call.parameters, fields=fields)
    return replace(call, form=Pieces(prod(pixels), steps), parameters=parameters, traffic=traffic)


def _traffic(node: Node, operand: Operand) -> Traffic:
    """An element of each operand for every element of the output."""
    assert isinstance(operand, Input | Output)
    moved = node.output.elements * node.tensor(operand).dtype.bits // 8
    return Traffic(moved) if isinstance(operand, Input) else Traffic(written=moved)
