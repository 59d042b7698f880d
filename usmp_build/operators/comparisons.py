"""Comparisons and logic: elementwise operators whose operands or outputs are bool."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.operators.general_rules import broadcastable, shape_fault
from usmp_build.operators.kind import Effect, Elementwise, OperatorKind, plain_kind
from usmp_build.operators.operands import Fault, Signature, Subject


def _kind(name: str, operands: str, *, symmetric: bool) -> OperatorKind:
    names = operands.split()
    return OperatorKind(
        name=name,
        options=None,
        signature=Signature(operands, rules=(broadcastable(*names),)),
        effect=Effect.FUNCTION,
        keeps_axes=True,
        elementwise=Elementwise(operands=len(names), symmetric=symmetric, bounds=False, activation=None, int8=None),
        only_shape=False,
        within_inputs=False,
        streams=False,
        weights=None,
        extended=False,
        fold=None,
        arguments=None,
    )


def _selecting(subject: Subject) -> Iterator[Fault]:
    """SELECT stretches nothing but its condition: one for all elements, or one for each index of the first axis."""
    condition, output = subject.shape("condition"), subject.shape("output")
    yield from shape_fault(subject, "first", output)
    yield from shape_fault(subject, "second", output)
    if condition not in ((), output[:1]):
        yield from shape_fault(subject, "condition", output)


KINDS = (
    _kind("EQUAL", "first second", symmetric=True),
    _kind("GREATER", "first second", symmetric=False),
    _kind("GREATER_EQUAL", "first second", symmetric=False),
    _kind("LESS", "first second", symmetric=False),
    _kind("LESS_EQUAL", "first second", symmetric=False),
    _kind("LOGICAL_AND", "first second", symmetric=True),
    _kind("LOGICAL_NOT", "input", symmetric=False),
    _kind("LOGICAL_OR", "first second", symmetric=True),
    _kind("NOT_EQUAL", "first second", symmetric=True),
    plain_kind(
        name="SELECT",
        options=None,
        signature=Signature("condition first second", rules=(_selecting,)),
        effect=Effect.FUNCTION,
        keeps_axes=True,
        only_shape=False,
        within_inputs=False,
        fold=None,
        arguments=None,
    ),
    _kind("SELECT_V2", "condition first second", symmetric=False),
)
