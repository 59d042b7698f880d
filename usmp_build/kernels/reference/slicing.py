"""SLICE and STRIDED_SLICE: elements at a fixed stride along each axis."""

from __future__ import annotations

from math import prod

from usmp_build.interfaces.kernels import Kernel
from usmp_build.kernels.reference.copies import check_types
from usmp_build.kernels.reference.moves import Axis, Move, byte_steps, moves
from usmp_build.kernels.reference.node import Node, Unsupported
from usmp_build.operators.slicing import StridedSlice, Taken, shape_left, sliced, strided


def cut(node: Node) -> Kernel:
    """SLICE: neighbours along each axis."""
    source, output = node.input(0), node.output
    check_types(source, output)
    begins, sizes = (node.integers(position, name) for position, name in enumerate(("begins", "sizes"), 1))
    taken = sliced(source.shape, begins, sizes)
    node.expect(taken is not None, f"takes {sizes} from {begins}, which is not within {list(source.shape)}")
    taken = taken or ()
    node.expect(prod(map(len, taken)) == output.elements, "has an output of another size than what it takes")
    return _taken(source.shape, taken, source.dtype.bits // 8)


def strided_slice(node: Node) -> Kernel:
    """STRIDED_SLICE: also at strides below 0, which turn an axis round."""
    source, output = node.input(0), node.output
    check_types(source, output)
    options, shape = node.options(StridedSlice), source.shape
    if options.ellipsis_mask or options.new_axis_mask or options.offset:
        raise Unsupported("it has an ellipsis, new axes, or ends relative to the begins")
    names = ("begins", "ends", "strides")
    numbers = [node.integers(position, name) for position, name in enumerate(names, 1)]
    node.expect(
        all(len(each) == len(shape) for each in numbers), f"does not have {len(shape)} begins, ends and strides"
    )
    node.expect(0 not in numbers[2], "has a stride of 0")
    taken = strided(options, shape, *numbers)
    node.expect(taken is not None, "takes one index of an axis that does not have it")
    taken = taken or ()
    left = shape_left(options, taken)
    node.expect(left == output.shape, f"makes a tensor of shape {list(left)}, not {list(output.shape)}")
    return _taken(shape, taken, source.dtype.bits // 8)


def _taken(shape: tuple[int, ...], taken: Taken, width: int) -> Kernel:
    """Move what is taken along each axis to where the output has it."""
    pitches, targets = byte_steps(shape, width), byte_steps([*map(len, taken)], width)
    along = [*zip(taken, pitches, targets, strict=True)]
    axes = tuple(Axis(len(indices), indices.step * pitch, target) for indices, pitch, target in along)
    return moves([Move(width, axes, source=sum(indices.start * pitch for indices, pitch, _ in along))])


KERNELS = {"SLICE": cut, "STRIDED_SLICE": strided_slice}
