"""Refuses models that have no C: reports all reasons at once, each with a suggested fix."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.codegen.flow import ports_of_calls, reached
from usmp_build.codegen.program_refusals import constants_without_bytes, program_refusals
from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import NoKernel
from usmp_build.ir.graph import OperatorRef, TensorRef, operator_at
from usmp_build.ir.options import called_subgraphs
from usmp_build.ir.schedule import steps
from usmp_build.layout import Summary
from usmp_build.operators.ways_out import way_out
from usmp_build.request import Request

_LARGEST_OFFSET = (1 << 31) - 1
_PLAN_ONLY = '"usmp-build plan" shows the plan without generating C'
_USE_EXTERN = f'run it on a target with kernels = "extern", for which the application supplies them; {_PLAN_ONLY}'


def refuse(request: Request, analysis: Analysis, summary: Summary, index: int) -> None:
    """Raise KernelError for all of model `index` that has no C.

    This concerns operators without a kernel, some control flow, constants without bytes, what only functions of
    programs may do, and pools beyond 2 GiB.
    """
    model, path = analysis.models[index], request.models[index].path
    problems = [*_operators(analysis, index), *constants_without_bytes(analysis, index)]
    if model.is_program:
        problems += program_refusals(analysis, index)
    for pool in summary.pools:
        if pool.size > _LARGEST_OFFSET:
            problems.append((f'pool "{pool.name}" needs {pool.size:,} bytes; offsets in C end at 2 GiB', ""))
    if problems:
        distinct = dict.fromkeys(problems)
        raise KernelError(*(Diagnostic("P305", message, path, help_ or _PLAN_ONLY) for message, help_ in distinct))


def _operators(analysis: Analysis, index: int) -> Iterator[tuple[str, str]]:
    model = analysis.models[index]
    for subgraph in reached(model):
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
    """Yield what control flow has no C for."""
    op, storage = operator_at(analysis.models, ref), analysis.storage
    who = f"operator {op.position} ({op.kind})"
    if any(step.arrival for step in steps(analysis.schedule.programs[ref.model])):
        yield f"{who} runs a subgraph, but an input of the model arrives row by row", "let it arrive as a whole"
    for subgraph, tensor in ports_of_calls(analysis.models[ref.model], ref):
        if storage.tensors.get(TensorRef(ref.model, subgraph, tensor), -1) in storage.rows:
            yield f"{who} copies a tensor in banked memory", "let the tensors that it touches be in other pools"
