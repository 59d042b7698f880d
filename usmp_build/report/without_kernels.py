"""Says of which operators of a plan there is no C: how many, why, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import NoKernel
from usmp_build.ir.graph import operator_at
from usmp_build.operators.ways_out import way_out
from usmp_build.request import Request

_SHOWN = 5
"""Most operators named for each reason."""
_EXTERN = 'run them on a target with kernels = "extern" (docs/targets.md)'


class _Cause(NamedTuple):
    """Why operators have no kernel."""

    reason: str
    way_out: str
    """How to convert the model; empty where that does not help."""


def lines_without_kernels(request: Request, analysis: Analysis) -> Iterator[str]:
    """Yield what to say, for each model that has operators without a kernel."""
    for index, model in enumerate(request.models):
        causes, total = _causes(analysis, index)
        if not causes:
            continue
        count = sum(map(len, causes.values()))
        share = f"{count:,} of {total:,} operators have no kernel"
        yield f'warning: no C can be generated for model "{model.name}": {share}'
        yield from (f"  {_named(operators)}: {cause.reason}" for cause, operators in causes.items())
        yield from (f"  {way}" for way in dict.fromkeys(cause.way_out or _EXTERN for cause in causes))


def refuse_without_kernels(request: Request, analysis: Analysis) -> None:
    """Raise KernelError for a model of which nothing runs, and which can be converted so that it does.

    Operators that the application might supply are no fault.
    """
    for index, model in enumerate(request.models):
        causes, total = _causes(analysis, index)
        if causes and sum(map(len, causes.values())) == total and all(cause.way_out for cause in causes):
            reasons = "; ".join(f"{_named(operators)}: {cause.reason}" for cause, operators in causes.items())
            help_ = "; ".join(dict.fromkeys(cause.way_out for cause in causes))
            message = f'no operator of model "{model.name}" runs here: {reasons}'
            raise KernelError(Diagnostic("P382", message, model.path, help_))


def _causes(analysis: Analysis, index: int) -> tuple[dict[_Cause, list[str]], int]:
    """Return the operators without a kernel, by cause, and how many operators run, with them."""
    running = [ref for ref in analysis.kernels if ref.model == index and ref in analysis.directions]
    causes: dict[_Cause, list[str]] = {}
    for ref in running:
        kernel = analysis.kernels[ref]
        if isinstance(kernel, NoKernel):
            op = operator_at(analysis.models, ref)
            way = way_out(op, analysis.models[ref.model].subgraphs[ref.subgraph])
            causes.setdefault(_Cause(kernel.reason, way), []).append(f"{op.kind} {op.position}")
    return causes, len(running)


def _named(operators: list[str]) -> str:
    more = f" and {len(operators) - _SHOWN:,} more" if operators[_SHOWN:] else ""
    return ", ".join(operators[:_SHOWN]) + more
