"""Lists the functions of the application whose arguments may be in cached memory."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Absent, Kernel, KernelCall
from usmp_build.interfaces.operands import buffer_of
from usmp_build.ir.graph import OperatorRef, operator_at
from usmp_build.layout.layout import CachedRow
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Request


def cached_rows(request: Request, analysis: Analysis, plan: Plan) -> tuple[CachedRow, ...]:
    """Return every such function by name, with those arguments that some call of it gets in cached memory."""
    functions: dict[str, dict[str, None]] = {}
    for ref in analysis.kernels:
        kernel = analysis.kernel_of(ref)
        for call in kernel.calls if isinstance(kernel, Kernel) else ():
            arguments = dict.fromkeys(_arguments(request, analysis, plan, ref, call))
            if arguments:
                functions.setdefault(call.function, {}).update(arguments)
    prefix = request.project.lower()
    return tuple(CachedRow(f"{prefix}_{name}", tuple(functions[name])) for name in sorted(functions))


def _arguments(request: Request, analysis: Analysis, plan: Plan, ref: OperatorRef, call: KernelCall) -> Iterator[str]:
    """Yield the arguments in cached memory of a function that the first target does not run."""
    if call.prototype is None or ref not in analysis.storage.transfers:
        return
    op = operator_at(analysis.models, ref)
    for operand, declaration in zip(call.operands, call.prototype.arguments, strict=True):
        buffer = None if isinstance(operand, Absent) else buffer_of(operand, ref, op, analysis.storage)
        if buffer is None or not analysis.storage.buffers[buffer].cache_line:
            continue
        if request.pools[plan.allocations[buffer].pool].cache_line:
            yield declaration
