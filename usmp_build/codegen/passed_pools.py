"""Pools of the application: refuse what has no C because their addresses are only known when `run` is called."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.codegen.function_names import function_names
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.storage import Kind
from usmp_build.layout import Summary
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import InputOutput, Request

_GENERATED = 'let it live in pools with owner = "generated"'


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
    for number in function_names(model) if model.is_program else ():
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
