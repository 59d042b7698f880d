"""All operator kinds that anything is known of: `OPERATORS`, put together from the families beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from usmp_build.ir.options import Options
from usmp_build.operators import (
    binary,
    circular_buffer,
    comparisons,
    control,
    decoding,
    detection,
    filling,
    gathering,
    joining,
    lstm,
    planned,
    pooling,
    rearranging,
    reductions,
    resizing,
    shaping,
    signal,
    slicing,
    sums,
    unary,
)
from usmp_build.operators.kind import OperatorKind, planned_only

_FAMILIES = (
    binary,
    circular_buffer,
    comparisons,
    control,
    decoding,
    detection,
    filling,
    gathering,
    joining,
    lstm,
    planned,
    pooling,
    rearranging,
    reductions,
    resizing,
    shaping,
    signal,
    slicing,
    sums,
    unary,
)

OPERATORS: Mapping[str, OperatorKind] = MappingProxyType(
    {kind.name: kind for family in _FAMILIES for kind in family.KINDS}
)
"""By name."""


@cache
def traits(name: str) -> OperatorKind:
    """Return what is known of a kind; of one that is not in the table, as of custom operators, nothing is."""
    return OPERATORS.get(name) or planned_only(name)


def options_class(name: str) -> type[Options] | None:
    """Return the class of the options of a kind; None for kinds without options that anything here reads."""
    stored = traits(name).options
    return stored.options if stored else None
