"""Which operators touch state."""

from __future__ import annotations

from usmp_build.ir.graph import DType, Operator, Subgraph


def touches_state(op: Operator, graph: Subgraph) -> bool:
    """Tell whether an operator reads or writes a variable, or what shows one, or takes a handle of one."""
    touched = (graph.tensors[graph.roots.get(t, t)] for t in (*op.inputs, *op.outputs) if t is not None)
    return any(tensor.is_variable or tensor.dtype is DType.RESOURCE for tensor in touched)
