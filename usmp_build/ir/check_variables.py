"""Checks variables that operators access by name: every handle leads to a variable, and types agree."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.errors import Diagnostic, one_line
from usmp_build.ir.graph import Model, Subgraph
from usmp_build.ir.labels import operator_label, tensor_label
from usmp_build.ir.variables import ASSIGN, HANDLE, READ, accesses, handles
from usmp_build.units import show_bytes

_OPERAND_COUNTS = {READ: (1, 1), ASSIGN: (2, 0)}
"""Operator kind → its number of inputs and outputs; the first input is the handle."""


def variable_faults(model: Model) -> Iterator[Diagnostic]:
    """Yield the faults of the variables of a model; indices of tensors must be valid."""
    for index, graph in enumerate(model.subgraphs):
        yield from _handle_faults(index, graph)
    kinds: dict[str, str] = {}
    for name, subgraph, position in _named(model):
        tensor = model.subgraphs[subgraph].tensors[position]
        label = tensor_label(subgraph, position, tensor.name)
        if not tensor.dtype.bits:
            message = f'{label} is {tensor.dtype.name}, but values of the variable "{one_line(name)}" need a fixed size'
            yield Diagnostic("T267", message)
        kind = f"{tensor.dtype.name} of {show_bytes(tensor.size)} bytes"
        first = kinds.setdefault(name, kind)
        if kind != first:
            yield Diagnostic("T267", f'{label} is {kind}, but elsewhere the variable "{one_line(name)}" is {first}')


def _named(model: Model) -> Iterator[tuple[str, int, int]]:
    """Yield (variable, subgraph, tensor) for all tensors that are variables, or are read from or assigned to one."""
    yield from ((access.resource, access.subgraph, access.value) for access in accesses(model))
    for index, graph in enumerate(model.subgraphs):
        yield from ((t.resource, index, position) for position, t in enumerate(graph.tensors) if t.resource)


def _handle_faults(index: int, graph: Subgraph) -> Iterator[Diagnostic]:
    """Yield faults of handles: each must go from a VAR_HANDLE directly to operators that read and assign it."""
    names_by_handle = handles(graph)
    for operator in graph.operators:
        label = operator_label(index, operator.position, operator.kind)
        if operator.kind == HANDLE and (len(operator.outputs) != 1 or operator.inputs):
            yield Diagnostic("T268", f"{label} does not make one handle of nothing")
        elif operator.kind in _OPERAND_COUNTS:
            if (len(operator.inputs), len(operator.outputs)) != _OPERAND_COUNTS[
                operator.kind
            ] or None in operator.inputs:
                yield Diagnostic("T268", f"{label} does not have a handle and a value")
            elif operator.inputs[0] not in names_by_handle and not graph.tensors[operator.inputs[0] or 0].is_variable:
                yield Diagnostic(
                    "T268", f"{label} uses a variable that no VAR_HANDLE of its subgraph names", help=_CURE
                )
            elif any(tensor in names_by_handle for tensor in (*operator.inputs[1:], *operator.outputs)):
                yield Diagnostic("T268", f"{label} uses a handle as a value")
        elif passed := sorted(names_by_handle.keys() & set(operator.inputs)):
            label = tensor_label(index, passed[0], graph.tensors[passed[0]].name)
            yield Diagnostic(
                "T268", f"{label} is the handle of a variable, and goes to {one_line(operator.kind)}", help=_CURE
            )
    for tensor in sorted(names_by_handle.keys() & {*graph.inputs, *graph.outputs}):
        label = tensor_label(index, tensor, graph.tensors[tensor].name)
        yield Diagnostic("T268", f"{label} is the handle of a variable, and leaves subgraph {index}", help=_CURE)


_CURE = "Convert the model so that every subgraph that uses a variable has a VAR_HANDLE of its own."
