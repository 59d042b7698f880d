"""SLICE and STRIDED_SLICE: elements at a fixed stride along each axis.

Where a SLICE begins may also come at run time.  Then it may read anywhere: these reads are not declared, and nothing
overlaps what it reads.
"""

from __future__ import annotations

from math import prod

from usmp_build.interfaces.kernels import Derived, Input, Kernel, Output, Traffic
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import InTurn, Nest, aside, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.portable.copies import check_types
from usmp_build.kernels.portable.gathering import START_TYPES, axes_of_part, lookups
from usmp_build.kernels.portable.moves import Axis, Move, byte_steps, moves
from usmp_build.operators.slicing import StridedSlice, Taken, shape_left, sliced, strided


def cut(node: Node) -> Kernel:
    """SLICE: neighbors along each axis."""
    source, output = node.input(0), node.output
    check_types(source, output)
    if not (node.input(1).is_constant and node.input(2).is_constant):
        return _cut_at_run_time(node)
    begins, sizes = (node.integers(position, name) for position, name in enumerate(("begins", "sizes"), 1))
    taken = sliced(source.shape, begins, sizes)
    node.expect(taken is not None, f"takes {sizes} from {begins}, which is not within {list(source.shape)}")
    taken = taken or ()
    node.expect(prod(map(len, taken)) == output.elements, "has an output of another size than what it takes")
    return _taken(node, taken)


def _cut_at_run_time(node: Node) -> Kernel:
    """SLICE from where its begins say; its sizes are those of its output, whatever comes at run time."""
    source, begins, output = node.input(0), node.input(1), node.output
    if begins.dtype not in START_TYPES:
        raise Unsupported(f"it has no kernel for begins of type {begins.dtype.name}")
    shape, part, width = source.shape, output.shape, source.dtype.bits // 8
    fits = len(part) == len(shape) and all(here <= size for here, size in zip(part, shape, strict=True))
    node.expect(fits, f"takes a part of shape {list(part)} of {list(shape)}")
    node.expect(begins.elements == len(shape) > 0, "does not have a begin for each axis")
    lines, run = prod(part[:-1]), part[-1]
    begun = Nest({}, (reads(Input(1), begins.elements),))
    copied = Nest({"lines": lines}, (aside(Input(0), run), aside(Derived(0)), writes(Output(0), run)))
    return kernel(
        node,
        c_name("slice", begins.dtype),
        InTurn((begun, copied), phases=True),
        (("lines", lines), ("line_size", run * width), ("axes", len(shape))),
        struct="slice_parameters",
        operands=(Input(0), Input(1), Derived(0), Output(0)),
        constants=(axes_of_part(shape, part, width),),
        moved={Derived(0): Traffic(lookups(shape, lines))},
    )


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
    return _taken(node, taken)


def _taken(node: Node, taken: Taken) -> Kernel:
    """Move what is taken along each axis to where the output has it."""
    source, width = node.input(0), node.input(0).dtype.bits // 8
    pitches, targets = byte_steps(source.shape, width), byte_steps([*map(len, taken)], width)
    along = [*zip(taken, pitches, targets, strict=True)]
    axes = tuple(Axis(len(indices), indices.step * pitch, target) for indices, pitch, target in along)
    return moves([Move(width, axes, source=sum(indices.start * pitch for indices, pitch, _ in along))])
