"""PAD and PADV2."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import NamedTuple

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Operand, Output, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.nest import Nest, aside, kernel, reads, rows_of, writes
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.pieces import sliced_axis
from usmp_build.kernels.requantization import int32_constant
from usmp_build.kernels.window import Slide, Under

_MOST_AXES = 5
_WORDS = 3
"""Of an axis in the table."""


class _Frame(NamedTuple):
    """An axis: padding before, size of the input, padding after."""

    before: int
    size: int
    after: int


def pad(node: Node) -> Kernel:
    """A frame of zeros, or of the value that is an input of PADV2."""
    source, output = node.input(0), node.output
    if source.dtype is not output.dtype or source.dtype.bits not in (8, 16, 32, 64) or not source.dtype.numpy:
        raise unsupported_types(source, output)
    whole, axis = _padded(node, "pad", _frames(node)), sliced_axis(source.shape)
    if axis is None or source.is_constant or sliced_axis(output.shape) != axis:
        return whole
    outer, *inner = _frames(node)[axis:]
    rows = Slide(outer.size, sum(outer), before=outer.before)
    return whole if sum(outer) == outer.size else replace(whole, by_rows=_padded(node, "pad_row", inner, rows))


def _padded(node: Node, function: str, frames: list[_Frame], rows: Slide | None = None) -> Kernel:
    """Return the kernel that pads along the last axes, and along the rows under a window if there is one."""
    source, output = node.input(0), node.output
    frames = _merged(frames)
    if len(frames) > _MOST_AXES:
        raise Unsupported(f"it pads along more than {_MOST_AXES} groups of axes")
    frames = [_Frame(0, 1, 0)] * (_MOST_AXES - len(frames)) + frames
    axes = int32_constant("axes", (number for frame in frames for number in frame))
    value, constants = _value(node)
    lines, crossing = prod(sum(frame) for frame in frames[:-1]), prod(frame.size for frame in frames[:-1])
    width = source.dtype.bits // 8
    inside, outside = (1, 0) if rows is None else (rows.size, rows.output - rows.size)
    fills = inside * (lines + crossing) + outside  # a byte is filled with all at once
    nest = _nest(frames, value, rows)
    return kernel(
        node,
        function,
        nest,
        (("lines", lines), ("width", width)),
        form=None if rows is None else rows_of(nest, untyped=True),
        constants=(axes, *constants),
        moved={
            value: Traffic(fills if width == 1 else output.size - source.size),
            Derived(0): Traffic(inside * _table_reads(frames) + 4 * _WORDS * outside),
        },
    )


def _nest(frames: list[_Frame], value: Operand, rows: Slide | None) -> Nest:
    """A line that is inside the input along every outer axis reads its part of the input first."""
    *outer, line = frames
    under, pitch = dict[str, Under](), line.size
    for number, frame in reversed([*enumerate(outer)]):
        under[f"axis_{number}"] = Slide(frame.size, before=frame.before).under(pitch)
        pitch *= frame.size
    axes = {f"axis_{number}": sum(frame) for number, frame in enumerate(outer)}
    if rows is not None:
        axes = {"images": 1, "rows": rows.output, **axes}
        under["rows"] = rows.under(pitch)
    spans = reads(Input(0), line.size, under), aside(value), aside(Derived(0)), writes(Output(0), sum(line))
    return Nest(axes, spans)


def _table_reads(frames: list[_Frame]) -> int:
    """Count the bytes that are read of the table of axes.

    For every line all three of each outer axis, innermost first, up to the first whose frame the line is in.  Of the
    innermost axis all three once.
    """
    words, lines = _WORDS, prod(sum(frame) for frame in frames[:-1])
    for frame in reversed(frames[:-1]):
        words += _WORDS * lines
        lines = lines // sum(frame) * frame.size
    return 4 * words


def _frames(node: Node) -> list[_Frame]:
    source, output = node.input(0), node.output
    paddings = node.integers(1, "paddings")
    node.expect(len(paddings) == 2 * len(source.shape), "does not have two paddings for each dimension")
    node.expect(min(paddings, default=0) >= 0, "has a padding below 0")
    pairs = zip(paddings[::2], source.shape, paddings[1::2], strict=True)
    frames = [_Frame(int(before), size, int(after)) for before, size, after in pairs]
    node.expect(tuple(map(sum, frames)) == output.shape, "makes another shape than its output has")
    return frames


def _merged(frames: list[_Frame]) -> list[_Frame]:
    """Merge axes without padding into the one before: in both tensors they are runs.

    >>> _merged([_Frame(0, 1, 0), _Frame(1, 8, 1), _Frame(2, 4, 2), _Frame(0, 3, 0)])
    [_Frame(before=1, size=8, after=1), _Frame(before=6, size=12, after=6)]
    """
    merged: list[_Frame] = []
    for frame in frames:
        if merged and frame.before == frame.after == 0:
            before, size, after = (number * frame.size for number in merged.pop())
            merged.append(_Frame(before, size, after))
        elif merged and merged[-1] == (0, 1, 0):
            merged[-1] = frame
        else:
            merged.append(frame)
    return merged or [_Frame(0, 1, 0)]


def _value(node: Node) -> tuple[Operand, tuple[Constant, ...]]:
    """PADV2 brings the value; PAD's is 0, which for eight bits is the zero point."""
    source, output, value = node.input(0), node.output, node.optional(2)
    if value is not None:
        node.expect(value.elements == 1 and value.dtype is source.dtype, "pads with something else than one element")
        if value.quantization != output.quantization:
            raise Unsupported("its value and its output are quantized in different ways")
        return Input(2), ()
    return Derived(1), (zero(node),)


def zero(node: Node) -> Constant:
    """Return what stands for 0 in the output: the zero point of eight bits, and else 0."""
    output = node.output
    number = node.zero_point(output) % 256 if output.dtype in {DType.INT8, DType.UINT8} else 0
    return Constant("value", output.dtype, number.to_bytes(output.dtype.bits // 8, "little"))
