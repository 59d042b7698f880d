"""How close buffers may come to one another although one operator touches both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Direction


@dataclass(frozen=True, slots=True)
class Separation:
    """What one operator allows for two buffers."""

    bytes: int
    """How far the upper one must start behind the start of the lower one; 0 or less where it may also be below."""
    operator: OperatorRef
    direction: Direction


@dataclass(frozen=True, slots=True)
class Separations:
    """The pairs (below, above) that may share bytes, though both are alive at one step."""

    pairs: Mapping[tuple[int, int], Separation] = field(default_factory=dict)

    def bytes(self) -> dict[tuple[int, int], int]:
        """Return the separations as a memory problem takes them."""
        return {pair: allowed.bytes for pair, allowed in self.pairs.items()}
