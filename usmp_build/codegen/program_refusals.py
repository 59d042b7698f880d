"""Finds what has no C in a program: main may only call functions, in loops with a fixed number of rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.codegen.forms import forms
from usmp_build.document.suggest import listed, quoted
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.statements import Access, Allocate, For, Invoke, Provider, walk
from usmp_build.ir.uses import Uses, called_by_main, uses

Refusal = tuple[str, str]
"""What has no C, and the suggested fix."""

_MOVE = "move it into a function of the program that main calls: the application supplies the functions"


def program_refusals(analysis: Analysis, index: int) -> Iterator[Refusal]:
    """Yield all that has no C."""
    model = analysis.models[index]
    yield from _statements(model)
    yield from _ports(model)
    yield from _mixed(analysis, index)


def _statements(model: Model) -> Iterator[Refusal]:
    uses_by_function = uses(model)
    for statement in walk(model.main.body):
        match statement:
            case Access(reads, writes):
                names = listed(model.main.tensors[t].name for t in dict.fromkeys((*writes, *reads)))
                yield f"main has a statement of its own: {_statement(statement)} {names}", _MOVE
            case For(kind, extent):
                if kind.is_parallel:
                    yield f"main has a loop that runs in parallel ({kind.value})", f'make it "serial", or {_MOVE}'
                elif extent is None:
                    yield "main has a loop whose number of rounds is unknown before it runs", _MOVE
            case Allocate(tensor, _, provider) if provider is not Provider.PLAN:
                yield f"main has an allocation that is not planned: {quoted(model.main.tensors[tensor].name)}", _MOVE
            case Invoke():
                yield from _constant_arguments(model, statement, uses_by_function)


def _statement(access: Access) -> str:
    """Return what messages call a statement: a verb, or a function from outside the program."""
    return "store to" if access.name == "store" else quoted(access.name)[1:-1]


def _constant_arguments(model: Model, call: Invoke, uses_by_function: Mapping[int, Uses]) -> Iterator[Refusal]:
    written = (a for parameter, a in enumerate(call.arguments) if parameter in uses_by_function[call.function].written)
    for argument in written:
        if argument is not None and model.main.tensors[argument].is_constant:
            callee, constant = model.subgraphs[call.function], model.main.tensors[argument]
            help_ = 'declare what external functions do ("reads", "writes"), or pass a copy of the constant'
            yield f"main calls {quoted(callee.name)} with constant {quoted(constant.name)}, which it writes to", help_


def _ports(model: Model) -> Iterator[Refusal]:
    for port in (*model.main.inputs, *model.main.outputs):
        tensor = model.main.tensors[port]
        if not tensor.dtype.bits:
            message = f"parameter {quoted(tensor.name)} of main has no type"
            yield message, "give it a dtype and extents: the application must know the size of its array"


def constants_without_bytes(analysis: Analysis, index: int) -> Iterator[Refusal]:
    """Yield the constants of a model whose bytes are unknown."""
    model = analysis.models[index]
    for function in (0, *called_by_main(model)):
        graph = model.subgraphs[function]
        for number, tensor in enumerate(graph.tensors):
            if tensor.is_withheld and TensorRef(index, function, number) in analysis.storage.tensors:
                message = f"the bytes of constant {quoted(tensor.name)} of {quoted(graph.name)} are not in the file"
                yield message, 'give them as "data"'


def _mixed(analysis: Analysis, index: int) -> Iterator[Refusal]:
    model = analysis.models[index]
    for (function, tensor), tensor_forms in sorted(forms(analysis, index).items()):
        if True in tensor_forms and model.subgraphs[function].code is not None:
            name = quoted(model.subgraphs[function].tensors[tensor].name)
            message = f"{name} of {quoted(model.subgraphs[function].name)} is in banked memory, but its C takes plain"
            yield f"{message} memory", "let the model use other workspace_pools"
        if len(tensor_forms) > 1:
            graph = model.subgraphs[function]
            message = f"parameter {quoted(graph.tensors[tensor].name)} of {quoted(graph.name)} is in banked memory in"
            help_ = "let all that it is called with live in pools of one kind"
            yield f"{message} one call, and in plain memory in another", help_
