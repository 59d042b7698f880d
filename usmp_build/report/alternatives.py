"""What a plan is compared with: each figure takes separate planning, which generating code does not need."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.errors import UsmpError
from usmp_build.layout import AlternativesRecord, ModelAlternativesRecord
from usmp_build.planner.memory.plan import Plan
from usmp_build.report.larger_pools import in_larger_pools
from usmp_build.report.retention_cost import retention_cost
from usmp_build.search import workspace_bytes
from usmp_build.search.concat_aliasing import choose
from usmp_build.search.limits import Fitted
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner


def alternatives(replanner: Replanner, fitted: Fitted, plan: Plan) -> AlternativesRecord:
    """Plan the models by themselves, without settings that cost memory, as filed, and in larger pools."""
    request, chosen = replanner.request, fitted.chosen
    standalone = [
        min(bytes_, _row_by_row_alone(replanner, chosen, model) or bytes_)
        for model, bytes_ in enumerate(workspace_bytes.standalone_bytes(request, chosen, plan))
    ]
    retention = retention_cost(replanner, chosen.analysis, plan)
    models = zip(request.models, standalone, retention.keeps, strict=True)
    return AlternativesRecord(
        max_live=_max_live(replanner),
        models=tuple(ModelAlternativesRecord(model.name, alone, keeps) for model, alone, keeps in models),
        concurrent_workspace=retention.concurrent,
        larger_pools=in_larger_pools(replanner, fitted, plan),
    )


def _row_by_row_alone(replanner: Replanner, chosen: BestCandidate, index: int) -> int | None:
    """Return the bytes of workspace that a model takes where it is the only one; None where that cannot differ.

    Of several models in one pool only the largest has a reason to need less, so only it runs row by row as far as it
    can.  A model with connections is planned with its partners only.
    """
    request = replanner.request
    if len(request.models) == 1 or not chosen.ways or request.connections:
        return None
    alone = replace(request, models=(request.models[index],), concurrent=frozenset())
    best = choose(replace(replanner.asking(alone), models=(replanner.models[index],)))
    if best.plan is None:
        return None
    return workspace_bytes.workspace_needed(alone, best.analysis, best.plan)


def _max_live(replanner: Replanner) -> int | None:
    """Return the bytes of workspace that are alive together in the models as their files have them.

    None where these cannot be analyzed without rewrites: this is one figure of a report, and refuses no plan.
    """
    try:
        return workspace_bytes.max_live(replanner.asking(replanner.request.as_filed()).analyze())
    except UsmpError:
        return None
