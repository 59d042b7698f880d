"""Names the tensors and operators of a subgraph in messages and reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.labels import operator_label, short_label, tensor_label
from usmp_build.passes.assign import CALLER, Assignment
from usmp_build.request import Request


@frozen
class GraphNames:
    """Names in one subgraph; `place` is (model, subgraph)."""

    request: Request
    assignment: Assignment
    place: tuple[int, int]
    graph: Subgraph

    def tensor(self, tensor: int) -> str:
        """'tensor 3 "conv/Relu"'."""
        return tensor_label(self.place[1], tensor, self.graph.tensors[tensor].name)

    def operator(self, op: Operator) -> str:
        """'operator 3 (CONV_2D) on target "npu"'."""
        return f'{operator_label(self.place[1], op.position, op.kind)} on target "{self._target(op)}"'

    def short(self, op: Operator) -> str:
        """'CONV_2D 3 on npu'."""
        return f"{op.kind} {op.position} on {self._target(op)}"

    def reader(self, reader: int | None, position: int) -> str:
        """'input 0 of operator 3 (CONV_2D) on target "npu"'."""
        if reader is None:
            return f"output {position} of the model"
        return f"input {position} of {self.operator(self.graph.operators[reader])}"

    def _target(self, op: Operator) -> str:
        return self.request.targets[self.assignment.target_of(self.place, op)].name


def elsewhere(request: Request, graph: Subgraph, tensor: int, pools: Iterable[int]) -> Tensor:
    """Return a tensor for the same values in other pools; its name says in which."""
    original = graph.tensors[tensor]
    where = "_".join(request.pools[pool].name for pool in sorted(pools) if pool != CALLER)
    return replace(original, name=f"{short_label(original.name, tensor)}.in_{where}", data=None, is_variable=False)
