"""Request + Analysis + Plan → Summary (for people) and Layout (for emitters): here all names and orders are decided."""

from __future__ import annotations

from usmp_build.arrange.clashes import refuse_clashes
from usmp_build.arrange.constants import constant_groups
from usmp_build.arrange.group import group_constants
from usmp_build.arrange.model import model_code
from usmp_build.arrange.summary import summarize
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, KernelLibrary
from usmp_build.layout import Layout, Summary
from usmp_build.memory.plan import Plan
from usmp_build.request import Request

__all__ = ["arrange", "group_constants", "summarize"]


def arrange(request: Request, analysis: Analysis, plan: Plan, summary: Summary, library: KernelLibrary) -> Layout:
    """Decide on all the C of a plan.

    Raises KernelError when an operator cannot be generated, ManifestError when names clash.
    """
    prefix = request.project.lower()
    members, constants = constant_groups(analysis, plan, summary)
    models = tuple(
        (row, model_code(request, analysis, plan, summary, members, index)) for index, row in enumerate(summary.models)
    )
    refuse_clashes(summary, constants, models, request.manifest)
    chosen = [kernel for kernel in analysis.kernels.values() if isinstance(kernel, Kernel)]
    functions = sorted({call.function for kernel in chosen for call in kernel.calls})
    sources = library.sources(functions, prefix)
    return Layout(summary, constants, models, sources.header, sources.source)
