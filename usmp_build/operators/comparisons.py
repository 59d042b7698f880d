"""Comparisons and logic: elementwise operators whose operands or outputs are bool."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.operators.general_rules import broadcastable, shape_fault
from usmp_build.operators.kind import OperatorKind, elementwise, pure
from usmp_build.operators.operands import Fault, Signature, Subject


def _kind(name: str, operands: str, *, symmetric: bool = False) -> OperatorKind:
    names = operands.split()
    signature = Signature(operands, rules=(broadcastable(*names),))
    return elementwise(name, signature, operands=len(names), symmetric=symmetric)


def _selecting(subject: Subject) -> Iterator[Fault]:
    """SELECT stretches nothing but its condition: one for all elements, or one for each index of the first axis."""
    condition, output = subject.shape("condition"), subject.shape("output")
    yield from shape_fault(subject, "first", output)
    yield from shape_fault(subject, "second", output)
    if condition not in ((), output[:1]):
        yield from shape_fault(subject, "condition", output)


KINDS = (
    _kind("EQUAL", "first second", symmetric=True),
    _kind("GREATER", "first second"),
    _kind("GREATER_EQUAL", "first second"),
    _kind("LESS", "first second"),
    _kind("LESS_EQUAL", "first second"),
    _kind("LOGICAL_AND", "first second", symmetric=True),
    _kind("LOGICAL_NOT", "input"),
    _kind("LOGICAL_OR", "first second", symmetric=True),
    _kind("NOT_EQUAL", "first second", symmetric=True),
    pure("SELECT", Signature("condition first second", rules=(_selecting,)), keeps_axes=True),
    _kind("SELECT_V2", "condition first second"),
)
