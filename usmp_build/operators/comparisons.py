"""Comparisons and logic: elementwise operators whose operands or outputs are bool."""

from __future__ import annotations

from usmp_build.operators.general_rules import broadcastable
from usmp_build.operators.kind import Effect, Elementwise, OperatorKind
from usmp_build.operators.operands import Signature


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
    _kind("SELECT_V2", "condition first second", symmetric=False),
)
