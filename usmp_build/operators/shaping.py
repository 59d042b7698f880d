"""The same elements under another shape, in another order, repeated or with others around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from usmp_build.ir.graph import Operator, Tensor
from usmp_build.operators.control import SAME
from usmp_build.operators.fold import Array, broadcast, same_elements, transposed
from usmp_build.operators.general_rules import (
    as_many,
    axis_faults,
    broadcastable,
    integers,
    same_type,
    shape_fault,
    shown,
)
from usmp_build.operators.kind import ArgumentType, AtOnce, Effect, Fold, Known, mover, pure
from usmp_build.operators.operands import Fault, Signature, Subject


def _padded(subject: Subject) -> Iterator[Fault]:
    """PAD and PADV2: each axis of the output is that of the input, with what is before and after it."""
    paddings, shape = subject.numbers("paddings"), subject.shape("input")
    value = subject.tensor("value")
    if value is not None and value.elements != 1:
        yield Fault("T247", f"it pads with a value of shape {list(value.shape)}, not with one element")
    if paddings is None:
        return
    if len(paddings) != 2 * len(shape) or min(paddings, default=0) < 0:
        message = f"its paddings are {shown(paddings)}, but must be two of 0 or more for each of {list(shape)}"
        yield Fault("T249", message)
    around = zip(paddings[::2], shape, paddings[1::2], strict=True)
    yield from shape_fault(subject, "output", tuple(before + size + after for before, size, after in around))


def _permuted(subject: Subject) -> Iterator[Fault]:
    """TRANSPOSE: every axis is named once, and the output has the axes in their new order."""
    axes, shape = subject.numbers("axes"), subject.shape("input")
    if axes is None:
        return
    yield from axis_faults(axes, shape)
    order = [axis % len(shape) for axis in axes]
    if sorted(order) != [*range(len(shape))]:
        yield Fault("T249", f"its axes are {shown(axes)}, but must be each of {list(shape)} once")
    yield from shape_fault(subject, "output", tuple(shape[axis] for axis in order))


def _stretched(subject: Subject) -> Iterator[Fault]:
    """BROADCAST_TO: the output has the shape that is an operand, and the input fits it."""
    shape = subject.numbers("shape")
    if shape is not None:
        yield from shape_fault(subject, "output", tuple(shape))


def _tiled(subject: Subject) -> Iterator[Fault]:
    """TILE: each axis of the output is that of the input several times."""
    times, shape = subject.numbers("times"), subject.shape("input")
    if times is None:
        return
    if len(times) != len(shape) or min(times, default=0) < 0:
        yield Fault("T249", f"it repeats {shown(times)} times, but must say how often for each axis of {list(shape)}")
        return
    yield from shape_fault(subject, "output", tuple(size * each for size, each in zip(shape, times, strict=True)))


def _shape(_: Operator, sources: Sequence[Tensor]) -> Array:
    return np.asarray(sources[0].shape)


def _repeated(_: Operator, sources: Sequence[Tensor]) -> Array:
    data, times = sources
    return np.tile(data.as_array(), [int(each) for each in times.as_array().ravel()])


def _rank(_: Operator, sources: Sequence[Tensor]) -> Array:
    return np.asarray(len(sources[0].shape))


_PAD = Signature("input paddings value?", rules=(same_type("input", "output", "value"), integers("paddings"), _padded))
_RESHAPE = Signature("input shape?", rules=(same_type("input", "output"), as_many))
_SAME_BYTES = Fold(Known.BYTES, same_elements)

KINDS = (
    mover(
        "BROADCAST_TO",
        Signature(
            "input shape",
            rules=(same_type("input", "output"), integers("shape"), broadcastable("input"), _stretched),
        ),
        within_inputs=True,
        fold=Fold(Known.VALUES, broadcast),
    ),
    mover("EXPAND_DIMS", _RESHAPE, only_shape=True, fold=_SAME_BYTES),
    mover("PAD", _PAD, keeps_axes=True, arguments={"input": ArgumentType.SAME, "paddings": ArgumentType.INT32}),
    mover("PADV2", _PAD, keeps_axes=True),
    pure("RANK", Signature("input"), effect=Effect.PURE, fold=Fold(Known.SHAPES, _rank)),
    mover(
        "RESHAPE",
        _RESHAPE,
        only_shape=True,
        fold=_SAME_BYTES,
        arguments={"input": ArgumentType.SAME, "shape": ArgumentType.INT32},
    ),
    pure("SHAPE", Signature("input"), effect=Effect.PURE, fold=Fold(Known.SHAPES, _shape), whole=AtOnce.SHAPES),
    mover("SQUEEZE", SAME, only_shape=True, fold=_SAME_BYTES),
    mover(
        "TILE",
        Signature("input times", rules=(same_type("input", "output"), integers("times"), _tiled)),
        within_inputs=True,
        fold=Fold(Known.BYTES, _repeated),
    ),
    mover(
        "TRANSPOSE",
        Signature("input axes", rules=(same_type("input", "output"), integers("axes"), _permuted)),
        fold=Fold(Known.VALUES, transposed),
    ),
)
