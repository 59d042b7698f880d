"""Variables that operators access by name: VAR_HANDLE finds one, READ_VARIABLE and ASSIGN_VARIABLE copy its bytes.

The name consists of container and shared name: all handles of a model with the same name are the same variable, in any
subgraph.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.options import VarHandle, called_subgraphs

HANDLE, READ, ASSIGN = "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"


class VariableAccess(NamedTuple):
    """A tensor that a variable is read into, or assigned from."""

    resource: str
    subgraph: int
    value: int
    """Index of the tensor."""
    is_assigned: bool


def resource_of(operator: Operator) -> str:
    """Return the name of the variable that a VAR_HANDLE finds."""
    named = operator.options if isinstance(operator.options, VarHandle) else VarHandle()
    return f"{named.container}/{named.shared_name}"


def handles(graph: Subgraph) -> dict[int, str]:
    """Return the handles of a subgraph: tensor index → name of the variable."""
    return {output: resource_of(op) for op in graph.operators if op.kind == HANDLE for output in op.outputs}


def accesses(model: Model) -> Iterator[VariableAccess]:
    """Yield all tensors that variables are read into or assigned from, in the order of the model."""
    for index, graph in enumerate(model.subgraphs):
        names_by_handle = handles(graph)
        for op in graph.operators:
            handle = op.inputs[0] if op.inputs else None
            if op.kind in (READ, ASSIGN) and handle in names_by_handle:
                value = op.outputs[0] if op.kind == READ else op.inputs[1]
                if value is not None:
                    yield VariableAccess(names_by_handle[handle], index, value, op.kind == ASSIGN)


def run_by(model: Model, *operators: Operator) -> list[int]:
    """Return the subgraphs that operators call, and what these call."""
    subgraphs: list[int] = []
    waiting = list(operators)
    for op in waiting:
        new = [callee for callee in called_subgraphs(op.options) if callee not in subgraphs]
        subgraphs += new
        waiting += (inner for callee in new for inner in model.subgraphs[callee].operators)
    return subgraphs


def unassigned(model: Model) -> list[str]:
    """Return the variables that are read, and that nothing which runs assigns: their values are not in the model."""
    running = {0, *run_by(model, *model.subgraphs[0].operators)}
    names: dict[bool, dict[str, None]] = {False: {}, True: {}}
    for access in accesses(model):
        if access.subgraph in running:
            names[access.is_assigned][access.resource] = None
    return [name for name in names[False] if name not in names[True]]
