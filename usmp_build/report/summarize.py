"""Request + Analysis + Plan → Summary: its rows, for tables, plan.json and comments."""

from __future__ import annotations

import usmp_build
from usmp_build.layout import Summary, TargetRecord
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.plan import Plan
from usmp_build.report.buffer_rows import buffer_rows
from usmp_build.report.cost_row import cost_row
from usmp_build.report.model_rows import ModelRows, timeline
from usmp_build.report.pool_rows import pool_rows, workspace_record
from usmp_build.request import Request
from usmp_build.search.operator_order import BestCandidate


def summarize(request: Request, chosen: BestCandidate, plan: Plan) -> Summary:
    """Gather the facts of a plan that was verified, without `alternatives`.

    `plan` is that of what was chosen, with its constants grouped.
    Raises ManifestError and DoesNotFit where addresses that the manifest knows do not go with it (P307, P361), and
    CheckFailed where it takes less than was proven to be needed (P503).
    """
    analysis = chosen.analysis
    steps = tuple(timeline(analysis))
    moved = [analysis.moved_by(model) for model in range(len(request.models))]
    pools = pool_rows(request, analysis, plan, steps)
    buffers = buffer_rows(request, analysis, plan, moved)
    rows = ModelRows(request, analysis, plan, pools, buffers)
    names = [model.name for model in request.models]
    is_plan_best = is_best(analysis.problem, plan)
    return Summary(
        generator=f"usmp_build {usmp_build.__version__}",
        project=request.project,
        macro=request.project.upper(),
        manifest=request.manifest,
        algorithm=plan.algorithm,
        cost=cost_row(request, analysis, plan),
        targets=_targets(request),
        is_best=is_plan_best,
        other_buffers=chosen.other_buffers,
        pools=pools,
        workspace=workspace_record(chosen, pools, is_plan_best),
        buffers=buffers,
        repeated_constants=analysis.storage.repeated,
        steps=steps,
        models=tuple(rows.row(m, moved[m]) for m in range(len(names))),
        concurrent=tuple((names[a], names[b]) for a, b in sorted(request.concurrent)),
    )


def _targets(request: Request) -> tuple[TargetRecord, ...]:
    """Return the targets with all kernel libraries that they use; a rule without a target is counted for the first."""
    rules = [place for model in request.models for place in model.places if place.kernels]
    records = []
    for index, target in enumerate(request.targets):
        named = {place.kernels for place in rules if (place.target or 0) == index} - {target.kernels}
        records.append(TargetRecord(target.name, ", ".join([target.kernels, *sorted(named)]), target.isa.value))
    return tuple(records)
