"""What the manifest says of single operators and tensors, as far as rewrites must respect it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from usmp_build.ir.graph import Operator


@dataclass(frozen=True)
class Pins:
    """Of one model; operators are keyed by (subgraph, position), tensors by (subgraph, index)."""

    named: frozenset[tuple[int, int]] = frozenset()
    """Operators that must stay."""
    targets: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Who runs an operator; else target 0."""
    tensors: Mapping[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    """The pools that a tensor is pinned to."""

    def may_fold(self, subgraph: int, op: Operator) -> bool:
        """Tell whether an operator may be computed now, and its output become a constant."""
        pinned = any((subgraph, tensor) in self.tensors for tensor in op.outputs)
        return not pinned and (subgraph, op.position) not in self.named

    def may_view(self, subgraph: int, op: Operator, producer: Operator | None) -> bool:
        """Tell whether `op` may become a view of what `producer` wrote (None: nobody did).

        A target that was asked to make a value of its own, of one that another target wrote, makes it.
        """
        spot = (subgraph, op.position)
        if spot in self.named:
            return False
        source = self.targets.get((subgraph, producer.position), 0) if producer else 0
        return self.targets.get(spot, source) == source


NO_PINS = Pins()
