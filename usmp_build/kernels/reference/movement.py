"""Operators that only move bytes: RESHAPE and its kin, CONCATENATION, PAD and PADV2."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Whole,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation, Concatenation
from usmp_build.kernels.reference.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.reference.requantization import int32_constant

_MOST_AXES = 5


class _Frame(NamedTuple):
    """An axis: padding before, size of the input, padding behind."""

    before: int
    size: int
    behind: int


def reshape(node: Node) -> Kernel:
    """The same bytes under another shape."""
    source, output = node.input(0), node.output
    if source.dtype is not output.dtype:
        raise unsupported_types(source, output)
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    return Kernel((_copy(0, count=1, size=source.size, pitch=source.size, offset=0),))


def concatenation(node: Node) -> Kernel:
    """The inputs side by side along one axis: one copy for each of them."""
    options, output = node.options(Concatenation), node.output
    rank = len(output.shape)
    node.expect(-rank <= options.axis < rank, f"joins along axis {options.axis}, which its output lacks")
    axis = options.axis % rank
    if options.activation is not Activation.NONE:
        raise Unsupported(f"it has no kernel with the activation {options.activation.name}")
    calls, offset = [], 0
    count = prod(output.shape[:axis])
    for position, tensor in enumerate(node.inputs):
        _check_part(node, tensor, axis)
        size = tensor.size // count
        calls.append(_copy(position, count=count, size=size, pitch=output.size // count, offset=offset))
        offset += size
    node.expect(offset * count == output.size, "has inputs that do not fill its output")
    return Kernel(tuple(calls))


def _check_part(node: Node, tensor: Tensor, axis: int) -> None:
    output = node.output
    if tensor.dtype is not output.dtype or tensor.dtype.bits % 8:
        raise unsupported_types(tensor, output)
    others = [shape[:axis] + shape[axis + 1 :] for shape in (tensor.shape, output.shape)]
    node.expect(len(tensor.shape) == len(output.shape) and others[0] == others[1], "has inputs of unlike shapes")
    if tensor.dtype in {DType.INT8, DType.UINT8, DType.INT16} and tensor.quantization != output.quantization:
        raise Unsupported("its inputs and its output are quantized in different ways")


def _copy(position: int, *, count: int, size: int, pitch: int, offset: int) -> KernelCall:
    fields = (("count", count), ("size", size), ("pitch", pitch), ("offset", offset))
    return KernelCall("copy", Whole(), (Input(position), Output(0)), Parameters("copy_parameters", fields))


def pad(node: Node) -> Kernel:
    """A frame of zeros, or of the value that PADV2 gives."""
    source, output = node.input(0), node.output
    if source.dtype is not output.dtype or source.dtype.bits not in (8, 16, 32) or not source.dtype.numpy:
        raise unsupported_types(source, output)
    frames = _merged(_frames(node))
    if len(frames) > _MOST_AXES:
        raise Unsupported(f"it pads along more than {_MOST_AXES} groups of axes")
    frames = [_Frame(0, 1, 0)] * (_MOST_AXES - len(frames)) + frames
    axes = int32_constant("axes", (number for frame in frames for number in frame))
    value, zero = _value(node)
    lines = prod(sum(frame) for frame in frames[:-1])
    parameters = Parameters("pad_parameters", (("lines", lines), ("width", source.dtype.bits // 8)))
    call = KernelCall("pad", Whole(), (Input(0), value, Derived(0), Output(0)), parameters)
    return Kernel((call,), (axes, *zero))


def _frames(node: Node) -> list[_Frame]:
    source, output = node.input(0), node.output
    paddings = node.array(1, "paddings").reshape(-1).tolist()
    node.expect(len(paddings) == 2 * len(source.shape), "does not have two paddings for each dimension")
    node.expect(min(paddings, default=0) >= 0, "has a padding below 0")
    pairs = zip(paddings[::2], source.shape, paddings[1::2], strict=True)
    frames = [_Frame(int(before), size, int(behind)) for before, size, behind in pairs]
    node.expect(tuple(map(sum, frames)) == output.shape, "makes another shape than its output has")
    return frames


def _merged(frames: list[_Frame]) -> list[_Frame]:
    """Merge axes without padding into the one before: in both tensors they are runs.

    >>> _merged([_Frame(0, 1, 0), _Frame(1, 8, 1), _Frame(2, 4, 2), _Frame(0, 3, 0)])
    [_Frame(before=1, size=8, behind=1), _Frame(before=6, size=12, behind=6)]
    """
    merged: list[_Frame] = []
    for frame in frames:
        if merged and frame.before == frame.behind == 0:
            before, size, behind = (number * frame.size for number in merged.pop())
            merged.append(_Frame(before, size, behind))
        elif merged and merged[-1] == (0, 1, 0):
            merged[-1] = frame
        else:
            merged.append(frame)
    return merged or [_Frame(0, 1, 0)]


def _value(node: Node) -> tuple[Operand, tuple[Constant, ...]]:
    """PADV2 brings the value; PAD's is 0, which for eight bits is the zero point."""
    source, output, value = node.input(0), node.output, node.optional(2)
    if value is not None:
        node.array(2, "values")
        node.expect(value.elements == 1 and value.dtype is source.dtype, "pads with something else than one element")
        if value.quantization != output.quantization:
            raise Unsupported("its value and its output are quantized in different ways")
        return Input(2), ()
    width = source.dtype.bits // 8
    zero = node.zero_point(output) % 256 if source.dtype in {DType.INT8, DType.UINT8} else 0
    return Derived(1), (Constant("value", source.dtype, zero.to_bytes(width, "little")),)
