"""Tells rewrites which operators and tensors they must not change: those that the manifest names, and variables.

An operator that reads or writes a variable stays unchanged and in its place: the value of a variable depends on the
order of accesses, and on the previous run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Model, Operator
from usmp_build.passes.state import touches_state


@frozen
class Pins:
    """The pins of one model; operators are keyed by (subgraph, position), tensors by (subgraph, index)."""

    named: frozenset[tuple[int, int]] = frozenset()
    """Operators that must stay."""
    targets: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """Target of an operator, by default 0."""
    tensors: Mapping[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    """The pools that a tensor is pinned to."""
    separated: frozenset[tuple[int, int]] = frozenset()
    """Tensors whose axes a rule separates."""
    foreign: frozenset[tuple[int, int]] = frozenset()
    """Operators with another library than "reference", which may only know kinds and options of TFLite."""
    as_stored: frozenset[tuple[int, int]] = frozenset()
    """Operators with a library that may have kernels of uint8: those of applications, and plug-ins."""
    may_cost: bool = True
    """Whether a rewrite may make an operator run more instructions to save memory."""
    stateful: frozenset[tuple[int, int]] = frozenset()
    """Operators that touch variables."""

    def of(self, model: Model) -> Pins:
        """Return the same pins with the operators of `model` that touch variables."""
        operators = ((s, op, graph) for s, graph in enumerate(model.subgraphs) for op in graph.operators)
        return replace(
            self, stateful=frozenset((s, op.position) for s, op, graph in operators if touches_state(op, graph))
        )

    def keeps(self, subgraph: int, tensor: int) -> bool:
        """Tell whether the manifest names a tensor: it must exist, with its own shape."""
        return (subgraph, tensor) in self.tensors or (subgraph, tensor) in self.separated

    def may_fold(self, subgraph: int, op: Operator) -> bool:
        """Tell whether an operator may be evaluated now, so that its output becomes a constant."""
        pinned, spot = any(self.keeps(subgraph, tensor) for tensor in op.outputs), (subgraph, op.position)
        return not pinned and spot not in self.named and spot not in self.stateful

    def is_free(self, subgraph: int, op: Operator) -> bool:
        """Tell whether the manifest allows an operator to be replaced or removed."""
        spot = (subgraph, op.position)
        return spot not in self.named and spot not in self.foreign

    def may_change(self, subgraph: int, op: Operator) -> bool:
        """Tell whether an operator may get other operands, or options that TFLite lacks."""
        return self.is_free(subgraph, op) and (subgraph, op.position) not in self.stateful

    def may_join(self, subgraph: int, one: Operator, other: Operator) -> bool:
        """Tell whether two operators may be fused: both may change, and the same target runs them."""
        targets = {self.targets.get((subgraph, op.position), 0) for op in (one, other)}
        return len(targets) == 1 and self.may_change(subgraph, one) and self.may_change(subgraph, other)

    def may_view(self, subgraph: int, op: Operator, producer: Operator | None) -> bool:
        """Tell whether `op` may become a view of the output of `producer` (None: not computed).

        An operator on another target than its producer's computes a value of its own.
        """
        spot = (subgraph, op.position)
        if spot in self.named or spot in self.stateful:
            return False
        source = self.targets.get((subgraph, producer.position), 0) if producer else 0
        return self.targets.get(spot, source) == source


NO_PINS = Pins()
