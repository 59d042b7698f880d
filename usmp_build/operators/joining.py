"""Tensors side by side become one, and one becomes several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from math import prod

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Tensor
from usmp_build.ir.options import Activation, Options, slot
from usmp_build.operators.fold import arrays
from usmp_build.operators.general_rules import axis_faults, integers, same_type
from usmp_build.operators.kind import Array, Fold, Known, StoredOptions, mover
from usmp_build.operators.operands import Fault, Label, Signature, Subject


@frozen
class Concatenation(Options):
    """CONCATENATION."""

    axis: int = field(default=0, metadata=slot(0, "i"))
    activation: Activation = field(default=Activation.NONE, metadata=slot(1, "b"))


@frozen
class Pack(Options):
    """PACK."""

    values_count: int = field(default=0, metadata=slot(0, "i"))
    axis: int = field(default=0, metadata=slot(1, "i"))


@frozen
class Unpack(Options):
    """UNPACK."""

    num: int = field(default=0, metadata=slot(0, "i"))
    axis: int = field(default=0, metadata=slot(1, "i"))


def _concatenated(subject: Subject) -> Iterator[Fault]:
    """CONCATENATION: the inputs side by side are the output."""
    options = subject.operator.options
    assert isinstance(options, Concatenation)
    yield from _side_by_side(subject.shape("output"), [*subject.each("inputs")], options.axis)


def _packed(subject: Subject) -> Iterator[Fault]:
    """PACK: the inputs have the shape of the output without the axis along which they lie."""
    options, output = subject.operator.options, subject.shape("output")
    assert isinstance(options, Pack)
    yield from axis_faults([options.axis], output)
    axis, inputs = options.axis % len(output), [*subject.each("inputs")]
    for label, tensor in inputs:
        if (*tensor.shape[:axis], len(inputs), *tensor.shape[axis:]) != output:
            message = f"{label} has the shape {list(tensor.shape)}, but is one of {len(inputs)} along axis {axis}"
            yield Fault("T247", f"{message} of {list(output)}")


def _split(subject: Subject) -> Iterator[Fault]:
    """SPLIT and SPLIT_V: the outputs side by side are the input."""
    axes = subject.numbers("axis")
    if axes is None:
        return
    if len(axes) != 1:
        yield Fault("T249", f"it splits along {len(axes)} axes, not along one")
    yield from _side_by_side(subject.shape("input"), [*subject.each("outputs")], axes[0])


def _unpacked(subject: Subject) -> Iterator[Fault]:
    """UNPACK: the outputs have the elements of the input without the axis along which they lie."""
    options, whole, outputs = subject.operator.options, subject.shape("input"), [*subject.each("outputs")]
    assert isinstance(options, Unpack)
    yield from axis_faults([options.axis], whole)
    axis = options.axis % len(whole)
    if whole[axis] != len(outputs):
        yield Fault("T247", f"it has {len(outputs)} outputs, but {whole[axis]:,} indices along axis {axis}")
    for position, (_, tensor) in enumerate(outputs):
        if tensor.elements * len(outputs) != prod(whole):
            message = f"output {position} has the shape {list(tensor.shape)}, but is one of {len(outputs)} equal parts"
            yield Fault("T247", f"{message} of {list(whole)}")


def _side_by_side(whole: Sequence[int], parts: Sequence[tuple[Label, Tensor]], axis: int) -> Iterator[Fault]:
    yield from axis_faults([axis], whole)
    axis %= len(whole)
    for label, part in parts:
        if len(part.shape) != len(whole) or any(
            size != part.shape[other] for other, size in enumerate(whole) if other != axis
        ):
            message = f"{label} has the shape {list(part.shape)}, but is a part along axis {axis} of {list(whole)}"
            yield Fault("T247", message)
    total = sum(part.shape[axis] for _, part in parts)
    if total != whole[axis]:
        yield Fault("T247", f"its parts add up to {total:,} along axis {axis} of {list(whole)}")


def _pack(op: Operator, sources: Sequence[Tensor]) -> Array:
    return np.stack(arrays(sources), axis=op.options.axis if isinstance(op.options, Pack) else 0)


def _concatenation(op: Operator, sources: Sequence[Tensor]) -> Array:
    options = op.options if isinstance(op.options, Concatenation) else Concatenation()
    if options.activation is not Activation.NONE or len({source.quantization for source in sources}) > 1:
        raise ValueError
    return np.concatenate(arrays(sources), axis=options.axis)


KINDS = (
    mover(
        "CONCATENATION",
        Signature("inputs*", rules=(same_type("output", "inputs"), _concatenated)),
        options=StoredOptions(Concatenation, "ConcatenationOptions"),
        keeps_axes=True,
        fold=Fold(Known.BYTES, _concatenation),
    ),
    mover(
        "PACK",
        Signature("inputs*", rules=(same_type("output", "inputs"), _packed)),
        options=StoredOptions(Pack, "PackOptions"),
        fold=Fold(Known.BYTES, _pack),
    ),
    mover(
        "SPLIT",
        Signature("axis input", "outputs*", rules=(same_type("input", "outputs"), integers("axis"), _split)),
    ),
    mover(
        "SPLIT_V",
        Signature(
            "input sizes axis",
            "outputs*",
            rules=(same_type("input", "outputs"), integers("sizes", "axis"), _split),
        ),
    ),
    mover(
        "UNPACK",
        Signature("input", "outputs*", rules=(same_type("input", "outputs"), _unpacked)),
        options=StoredOptions(Unpack, "UnpackOptions"),
    ),
)
