"""What has no C: everything at once, each with the way out."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.arrange.program_refusals import program_refusals, withheld
from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.ir.options import called_subgraphs
from usmp_build.ir.storage import Kind
from usmp_build.layout import Summary
from usmp_build.request import Request

_LARGEST_OFFSET = (1 << 31) - 1
_PLAN_ONLY = '"usmp-build plan" shows the plan without generating C'
_WAYS_OUT = f'run it on a target with kernels = "extern", for which the application supplies them; {_PLAN_ONLY}'


def refuse(request: Request, analysis: Analysis, summary: Summary, index: int) -> None:
    """Raise KernelError for what of model `index` has no C.

    That are operators without a kernel, control flow, variables, constants without bytes, what only functions of
    programs may do, and pools beyond 2 GiB.
    """
    model, path = analysis.models[index], request.models[index].path
    problems = [*_operators(analysis, index), *withheld(analysis, index)]
    if model.is_program:
        problems += program_refusals(analysis, index)
    for pool in summary.pools:
        if pool.size > _LARGEST_OFFSET:
            problems.append((f'pool "{pool.name}" needs {pool.size:,} bytes; offsets in C end at 2 GiB', ""))
    if problems:
        said = dict.fromkeys(problems)
        raise KernelError(*(Diagnostic("P305", message, path, hint or _PLAN_ONLY) for message, hint in said))


def _operators(analysis: Analysis, index: int) -> Iterator[tuple[str, str]]:
    for i, op in enumerate(analysis.models[index].main.operators):
        kernel = analysis.kernels.get(OperatorRef(index, 0, i))
        if isinstance(kernel, NoKernel):
            yield f"operator {op.position} ({op.kind}): {kernel.reason}", _WAYS_OUT
        elif called_subgraphs(op.options):
            yield f"operator {op.position} ({op.kind}) runs a subgraph, which has no C yet", ""
        elif isinstance(kernel, Kernel) and _touches_variable(analysis, index, i):
            yield f"operator {op.position} ({op.kind}) keeps state between runs, which has no C yet", ""


def _touches_variable(analysis: Analysis, model: int, operator: int) -> bool:
    op = analysis.models[model].main.operators[operator]
    buffers = (analysis.storage.tensors.get(TensorRef(model, 0, t)) for t in (*op.inputs, *op.outputs) if t is not None)
    return any(b is not None and analysis.storage.buffers[b].kind is Kind.VARIABLE for b in buffers)
