"""Checks calls between subgraphs: no recursion, bounded depth and steps, and arguments that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from usmp_build.errors import Diagnostic
from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.ir.labels import operator_label
from usmp_build.ir.options import Call, If, While, called_subgraphs
from usmp_build.ir.statements import Access, walk
from usmp_build.ir.uses import calls_of

MAX_DEPTH = 64
"""Deepest nesting of subgraph calls."""
MAX_STEPS = 1 << 20
"""Most operators of a subgraph, including those of called subgraphs once for each call."""

_CALLING = {"IF": If, "WHILE": While, "CALL": Call, "CALL_ONCE": Call}


def call_faults(model: Model) -> Iterator[Diagnostic]:
    """Yield the faults of operators that call subgraphs; indices of tensors must be valid."""
    for index, subgraph in enumerate(model.subgraphs):
        for position, operator in enumerate(subgraph.operators):
            if operator.kind in _CALLING:
                for code, message in _operator_faults(model, subgraph, operator):
                    yield Diagnostic(code, f"{operator_label(index, position, operator.kind)}: {message}")
    yield from _nesting_faults(model)


def _operator_faults(model: Model, caller: Subgraph, operator: Operator) -> Iterator[tuple[str, str]]:
    if not isinstance(operator.options, _CALLING[operator.kind]):
        yield "T240", "it does not say which subgraph to run"
    for index in called_subgraphs(operator.options):
        if not 0 <= index < len(model.subgraphs):
            yield "T241", f"it runs subgraph {index}, but the model has {len(model.subgraphs)}"
    for message in _argument_faults(model, caller, operator):
        yield "T242", message


def _argument_faults(model: Model, caller: Subgraph, operator: Operator) -> Iterator[str]:
    inputs = [None if t is None else caller.tensors[t] for t in operator.inputs]
    outputs = [caller.tensors[t] for t in operator.outputs]
    match operator.options:
        case If():
            yield from _unlike("what it decides by", [_FLAG], inputs[:1])
            for arm in called_subgraphs(operator.options):
                yield from _call_faults(model, arm, inputs[1:], outputs)
        case While(cond_subgraph=test, body_subgraph=body):
            yield from _call_faults(model, test, inputs, [_FLAG])
            yield from _call_faults(model, body, inputs, outputs)
            yield from _unlike("what it carries around", outputs, inputs)
        case Call(subgraph=callee):
            has_flag = operator.kind == "CALL_ONCE" and [each and each.is_variable for each in inputs] == [True]
            yield from _call_faults(model, callee, [] if has_flag else inputs, outputs)


_FLAG = Tensor("", (), DType.BOOL)


def _call_faults(
    model: Model, index: int, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]
) -> Iterator[str]:
    callee = model.subgraphs[index]
    yield from _unlike(f"input of subgraph {index}", [callee.tensors[t] for t in callee.inputs], inputs)
    yield from _unlike(f"output of subgraph {index}", [callee.tensors[t] for t in callee.outputs], outputs)


def _unlike(what: str, inside: Sequence[Tensor], outside: Sequence[Tensor | None]) -> Iterator[str]:
    """Yield differences in type and size: shapes may differ if they have the same bytes."""
    if len(inside) != len(outside):
        yield f"{what}: there are {len(inside)} of them, but the operator has {len(outside)}"
    for position, (ours, theirs) in enumerate(zip(inside, outside, strict=False)):
        if theirs is None:
            yield f"{what}: number {position} is left out"
        elif ours.dtype != theirs.dtype or (ours.dtype.bits and ours.size != theirs.size):
            yield f"{what}: number {position} is {_kind(ours)}, but the operator has {_kind(theirs)}"


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype.name} {list(tensor.shape)}"


def _nesting_faults(model: Model) -> Iterator[Diagnostic]:
    calls = [
        [*(index for op in subgraph.operators for index in called_subgraphs(op.options)), *calls_of(subgraph)]
        for subgraph in model.subgraphs
    ]
    try:
        callees_first = list(TopologicalSorter(dict(enumerate(calls))).static_order())
    except CycleError as error:
        callee, caller, *_ = error.args[1]
        yield Diagnostic("T243", f"subgraph {caller} runs subgraph {callee}, which leads back to subgraph {caller}")
        return
    depth, steps = [0] * len(calls), [0] * len(calls)
    for index in callees_first:
        depth[index] = 1 + max((depth[callee] for callee in calls[index]), default=0)
        own = [*model.subgraphs[index].operators, *walk(model.subgraphs[index].body)]
        steps[index] = sum(isinstance(each, Operator | Access) for each in own)
        steps[index] += sum(steps[callee] for callee in calls[index])
        if depth[index] > MAX_DEPTH:
            message = f"subgraph {index} runs nested subgraphs, {depth[index]} deep"
            yield Diagnostic("T244", f"{message}; at most {MAX_DEPTH} are supported")
        if steps[index] > MAX_STEPS:
            message = f"subgraph {index} takes {steps[index]:,} steps, with all that it runs"
            yield Diagnostic("T245", f"{message}; at most {MAX_STEPS:,} are supported")
