"""Refuses models that have no C: reports all reasons at once, each with a suggested fix."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.codegen.body import Refusal, refusals
from usmp_build.codegen.flow import ports_of_calls
from usmp_build.codegen.function_names import function_names
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import NoKernel
from usmp_build.ir.graph import OperatorRef, TensorRef, operator_at
from usmp_build.ir.options import called_subgraphs
from usmp_build.ir.schedule import steps
from usmp_build.ir.storage import Kind
from usmp_build.ir.uses import called_by_main
from usmp_build.ir.variables import run_by
from usmp_build.layout import Summary
from usmp_build.operators.ways_out import way_out
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import InputOutput, Request

_LARGEST_OFFSET = (1 << 31) - 1
_PLAN_ONLY = '"usmp-build plan" shows the plan without generating C'
_USE_EXTERN = f'run it on a target with kernels = "extern", for which the application supplies them; {_PLAN_ONLY}'

_GENERATED = 'let it live in pools with owner = "generated"'


def refuse(request: Request, analysis: Analysis, summary: Summary, index: int) -> None:
    """Raise KernelError for all of model `index` that has no C.

    This concerns operators without a kernel, some control flow, constants without bytes, what only functions of
    programs may do, and pools beyond 2 GiB.
    """
    path = request.models[index].path
    problems = [*_operators(analysis, index), *constants_without_bytes(analysis, index), *refusals(analysis, index)]
    for pool in summary.pools:
        if pool.size > _LARGEST_OFFSET:
            problems.append((f'pool "{pool.name}" needs {pool.size:,} bytes; offsets in C end at 2 GiB', ""))
    if problems:
        distinct = dict.fromkeys(problems)
        raise KernelError(*(Diagnostic("P305", message, path, help_ or _PLAN_ONLY) for message, help_ in distinct))


def _operators(analysis: Analysis, index: int) -> Iterator[tuple[str, str]]:
    model = analysis.models[index]
    for subgraph in (0, *run_by(model, *model.main.operators)):
        where = f" of subgraph {subgraph}" if subgraph else ""
        for i, op in enumerate(model.subgraphs[subgraph].operators):
            kernel = analysis.kernels.get(OperatorRef(index, subgraph, i))
            if isinstance(kernel, NoKernel):
                way = way_out(op, model.subgraphs[subgraph])
                help_ = f"{way}; or {_USE_EXTERN}" if way else _USE_EXTERN
                yield f"operator {op.position} ({op.kind}){where}: {kernel.reason}", help_
            elif called_subgraphs(op.options):
                yield from _flow(analysis, OperatorRef(index, subgraph, i))


def _flow(analysis: Analysis, ref: OperatorRef) -> Iterator[tuple[str, str]]:
    op, storage = operator_at(analysis.models, ref), analysis.storage
    who = f"operator {op.position} ({op.kind})"
    if any(step.arrival for step in steps(analysis.schedule.programs[ref.model])):
        yield f"{who} runs a subgraph, but an input of the model arrives row by row", "let it arrive as a whole"
    for subgraph, tensor in ports_of_calls(analysis.models[ref.model], ref):
        if storage.tensors.get(TensorRef(ref.model, subgraph, tensor), -1) in storage.rows:
            yield f"{who} copies a tensor in banked memory", "let the tensors that it touches be in other pools"


def refuse_passed(request: Request, analysis: Analysis, plan: Plan, summary: Summary, index: int) -> None:
    """Raise KernelError for what model `index` has in pools of the application but gets no pointer to.

    This concerns buffers that functions of a program ask for, and outputs that are constants.
    """
    refusals = [*_functions(analysis, plan, summary, index)]
    if request.models[index].io is InputOutput.POOL:
        refusals += _constant_outputs(analysis, plan, summary, index)
    if refusals:
        path = request.models[index].path
        raise KernelError(*(Diagnostic(code, message, path, _GENERATED) for code, message in dict.fromkeys(refusals)))


def _functions(analysis: Analysis, plan: Plan, summary: Summary, index: int) -> Iterator[tuple[str, str]]:
    model = analysis.models[index]
    for number in function_names(model):
        graph = model.subgraphs[number]
        for tensor in range(graph.parameters, len(graph.tensors)):
            pool = _passed_pool(analysis, plan, summary, TensorRef(index, number, tensor))
            if pool:
                what = f"function {quoted(graph.name)} asks for {quoted(graph.tensors[tensor].name)}"
                yield "P351", f'{what}, which is in pool "{pool}" of the application: it gets no pointer to it'


def _constant_outputs(analysis: Analysis, plan: Plan, summary: Summary, index: int) -> Iterator[tuple[str, str]]:
    for tensor in analysis.models[index].main.outputs:
        ref = TensorRef(index, 0, tensor)
        buffer = analysis.storage.tensors.get(ref)
        if buffer is not None and analysis.storage.buffers[buffer].kind is Kind.CONSTANT:
            pool = _passed_pool(analysis, plan, summary, ref)
            if pool:
                name = analysis.models[index].main.tensors[tensor].name
                yield "P352", f'output {quoted(name)} is a constant in pool "{pool}" of the application'


def _passed_pool(analysis: Analysis, plan: Plan, summary: Summary, ref: TensorRef) -> str:
    """Return the name of the pool that a tensor is in, if it is the application's."""
    buffer = analysis.storage.tensors.get(ref)
    pool = summary.pools[plan.allocations[buffer].pool] if buffer is not None else None
    return pool.name if pool and pool.is_passed else ""


def constants_without_bytes(analysis: Analysis, index: int) -> Iterator[Refusal]:
    """Yield the constants of a model whose bytes are unknown."""
    model = analysis.models[index]
    for function in (0, *called_by_main(model)):
        graph = model.subgraphs[function]
        for number, tensor in enumerate(graph.tensors):
            if tensor.is_withheld and TensorRef(index, function, number) in analysis.storage.tensors:
                message = f"the bytes of constant {quoted(tensor.name)} of {quoted(graph.name)} are not in the file"
                yield message, 'give them as "data"'
