"""Turns variables that operators access by name into tensors that keep their value between runs.

    %2 "average" resource[]                       %2 "average" float32[1,8] variable resource="/average" = zeros
    %2 = VAR_HANDLE() shared_name="average"
    %3 = READ_VARIABLE(%2)                   →    %3 = READ_VARIABLE(%2)
    _ = ASSIGN_VARIABLE(%2, %7)                   _ = ASSIGN_VARIABLE(%2, %7)

The handle itself becomes the variable: rules of the manifest that name the handle then apply to its bytes.  Type and
quantization are those of the tensors that it is read into and assigned from.  A CALL_ONCE whose subgraph only assigns
constants is removed: these are the initial values of the variables.

Operators that remember something of their own get a variable for it, as their last input.  Any other CALL_ONCE is one:
its variable tells whether it has run.

    _ = CALL_ONCE() subgraph=1   →   _ = CALL_ONCE(%9) subgraph=1

A CIRCULAR_BUFFER remembers its output, which becomes an input that it updates.

    %2 = "CUSTOM:CIRCULAR_BUFFER"(%1)   →   _ = "CUSTOM:CIRCULAR_BUFFER"(%1, %2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.ir.options import Call, called_subgraphs
from usmp_build.ir.variables import ASSIGN, HANDLE, READ, accesses, handles
from usmp_build.operators.circular_buffer import updating
from usmp_build.operators.signal import remembered
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_ONCE = "CALL_ONCE"


def variables(model: Model, pins: Pins = NO_PINS) -> Model:
    """Replace the handles of all variables by tensors with their bytes; give operators variables of their own."""
    named = _named(model) if any(op.kind == HANDLE for graph in model.subgraphs for op in graph.operators) else model
    subgraphs = (_with_own(graph, index, pins) for index, graph in enumerate(named.subgraphs))
    return replace(named, subgraphs=tuple(subgraphs))


def _named(model: Model) -> Model:
    initial, folded = _initialized(model)
    values = _values(model, initial)
    subgraphs = [_in_subgraph(graph, values) for graph in model.subgraphs]
    main = tuple(op for op in subgraphs[0].operators if op.position not in folded)
    subgraphs[0] = replace(subgraphs[0], operators=main)
    for index in _called(model.subgraphs) - _called(subgraphs):
        subgraphs[index] = replace(subgraphs[index], inputs=(), outputs=(), operators=())
    return replace(model, subgraphs=tuple(subgraphs))


def _with_own(graph: Subgraph, index: int, pins: Pins) -> Subgraph:
    """Give operators that remember something a variable for it, except those that another library runs."""
    tensors, operators = list(graph.tensors), list(graph.operators)
    for place, op in enumerate(operators):
        is_foreign = (index, op.position) in pins.foreign
        operators[place], own = (op, None) if is_foreign else updating(op, graph, len(tensors))
        if own is None and (own := _own(op, graph, is_foreign)) is not None:
            operators[place] = replace(op, inputs=(*op.inputs, len(tensors)))
        if own is not None:
            tensors.append(own)
    if tuple(operators) == graph.operators:
        return graph
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))


def _own(op: Operator, graph: Subgraph, is_foreign: bool) -> Tensor | None:
    """Return what an operator remembers; a CALL_ONCE 0 until it has run.  None: nothing, or an input already."""
    if any(graph.tensors[tensor].is_variable for tensor in op.inputs if tensor is not None):
        return None
    if op.kind == _ONCE:
        return Tensor(f"call_once_{op.position}_has_run", (1,), DType.BOOL, is_variable=True)
    return None if is_foreign else remembered(op, graph)


def _called(subgraphs: Sequence[Subgraph]) -> set[int]:
    return {index for graph in subgraphs for op in graph.operators for index in called_subgraphs(op.options)}


def _initialized(model: Model) -> tuple[Mapping[str, bytes], set[int]]:
    """Return initial values of variables, and the positions of the CALL_ONCE operators that only assign these.

    They must come before all reads and assignments: then it makes no difference when they run.
    """
    initial: dict[str, bytes] = {}
    folded: set[int] = set()
    for op in model.main.operators:
        if op.kind == HANDLE:
            continue
        assigned = _assigned(model.subgraphs[op.options.subgraph]) if isinstance(op.options, Call) else None
        if op.kind != _ONCE or assigned is None:
            break
        initial |= assigned
        folded.add(op.position)
    return initial, folded


def _assigned(graph: Subgraph) -> dict[str, bytes] | None:
    """Return the constants that a subgraph assigns to variables; None if it does anything else."""
    names = handles(graph)
    values: dict[str, bytes] = {}
    for op in graph.operators:
        if op.kind == HANDLE:
            continue
        handle, value = op.inputs if op.kind == ASSIGN else (None, None)
        data = graph.tensors[value].data if value is not None else None
        if handle not in names or data is None:
            return None
        values[names[handle]] = data
    return values


def _values(model: Model, initial: Mapping[str, bytes]) -> dict[str, Tensor]:
    """Return each variable as a tensor; its name is set later.

    As in TensorFlow Lite Micro, its type is that of the first tensor that it is assigned from.
    """
    tensors: dict[str, tuple[bool, Tensor]] = {}
    for access in accesses(model):
        tensor = model.subgraphs[access.subgraph].tensors[access.value]
        previous = tensors.get(access.resource)
        if previous is None or (access.is_assigned and not previous[0]):
            tensors[access.resource] = (access.is_assigned, tensor)
    return {
        name: replace(tensor, data=None, is_variable=True, resource=name, initial=initial.get(name))
        for name, (_, tensor) in tensors.items()
    }


def _in_subgraph(graph: Subgraph, values: Mapping[str, Tensor]) -> Subgraph:
    """Replace handles by variables; all handles of one variable become the first of them."""
    tensors = list(graph.tensors)
    firsts: dict[str, int] = {}
    moved: dict[int, int] = {}
    for handle, name in handles(graph).items():
        moved[handle] = firsts.setdefault(name, handle)
        if name in values and moved[handle] == handle:
            handle_tensor = graph.tensors[handle]
            tensors[handle] = replace(
                values[name], name=handle_tensor.name, axis_separators=handle_tensor.axis_separators
            )
    operators = tuple(_moved(op, moved) for op in graph.operators if op.kind != HANDLE)
    return replace(graph, tensors=tuple(tensors), operators=operators)


def _moved(op: Operator, moved: Mapping[int, int]) -> Operator:
    if op.kind not in (READ, ASSIGN) or op.inputs[0] is None:
        return op
    return replace(op, inputs=(moved.get(op.inputs[0], op.inputs[0]), *op.inputs[1:]))
