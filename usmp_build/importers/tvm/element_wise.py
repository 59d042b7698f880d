"""Tells which buffers a loop nest reads element by element, as it writes another one: the two may share their bytes.

    for i in range(8): for j in range(4): y[4 * i + j] = f(x[4 * i + j], b[j])      y may lie on x, not on b

Elements are written in ascending order, each once, and x[i] is read only for y[i].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Affine: TypeAlias = "tuple[dict[Any, int], int] | None"
"""Loop variable → stride, and a constant; None: something else."""


def affine(value: Any, bindings: Mapping[Any, Any]) -> Affine:
    """Return an index as a sum of loop variables; `bindings` are the variables that stand for expressions."""
    match type(value).__name__:
        case "IntImm":
            return {}, int(value.value)
        case "Var":
            return affine(bindings[value], bindings) if value in bindings else ({value: 1}, 0)
        case "Cast":
            return affine(value.value, bindings)
        case "Add" | "Sub" as kind:
            one, other = affine(value.a, bindings), affine(value.b, bindings)
            return None if one is None or other is None else _sum(one, other, 1 if kind == "Add" else -1)
        case "Mul":
            one, other = affine(value.a, bindings), affine(value.b, bindings)
            for side, factor in ((one, other), (other, one)):
                if side is not None and factor is not None and not factor[0]:
                    return {variable: stride * factor[1] for variable, stride in side[0].items()}, side[1] * factor[1]
    return None


def _sum(one: tuple[dict[Any, int], int], other: tuple[dict[Any, int], int], sign: int) -> Affine:
    strides = dict(one[0])
    for variable, stride in other[0].items():
        strides[variable] = strides.get(variable, 0) + sign * stride
    return strides, one[1] + sign * other[1]


def is_ascending(index: Affine, loops: Sequence[tuple[Any, int | None]]) -> bool:
    """Tell whether loops, outermost first, each with its rounds, if known, reach ever higher indices."""
    if index is None:
        return False
    strides, inner = index[0], 0  # `inner`: how far the loops inside move the index
    if not {variable for variable, stride in strides.items() if stride} <= {variable for variable, _ in loops}:
        return False
    for variable, rounds in reversed(loops):
        if rounds is None:
            return False
        if rounds > 1:
            if strides.get(variable, 0) <= inner:
                return False
            inner += strides[variable] * (rounds - 1)
    return True


def is_same(one: Affine, other: Affine) -> bool:
    """Tell whether two indices are equal at all times."""
    return (
        one is not None and other is not None and _sum(one, other, -1) == (dict.fromkeys({**one[0], **other[0]}, 0), 0)
    )
