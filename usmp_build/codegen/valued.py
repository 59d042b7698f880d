"""Determines which tensors have their value after each operator, for the hook to show them."""

from __future__ import annotations

from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Operator, Subgraph


class Valued:
    """Follows the operators of a subgraph as they run; tensors that share bytes have their value after the last."""

    def __init__(self, graph: Subgraph) -> None:
        self._sharing = [op for op in graph.operators if not op.runs]
        self._valued = {t for t, tensor in enumerate(graph.tensors) if tensor.is_constant or tensor.is_variable}
        self._valued.update(graph.inputs)
        self._readers: dict[int, list[Operator]] = {}
        for op in self._sharing:
            for tensor in op.inputs:
                if tensor is not None:
                    self._readers.setdefault(tensor, []).append(op)

    def at_first(self) -> list[int]:
        """Return the tensors that share bytes with inputs alone."""
        return self._followers(sorted(self._valued))

    def after(self, kernel: Kernel, op: Operator) -> list[int]:
        """Return the outputs of an operator, the variables it changed, and the tensors that share bytes with these."""
        changed = (op.inputs[position] for position in sorted(kernel.updates))
        tensors = [*op.outputs, *(tensor for tensor in changed if tensor is not None)]
        self._valued.update(tensors)
        return [*tensors, *self._followers(tensors)]

    def _followers(self, tensors: list[int]) -> list[int]:
        """Return the tensors that have their value now that `tensors` have theirs."""
        followers: list[int] = []
        for tensor in tensors:
            followers += self._outputs(tensor)
        for tensor in followers:
            followers += self._outputs(tensor)
        return followers

    def _outputs(self, tensor: int) -> list[int]:
        outputs: list[int] = []
        for op in self._readers.get(tensor, ()):
            if self._valued.issuperset(t for t in op.inputs if t is not None):
                outputs += (t for t in op.outputs if t not in self._valued)
                self._valued.update(op.outputs)
        return outputs
