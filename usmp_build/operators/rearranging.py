"""The same elements in other places: blocks of pixels, batches, axes turned round, borders that mirror."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import Enum
from math import prod

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Tensor
from usmp_build.ir.options import Options, slot
from usmp_build.operators.fold import arrays
from usmp_build.operators.general_rules import axis_faults, integers, rank, same_type, shape_fault, shown
from usmp_build.operators.kind import Array, AtOnce, Fold, Known, OperatorKind, StoredOptions, mover
from usmp_build.operators.operands import Fault, Rule, Signature, Subject


@frozen
class Blocks(Options):
    """SPACE_TO_DEPTH and DEPTH_TO_SPACE."""

    block_size: int = field(default=0, metadata=slot(0, "i"))
    """Height and width in pixels."""


class Mirror(Enum):
    """What a mirrored border repeats."""

    REFLECT = 0
    """What is behind the outermost elements."""
    SYMMETRIC = 1
    """The outermost elements, too."""


@frozen
class MirrorPad(Options):
    """MIRROR_PAD."""

    mode: Mirror = field(default=Mirror.REFLECT, metadata=slot(0, "b"))


def _deeper(subject: Subject) -> Iterator[Fault]:
    """SPACE_TO_DEPTH: the pixels of a block become one."""
    yield from _blocks(subject, "input", "output")


def _flatter(subject: Subject) -> Iterator[Fault]:
    """DEPTH_TO_SPACE: a pixel becomes a block."""
    yield from _blocks(subject, "output", "input")


def _blocks(subject: Subject, space: str, depth: str) -> Iterator[Fault]:
    options, (images, height, width, channels) = subject.operator.options, subject.shape(space)
    assert isinstance(options, Blocks)
    block = options.block_size
    if block < 1 or height % block or width % block:
        yield Fault("T249", f"blocks of {block} × {block} pixels do not tile an image of {height:,} × {width:,}")
        return
    yield from shape_fault(subject, depth, (images, height // block, width // block, channels * block * block))


def _reversed(subject: Subject) -> Iterator[Fault]:
    axes = subject.numbers("axes")
    if axes is not None:
        yield from axis_faults(axes, subject.shape("input"))
    yield from shape_fault(subject, "output", subject.shape("input"))


def _mirrored(subject: Subject) -> Iterator[Fault]:
    """MIRROR_PAD: borders are no wider than what they mirror."""
    options, paddings, shape = subject.operator.options, subject.numbers("paddings"), subject.shape("input")
    assert isinstance(options, MirrorPad)
    if paddings is None:
        return
    least = 1 if options.mode is Mirror.REFLECT else 0
    pairs = [*zip(paddings[::2], paddings[1::2], strict=False)]
    if len(paddings) != 2 * len(shape) or any(
        not 0 <= width <= size - least for pair, size in zip(pairs, shape, strict=True) for width in pair
    ):
        yield Fault("T249", f"its paddings are {shown(paddings)}, which does not mirror what {list(shape)} has")
        return
    yield from shape_fault(
        subject, "output", tuple(before + size + after for (before, after), size in zip(pairs, shape, strict=True))
    )


_FIXED_BATCH = (
    "Converters write this for dilated convolutions where the batch has no fixed size: convert the model again with "
    "one, such as keras.Input(shape, batch_size=1)."
)


def _batched(space: str, batches: str) -> Rule:
    """SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: each pixel of a block has images of its own."""

    def rule(subject: Subject) -> Iterator[Fault]:
        blocks, borders, whole_shape = subject.numbers("blocks"), subject.numbers("borders"), subject.shape(space)
        if blocks is None or borders is None:
            return
        if not whole_shape:
            yield Fault("T249", "it has blocks of a scalar, which has no images")
            return
        (images, *shape), count = whole_shape, len(blocks)
        if len(shape) < count or len(borders) != 2 * count or min(blocks, default=1) < 1 or min(borders, default=0) < 0:
            message = f"it has blocks of {shown(blocks)} and borders of {shown(borders)}"
            yield Fault("T249", f"{message}, which does not fit {list(subject.shape(space))}")
            return
        whole = [size + sum(borders[2 * axis : 2 * axis + 2]) for axis, size in enumerate(shape[:count])]
        if any(size % block for size, block in zip(whole, blocks, strict=True)):
            yield Fault("T249", f"blocks of {shown(blocks)} do not tile {whole}")
            return
        small = (size // block for size, block in zip(whole, blocks, strict=True))
        for fault in shape_fault(subject, batches, (images * prod(blocks), *small, *shape[count:])):
            yield fault._replace(cure=_FIXED_BATCH)

    return rule


def _flipped(_: Operator, sources: Sequence[Tensor]) -> Array:
    data, axes = arrays(sources)
    return np.flip(data, tuple(int(axis) for axis in axes.reshape(-1)))


def _mover(
    name: str,
    operands: str,
    *rules: Rule,
    options: StoredOptions | None = None,
    keeps_axes: bool = False,
    within_inputs: bool = True,
    fold: Fold | None = None,
    whole: AtOnce | None = None,
) -> OperatorKind:
    signature = Signature(operands, rules=(same_type("input", "output"), *rules))
    return mover(
        name, signature, options=options, keeps_axes=keeps_axes, within_inputs=within_inputs, fold=fold, whole=whole
    )


_IMAGES = rank(4, "input", "output")
_OPERANDS = "input blocks borders"

KINDS = (
    _mover(
        "BATCH_TO_SPACE_ND",
        _OPERANDS,
        integers("blocks", "borders"),
        _batched("output", "input"),
        whole=AtOnce.IMAGES,
    ),
    _mover("DEPTH_TO_SPACE", "input", _IMAGES, _flatter, options=StoredOptions(Blocks, "DepthToSpaceOptions")),
    _mover(
        "MIRROR_PAD",
        "input paddings",
        integers("paddings"),
        _mirrored,
        options=StoredOptions(MirrorPad, "MirrorPadOptions"),
        keeps_axes=True,
    ),
    _mover(
        "REVERSE_V2",
        "input axes",
        integers("axes"),
        _reversed,
        keeps_axes=True,
        fold=Fold(Known.BYTES, _flipped),
    ),
    _mover(
        "SPACE_TO_BATCH_ND",
        _OPERANDS,
        integers("blocks", "borders"),
        _batched("input", "output"),
        within_inputs=False,
        whole=AtOnce.IMAGES,
    ),
    _mover("SPACE_TO_DEPTH", "input", _IMAGES, _deeper, options=StoredOptions(Blocks, "SpaceToDepthOptions")),
)
