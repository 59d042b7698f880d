"""The same elements under another shape, in another order, repeated or with others around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from usmp_build.ir.graph import Operator, Tensor
from usmp_build.operators.control import SAME
from usmp_build.operators.fold import Array, filled, same_elements, stretched, transposed
from usmp_build.operators.general_rules import as_many, axis_faults, integers, same_type, shape_fault, shown
from usmp_build.operators.kind import Effect, Fold, Known, OperatorKind, Role
from usmp_build.operators.operands import Fault, Form, Subject


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


def _shape(_: Operator, sources: Sequence[Tensor]) -> Array:
    return np.asarray(sources[0].shape)


def _rank(_: Operator, sources: Sequence[Tensor]) -> Array:
    return np.asarray(len(sources[0].shape))


_PAD = Form("input paddings value?", rules=(same_type("input", "output", "value"), integers("paddings"), _padded))
_RESHAPE = Form("input shape?", rules=(same_type("input", "output"), as_many("input", "output")))
_OPEN = Form("input operand")
"""Its second operand is read where it is understood."""

KINDS = (
    OperatorKind(
        name="BROADCAST_TO",
        options=None,
        form=_OPEN,
        effect=Effect.PURE,
        keeps_axes=False,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.VALUES, stretched),
        arguments=None,
    ),
    OperatorKind(
        name="EXPAND_DIMS",
        options=None,
        form=_RESHAPE,
        effect=Effect.FUNCTION,
        keeps_axes=False,
        elementwise=None,
        only_shape=True,
        within_inputs=True,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.BYTES, same_elements),
        arguments=None,
    ),
    OperatorKind(
        name="FILL",
        options=None,
        form=None,
        effect=Effect.PURE,
        keeps_axes=False,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.VALUES, filled),
        arguments=None,
    ),
    OperatorKind(
        name="PAD",
        options=None,
        form=_PAD,
        effect=Effect.FUNCTION,
        keeps_axes=True,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=None,
        arguments={"input": Role.SAME, "paddings": Role.WHOLE},
    ),
    OperatorKind(
        name="PADV2",
        options=None,
        form=_PAD,
        effect=Effect.FUNCTION,
        keeps_axes=True,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=None,
        arguments=None,
    ),
    OperatorKind(
        name="RANK",
        options=None,
        form=Form("input"),
        effect=Effect.PURE,
        keeps_axes=False,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.SHAPES, _rank),
        arguments=None,
    ),
    OperatorKind(
        name="RESHAPE",
        options=None,
        form=_RESHAPE,
        effect=Effect.FUNCTION,
        keeps_axes=False,
        elementwise=None,
        only_shape=True,
        within_inputs=True,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.BYTES, same_elements),
        arguments={"input": Role.SAME, "shape": Role.WHOLE},
    ),
    OperatorKind(
        name="RESIZE_BILINEAR",
        options=None,
        form=_OPEN,
        effect=Effect.PURE,
        keeps_axes=True,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=None,
        arguments=None,
    ),
    OperatorKind(
        name="RESIZE_NEAREST_NEIGHBOR",
        options=None,
        form=_OPEN,
        effect=Effect.PURE,
        keeps_axes=True,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=None,
        arguments=None,
    ),
    OperatorKind(
        name="SHAPE",
        options=None,
        form=Form("input"),
        effect=Effect.PURE,
        keeps_axes=False,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.SHAPES, _shape),
        arguments=None,
    ),
    OperatorKind(
        name="SQUEEZE",
        options=None,
        form=SAME,
        effect=Effect.FUNCTION,
        keeps_axes=False,
        elementwise=None,
        only_shape=True,
        within_inputs=True,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.BYTES, same_elements),
        arguments=None,
    ),
    OperatorKind(
        name="TILE",
        options=None,
        form=_OPEN,
        effect=Effect.PURE,
        keeps_axes=False,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=None,
        arguments=None,
    ),
    OperatorKind(
        name="TRANSPOSE",
        options=None,
        form=Form("input axes", rules=(same_type("input", "output"), integers("axes"), _permuted)),
        effect=Effect.FUNCTION,
        keeps_axes=False,
        elementwise=None,
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=Fold(Known.VALUES, transposed),
        arguments=None,
    ),
)
