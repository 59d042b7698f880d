"""Refuses models that have no C: reports all reasons at once, each with a suggested fix."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.codegen.program_refusals import constants_without_bytes, program_refusals
from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import NoKernel
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.options import called_subgraphs
from usmp_build.layout import Summary
from usmp_build.request import Request

_LARGEST_OFFSET = (1 << 31) - 1
_PLAN_ONLY = '"usmp-build plan" shows the plan without generating C'
_CALL_ONCE = (
    "CALL_ONCE needs no C where its subgraph only assigns constants to variables, and only VAR_HANDLE and other "
    f"CALL_ONCE come before it; {_PLAN_ONLY}"
)
_USE_EXTERN = f'run it on a target with kernels = "extern", for which the application supplies them; {_PLAN_ONLY}'


def refuse(request: Request, analysis: Analysis, summary: Summary, index: int) -> None:
    """Raise KernelError for all of model `index` that has no C.

    This concerns operators without a kernel, control flow, constants without bytes, what only functions of programs
    may do, and pools beyond 2 GiB.
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
    for i, op in enumerate(analysis.models[index].main.operators):
        kernel = analysis.kernels.get(OperatorRef(index, 0, i))
        if isinstance(kernel, NoKernel):
            yield f"operator {op.position} ({op.kind}): {kernel.reason}", _USE_EXTERN
        elif called_subgraphs(op.options):
            help_ = _CALL_ONCE if op.kind == "CALL_ONCE" else ""
            yield f"operator {op.position} ({op.kind}) runs a subgraph, which has no C yet", help_
