"""What a plan is compared with: each figure takes separate planning, which generating code does not need."""

from __future__ import annotations

from dataclasses import asdict

from usmp_build.errors import UsmpError
from usmp_build.layout import AlternativesRecord, CompilerPlanRecord, ModelAlternativesRecord
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import Plan
from usmp_build.report.larger_pools import in_larger_pools
from usmp_build.report.retention_cost import retention_cost
from usmp_build.search import workspace_bytes
from usmp_build.search.concat_aliasing import choose
from usmp_build.search.incumbent import workspace
from usmp_build.search.limits import Fitted
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner


def alternatives(replanner: Replanner, fitted: Fitted, plan: Plan) -> AlternativesRecord:
    """Plan the models by themselves, without settings that cost memory, as filed, and in larger pools."""
    request, chosen = replanner.request, fitted.chosen
    standalone = [_alone(replanner, chosen, plan, model) for model in range(len(request.models))]
    retention = retention_cost(replanner, chosen.analysis, plan)
    compiler_plans = [
        CompilerPlanRecord(**asdict(model.compiler_plan)) if model.compiler_plan else None for model in replanner.models
    ]
    models = zip((model.name for model in request.models), standalone, retention.keeps, compiler_plans, strict=True)
    return AlternativesRecord(
        max_live=_max_live(replanner),
        models=tuple(ModelAlternativesRecord(*each) for each in models),
        concurrent_workspace=retention.concurrent,
        larger_pools=in_larger_pools(replanner, fitted, plan),
    )


def _alone(replanner: Replanner, chosen: BestCandidate, plan: Plan, index: int) -> int:
    """Return the bytes of workspace that a model takes where it is the only one.

    Of several models in one pool only the largest has a reason to need less, so only it runs row by row as far as it
    can: the one that takes as much as all together.  Any other is planned again, but one with connections, which is
    planned with its partners only.
    """
    request, together = replanner.request, workspace(chosen.analysis, plan)
    bytes_ = workspace_bytes.workspace_of(chosen.analysis, plan, index)
    if bytes_ == together or len(request.models) == 1 or not chosen.ways or request.connections:
        return workspace_bytes.standalone_bytes(request, chosen, plan, index)
    best = choose(replanner.of_model(index).by(Auto()))
    return bytes_ if best.plan is None else min(bytes_, workspace(best.analysis, best.plan))


def _max_live(replanner: Replanner) -> int | None:
    """Return the bytes of workspace that are alive together in the models as their files have them.

    None where these cannot be analyzed without rewrites: this is one figure of a report, and refuses no plan.
    """
    try:
        return workspace_bytes.max_live(replanner.asking(replanner.request.as_filed()).analyze())
    except UsmpError:
        return None
