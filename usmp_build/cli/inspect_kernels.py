"""`inspect kernels`: the C functions that run each operator, and what keeps faster ones away."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.cli.table import columns
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import OperatorRef, operator_at
from usmp_build.report.operator_support import form_of, functions_of
from usmp_build.request import Request


def kernel_lines(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each operator that runs: its library, its functions, and why not by faster ones."""
    rows = [(*_operator(analysis, ref), *_shown(kernel)) for ref, kernel in analysis.kernels.items()]
    yield from columns(("model", "operator", "library", "form", "functions", ""), rows, "<<<<<<")


def kernel_records(analysis: Analysis) -> list[dict[str, object]]:
    """Return the same for programs."""
    return [
        {
            "model": analysis.models[ref.model].name,
            "subgraph": ref.subgraph,
            "operator": operator_at(analysis.models, ref).position,
            "kind": operator_at(analysis.models, ref).kind,
            "library": kernel.library if isinstance(kernel, Kernel) else None,
            "functions": functions_of(kernel),
            "declined": kernel.declined if isinstance(kernel, Kernel) else (),
            "without_kernel": kernel.reason if isinstance(kernel, NoKernel) else None,
        }
        for ref, kernel in analysis.kernels.items()
    ]


def _operator(analysis: Analysis, ref: OperatorRef) -> tuple[str, str]:
    operator = operator_at(analysis.models, ref)
    subgraph = f"{ref.subgraph}:" if ref.subgraph else ""
    return analysis.models[ref.model].name, f"{operator.kind} {subgraph}{operator.position}"


def _shown(kernel: Kernel | NoKernel) -> tuple[str, str, str, str]:
    """Return library, form and functions, and what is to be said about them."""
    if isinstance(kernel, NoKernel):
        return "-", "-", "-", f"no kernel: {kernel.reason}"
    remark = "; ".join(f"not {reason}" for reason in kernel.declined)
    return kernel.library, form_of(kernel), " ".join(functions_of(kernel)), remark
