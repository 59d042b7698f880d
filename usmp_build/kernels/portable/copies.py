"""Operators that only move bytes: COPY, RESHAPE and the like, CONCATENATION, PACK, SPLIT, UNPACK."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod

from usmp_build.interfaces.kernels import Derived, Input, Kernel, KernelCall, Output, Pieces
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.nest import Nest, call_in_bytes, reads, writes
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.pitches import are_apart
from usmp_build.kernels.portable.pieces import Shape, sliced_axis
from usmp_build.operators.joining import Concatenation, Pack, Unpack

_WIDTHS = {8, 16, 32, 64}
_QUANTIZED = {DType.INT8, DType.UINT8, DType.INT16}


def reshape(node: Node) -> Kernel:
    """The same bytes under another shape."""
    source, output = node.input(0), node.output
    check_types(source, output)
    node.expect_same_size()
    return Kernel((copy(Input(0), Output(0), 1, source.size),))


def copy_all(node: Node) -> Kernel:
    """All bytes as they are, of any type."""
    node.expect(node.input(0).size == node.output.size, "has an output of another size than its input")
    return Kernel((copy(Input(0), Output(0), 1, node.output.size),))


def read_variable(node: Node) -> Kernel:
    """The bytes that a variable holds now."""
    _check_variable(node.input(0))
    return copy_all(node)


def assign_variable(node: Node) -> Kernel:
    """A variable gets the bytes of a value."""
    variable, value = node.input(0), node.input(1)
    _check_variable(variable)
    node.expect(variable.size == value.size, "assigns a value of another size than its variable")
    return Kernel((copy(Input(1), Input(0), 1, value.size),), updates=frozenset({0}))


def _check_variable(tensor: Tensor) -> None:
    if not tensor.is_variable:
        raise Unsupported("it is not known which variable it touches")


def concatenation(node: Node) -> Kernel:
    """The inputs side by side along one axis: one copy for each of them."""
    options, output = node.options(Concatenation), node.output
    axis = _axis(node, options.axis, output)
    if options.activation is not Activation.NONE:
        raise Unsupported(f"it has no kernel with the activation {options.activation.name}")
    for tensor in node.inputs:
        check_types(tensor, output)
        _check_part(node, tensor, output, axis)
        _check_quantization(tensor, output)
    node.expect(sum(t.elements for t in node.inputs) == output.elements, "has inputs that do not fill its output")
    return _by_channels(_in_slices(partial(_joined, node), output.shape, axis, node), axis, output)


def pack(node: Node) -> Kernel:
    """The inputs side by side along a new axis."""
    output = node.output
    axis = _axis(node, node.options(Pack).axis, output)
    for tensor in node.inputs:
        check_types(tensor, output)
        _check_quantization(tensor, output)
        shape = (*tensor.shape[:axis], len(node.inputs), *tensor.shape[axis:])
        node.expect(shape == output.shape, f"makes a tensor of shape {list(shape)}, not {list(output.shape)}")
    return _in_slices(partial(_joined, node), output.shape, axis, node)


def split(node: Node) -> Kernel:
    """Equal parts of the input, along one axis: one copy for each of them."""
    return _split(node, Input(1), 0)


def split_in_sizes(node: Node) -> Kernel:
    """Parts of the sizes that the outputs have."""
    return _split(node, Input(0), 2)


def unpack(node: Node) -> Kernel:
    """What the input has at each index of an axis."""
    source = node.input(0)
    axis = _axis(node, node.options(Unpack).axis, source)
    node.expect(source.shape[axis] == len(node.outputs), f"does not have an output for each index of axis {axis}")
    return _in_slices(partial(_cut, node, Input(0)), source.shape, axis, node)


def _split(node: Node, whole: Input, axis_position: int) -> Kernel:
    source, axes = node.tensor(whole), node.integers(axis_position, "axes")
    node.expect(len(axes) == 1, "does not have one axis")
    axis = _axis(node, int(axes[0]), source)
    for part in node.outputs:
        _check_part(node, part, source, axis)
    return _by_channels(_in_slices(partial(_cut, node, whole), source.shape, axis, node), axis, source)


def _in_slices(copies: Callable[[int, int], Kernel], shape: Shape, axis: int, node: Node) -> Kernel:
    """Return copies of all blocks before an axis at once, and slice by slice, if a longer axis comes before that axis.

    `copies` makes the kernel of so many blocks, divided into so many slices.
    """
    count, sliced = prod(shape[:axis]), sliced_axis(shape)
    made = copies(count, 1)
    operands = {each for call in made.calls for each in call.operands if isinstance(each, Input | Output)}
    has_constant = any(node.tensor(operand).is_constant for operand in operands)
    if sliced is None or sliced >= axis or has_constant or are_apart(node):
        return made
    return replace(made, by_rows=copies(count, shape[sliced]))


def _cut(node: Node, whole: Input, count: int, slices: int) -> Kernel:
    """Copy `count` blocks to each output, from their places in the input."""
    calls, offset = [], 0
    for position, part in enumerate(node.outputs):
        check_types(node.tensor(whole), part)
        size, pitches = part.size // count, _pitches(node, whole, Output(position), count)
        made = copy(whole, Output(position), count // slices, size, input_offset=offset, **pitches)
        calls.append(_of_slice(node, made, slices))
        offset += size
    node.expect(offset * count == node.tensor(whole).size, "has outputs that do not take all of its input")
    return Kernel(tuple(calls))


def _joined(node: Node, count: int, slices: int) -> Kernel:
    """Copy `count` blocks of each input to their places in the output."""
    calls, offset = [], 0
    for position, tensor in enumerate(node.inputs):
        size, pitches = tensor.size // count, _pitches(node, Input(position), Output(0), count)
        made = copy(Input(position), Output(0), count // slices, size, output_offset=offset, **pitches)
        calls.append(_of_slice(node, made, slices))
        offset += size
    return Kernel(tuple(calls))


def _of_slice(node: Node, made: KernelCall, slices: int) -> KernelCall:
    """Return a call for each of so many slices of its operands; of a single one, the call as it is."""
    if slices == 1:
        return made
    pitches = (node.tensor(each).elements // slices for each in made.operands if isinstance(each, Input | Output))
    return replace(made, form=Pieces(slices, tuple(pitches)))


def _pitches(node: Node, source: Input, target: Output, count: int) -> dict[str, int]:
    """Return the bytes from one of `count` blocks to the next, in both operands."""
    in_bytes = (
        node.graph.pitches.get(node.index(operand), node.tensor(operand).size // count) for operand in (source, target)
    )
    return dict(zip(("input_pitch", "output_pitch"), in_bytes, strict=True))


def _by_channels(kernel: Kernel, axis: int, whole: Tensor) -> Kernel:
    """Declare that operands of copies along the last axis may be channels of other tensors: blocks are their pixels."""
    operands = frozenset(operand for call in kernel.calls for operand in call.operands)
    return replace(kernel, pitched=operands) if axis == len(whole.shape) - 1 else kernel


def _axis(node: Node, axis: int, whole: Tensor) -> int:
    rank = len(whole.shape)
    node.expect(-rank <= axis < rank, f"works along axis {axis} of a tensor of shape {list(whole.shape)}")
    return axis % rank


def check_types(source: Tensor, output: Tensor) -> None:
    """Refuse types that differ, and elements that are not whole bytes."""
    if source.dtype is not output.dtype or source.dtype.bits not in _WIDTHS:
        raise unsupported_types(source, output)


def _check_part(node: Node, part: Tensor, whole: Tensor, axis: int) -> None:
    others = [shape[:axis] + shape[axis + 1 :] for shape in (part.shape, whole.shape)]
    same = len(part.shape) == len(whole.shape) and others[0] == others[1]
    node.expect(same, f"has parts of shape {list(part.shape)} along axis {axis} of {list(whole.shape)}")


def _check_quantization(source: Tensor, output: Tensor) -> None:
    if source.dtype in _QUANTIZED and source.quantization != output.quantization:
        raise Unsupported("its inputs and its output are quantized in different ways")


def copy(
    source: Input | Derived,
    target: Input | Output,
    count: int,
    size: int,
    *,
    input_offset: int = 0,
    input_pitch: int | None = None,
    output_offset: int = 0,
    output_pitch: int | None = None,
) -> KernelCall:
    """Copy blocks; without a pitch they lie side by side."""
    input_pitch, output_pitch = (size if pitch is None else pitch for pitch in (input_pitch, output_pitch))
    fields = (
        ("count", count),
        ("size", size),
        ("input_offset", input_offset),
        ("input_pitch", input_pitch),
        ("output_offset", output_offset),
        ("output_pitch", output_pitch),
    )
    read, written = (
        reads(source, size, {"blocks": input_pitch}, input_offset),
        writes(target, size, {"blocks": output_pitch}, output_offset),
    )
    return call_in_bytes("copy", Nest({"blocks": count}, (read, written)), fields)
