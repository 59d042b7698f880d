"""What the manifest says of a model, its operators and its tensors, as far as rewrites must respect it."""

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
    separated: frozenset[tuple[int, int]] = frozenset()
    """Tensors whose axes a rule separates."""
    foreign: frozenset[tuple[int, int]] = frozenset()
    """Operators that another library than "reference" runs: it knows what TFLite has, and nothing else."""
    may_cost: bool = True
    """Whether a rewrite may make an operator run more instructions where memory is saved for it."""

    def keeps(self, subgraph: int, tensor: int) -> bool:
        """Tell whether the manifest speaks of a tensor: its bytes must be there, and in its own shape."""
        return (subgraph, tensor) in self.tensors or (subgraph, tensor) in self.separated

    def may_fold(self, subgraph: int, op: Operator) -> bool:
        """Tell whether an operator may be computed now, and its output become a constant."""
        pinned = any(self.keeps(subgraph, tensor) for tensor in op.outputs)
        return not pinned and (subgraph, op.position) not in self.named

    def may_change(self, subgraph: int, op: Operator) -> bool:
        """Tell whether an operator may get other operands, or options that TFLite does not have."""
        spot = (subgraph, op.position)
        return spot not in self.named and spot not in self.foreign

    def may_join(self, subgraph: int, one: Operator, other: Operator) -> bool:
        """Tell whether two operators may become one: both may change, and the same target runs them."""
        targets = {self.targets.get((subgraph, op.position), 0) for op in (one, other)}
        return len(targets) == 1 and self.may_change(subgraph, one) and self.may_change(subgraph, other)

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
