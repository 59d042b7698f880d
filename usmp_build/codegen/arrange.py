"""Request + Analysis + Plan + Summary → Layout: decides on all of the C, its names and its order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from usmp_build.codegen.clashes import refuse_clashes
from usmp_build.codegen.constants import constant_groups, pool_bytes
from usmp_build.codegen.model import model_code
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Absent, Kernel, KernelCall, Libraries
from usmp_build.interfaces.operands import buffer_of
from usmp_build.ir.graph import OperatorRef, operator_at
from usmp_build.layout import Summary
from usmp_build.layout.layout import CachedRow, Layout
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Request


def arrange(request: Request, analysis: Analysis, plan: Plan, summary: Summary, libraries: Libraries) -> Layout:
    """Decide on all the C of a plan.

    Raises KernelError for whatever has no C: operators, statements of a program's main, constants without bytes, pools
    beyond 2 GiB (`refusals.refuse` gathers it); and for what is in pools of the application without a pointer to it
    (`refusals.refuse_passed`: P351, P352).  Raises ManifestError when names clash, in C or between libraries.
    """
    prefix = request.project.lower()
    expressions, constants = constant_groups(analysis, plan, summary)
    models = tuple(
        (row, model_code(request, analysis, plan, summary, expressions, constants, index))
        for index, row in enumerate(summary.models)
    )
    refuse_clashes(summary, constants, models, request.manifest)
    by_name = {name: library for (_, name), library in libraries.items()}
    sources = [by_name[name].sources(called, prefix) for name, called in _calls(analysis, request.manifest).items()]
    return Layout(
        summary,
        constants,
        pool_bytes=tuple(pool_bytes(analysis, plan, summary)),
        models=models,
        excluded=tuple(request.excluded(index) for index in range(len(models))),
        kernel_header=_joined(each.header for each in sources),
        kernel_source=_joined(each.source for each in sources),
        needs_math=any(each.needs_math for each in sources) or any(code.calls_math for _, code in models),
        links=tuple(each.links for each in sources if each.links),
        cached=_cached_rows(request, analysis, plan),
    )


def _calls(analysis: Analysis, manifest: str) -> dict[str, list[KernelCall]]:
    """Return the calls of each library.  Raises ManifestError when two libraries have a function of the same name."""
    owners: dict[str, str] = {}
    calls: dict[str, list[KernelCall]] = {}
    chosen = [kernel for kernel in map(analysis.kernel_of, analysis.kernels) if isinstance(kernel, Kernel)]
    for kernel in chosen:
        for call in kernel.calls:
            owner = owners.setdefault(call.function, kernel.library)
            if owner != kernel.library:
                message = f'the kernel libraries "{owner}" and "{kernel.library}" both call a function {call.function}'
                raise ManifestError(Diagnostic("P306", message, manifest, "use one of them for both"))
            calls.setdefault(owner, []).append(call)
    return dict(sorted(calls.items()))


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text)


def _cached_rows(request: Request, analysis: Analysis, plan: Plan) -> tuple[CachedRow, ...]:
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
