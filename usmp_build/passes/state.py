"""Tells which operators touch variables, and so depend on more than their inputs."""

from __future__ import annotations

from usmp_build.ir.graph import DType, Operator, Subgraph


def touches_state(op: Operator, graph: Subgraph) -> bool:
    """Tell whether an operator reads or writes a variable or a view of one, or takes the handle of one."""
    touched = (graph.tensors[graph.roots.get(t, t)] for t in (*op.inputs, *op.outputs) if t is not None)
    return any(tensor.is_variable or tensor.dtype is DType.RESOURCE for tensor in touched)
