"""Tensors of one value, and shapes that are computed."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.operators.fold import filled
from usmp_build.operators.general_rules import count_fault, integers, same_type, shape_fault
from usmp_build.operators.kind import AtOnce, Fold, Known, pure
from usmp_build.operators.operands import Fault, Signature, Subject


def _filled(subject: Subject) -> Iterator[Fault]:
    """FILL: the output has the shape that is an operand."""
    yield from count_fault(subject, "value", 1)
    shape = subject.numbers("shape")
    if shape is not None:
        yield from shape_fault(subject, "output", tuple(shape))


def _as_input(subject: Subject) -> Iterator[Fault]:
    yield from shape_fault(subject, "output", subject.shape("input"))


def _longest(subject: Subject) -> Iterator[Fault]:
    """BROADCAST_ARGS: the output has as many dimensions as the longer of two shapes."""
    count = 0
    for label, tensor in subject.each("first", "second"):
        count = max(count, tensor.elements)
        if len(tensor.shape) != 1:
            yield Fault("T247", f"{label} has the shape {list(tensor.shape)}, but must be a list")
    yield from shape_fault(subject, "output", (count,))


KINDS = (
    pure(
        "BROADCAST_ARGS",
        Signature("first second", rules=(integers("first"), same_type("first", "second", "output"), _longest)),
        whole=AtOnce.SHAPES,
    ),
    pure(
        "FILL",
        Signature("shape value", rules=(integers("shape"), same_type("value", "output"), _filled)),
        fold=Fold(Known.VALUES, filled),
        whole=AtOnce.SHAPES,
    ),
    pure("ZEROS_LIKE", Signature("input", rules=(same_type("input", "output"), _as_input)), whole=AtOnce.SHAPES),
)
