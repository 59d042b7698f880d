"""What rewrites must respect: what the manifest says of a model, its operators and its tensors, and variables.

An operator that reads or writes a variable stays as it is and where it is: what a variable holds depends on when it is
read and written, and on what the run before left in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from usmp_build.ir.graph import Model, Operator
from usmp_build.passes.state import touches_state


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
    stateful: frozenset[tuple[int, int]] = frozenset()
    """Operators that touch variables."""

    def of(self, model: Model) -> Pins:
        """Return the same with the operators of `model` that touch variables."""
        every = ((s, op, graph) for s, graph in enumerate(model.subgraphs) for op in graph.operators)
        return replace(self, stateful=frozenset((s, op.position) for s, op, graph in every if touches_state(op, graph)))

    def keeps(self, subgraph: int, tensor: int) -> bool:
        """Tell whether the manifest speaks of a tensor: its bytes must be there, and in its own shape."""
        return (subgraph, tensor) in self.tensors or (subgraph, tensor) in self.separated

    def may_fold(self, subgraph: int, op: Operator) -> bool:
        """Tell whether an operator may be computed now, and its output become a constant."""
        pinned, spot = any(self.keeps(subgraph, tensor) for tensor in op.outputs), (subgraph, op.position)
        return not pinned and spot not in self.named and spot not in self.stateful

    def is_free(self, subgraph: int, op: Operator) -> bool:
        """Tell whether the manifest lets an operator be another one, or be there no longer."""
        spot = (subgraph, op.position)
        return spot not in self.named and spot not in self.foreign

    def may_change(self, subgraph: int, op: Operator) -> bool:
        """Tell whether an operator may get other operands, or options that TFLite does not have."""
        return self.is_free(subgraph, op) and (subgraph, op.position) not in self.stateful

    def may_join(self, subgraph: int, one: Operator, other: Operator) -> bool:
        """Tell whether two operators may become one: both may change, and the same target runs them."""
        targets = {self.targets.get((subgraph, op.position), 0) for op in (one, other)}
        return len(targets) == 1 and self.may_change(subgraph, one) and self.may_change(subgraph, other)

    def may_view(self, subgraph: int, op: Operator, producer: Operator | None) -> bool:
        """Tell whether `op` may become a view of what `producer` wrote (None: nobody did).

        A target that was asked to make a value of its own, of one that another target wrote, makes it.
        """
        spot = (subgraph, op.position)
        if spot in self.named or spot in self.stateful:
            return False
        source = self.targets.get((subgraph, producer.position), 0) if producer else 0
        return self.targets.get(spot, source) == source


NO_PINS = Pins()
