"""What a report says beyond the plan: only who has the manifest and the models can work it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel, Traffic
from usmp_build.ir.graph import OperatorRef, operator_at
from usmp_build.ir.schedule import without_rows
from usmp_build.layout import AlternativesRecord, Summary
from usmp_build.operators.ways_out import way_out
from usmp_build.passes.rewrite.work import operator_macs
from usmp_build.report.changes import Change, changes
from usmp_build.search.limits import Fitted
from usmp_build.search.replanner import Replanner


@frozen
class OperatorFacts:
    """What one operator does in one run."""

    way: str
    """Whether it runs row by row, as a whole or not at all, in words."""
    functions: tuple[str, ...]
    """The C functions that its kernel calls."""
    declined: tuple[str, ...]
    """Why there are no faster kernels for the target: "dsp: it scales by more than 1/2"."""
    read: int
    """Bytes; what is read again counts again."""
    written: int
    macs: int
    """Multiplications."""


@frozen
class Study:
    """What the firmware would take otherwise, and what its operators do."""

    alternatives: AlternativesRecord
    changes: tuple[Change, ...]
    operators: Mapping[str, OperatorFacts]
    """By the name of their step, without the row."""


def study(replanner: Replanner, fitted: Fitted, summary: Summary, alternatives: AlternativesRecord) -> Study:
    """Plan what may be changed, and look at what was chosen."""
    operators = dict(_operators(fitted.chosen.analysis))
    alone = [model.workspace for model in alternatives.models]
    return Study(alternatives, changes(replanner, fitted, summary, alone), operators)


def _operators(analysis: Analysis) -> Iterator[tuple[str, OperatorFacts]]:
    for step in without_rows(analysis.schedule.root):
        if step.operator is not None:
            name = step.name if step.job is None else step.name.rpartition(", row")[0]
            yield name, _facts(analysis, step.operator)


def _facts(analysis: Analysis, ref: OperatorRef) -> OperatorFacts:
    chosen = analysis.kernels.get(ref)
    kernel = analysis.kernel_of(ref) if chosen is not None else None
    moved = sum(analysis.traffic.get(ref, {}).values(), Traffic())
    graph = analysis.models[ref.model].subgraphs[ref.subgraph]
    op, way = operator_at(analysis.models, ref), "row by row" if ref in analysis.choices.by_rows.jobs else "as a whole"
    if isinstance(kernel, NoKernel):
        way = "; ".join(filter(None, [f"no kernel: {kernel.reason}", way_out(op, graph)]))
    return OperatorFacts(
        way=way,
        functions=tuple(dict.fromkeys(call.function for call in kernel.calls)) if isinstance(kernel, Kernel) else (),
        declined=chosen.declined if isinstance(chosen, Kernel) else (),
        read=moved.read,
        written=moved.written,
        macs=operator_macs(op, graph),
    )
