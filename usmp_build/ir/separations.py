"""Separations: the minimum distances between conflicting buffers that one operator touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from usmp_build.frozen import frozen
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Direction


@frozen
class Separation:
    """The distance that one operator allows for two buffers."""

    bytes: int
    """Minimum offset of the upper buffer minus that of the lower one; if negative, the upper one may start below."""
    operator: OperatorRef | str
    """Of a program, the name of the statement."""
    direction: Direction


@frozen
class Separations:
    """The pairs (below, above) that may share bytes although both are alive at some step."""

    pairs: Mapping[tuple[int, int], Separation] = field(default_factory=dict)

    def bytes(self) -> dict[tuple[int, int], int]:
        """Return the separations as a memory problem takes them."""
        return {pair: allowed.bytes for pair, allowed in self.pairs.items()}
