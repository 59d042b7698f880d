"""What a plan is compared with: each figure takes separate planning, which generating code does not need."""

from __future__ import annotations

from usmp_build.errors import UsmpError
from usmp_build.layout import AlternativesRecord, ModelAlternativesRecord
from usmp_build.planner.memory.plan import Plan
from usmp_build.report.larger_pools import in_larger_pools
from usmp_build.report.retention_cost import retention_cost
from usmp_build.search import workspace_bytes
from usmp_build.search.limits import Fitted
from usmp_build.search.replanner import Replanner


def alternatives(replanner: Replanner, fitted: Fitted, plan: Plan) -> AlternativesRecord:
    """Plan the models by themselves, without settings that cost memory, as filed, and in larger pools."""
    request, chosen = replanner.request, fitted.chosen
    standalone = workspace_bytes.standalone_bytes(request, chosen, plan)
    retention = retention_cost(replanner, chosen.analysis, plan)
    models = zip(request.models, standalone, retention.keeps, strict=True)
    return AlternativesRecord(
        max_live=_max_live(replanner),
        models=tuple(ModelAlternativesRecord(model.name, alone, keeps) for model, alone, keeps in models),
        concurrent_workspace=retention.concurrent,
        larger_pools=in_larger_pools(replanner, fitted, plan),
    )


def _max_live(replanner: Replanner) -> int | None:
    """Return the bytes of workspace that are alive together in the models as their files have them.

    None where these cannot be analyzed without rewrites: this is one figure of a report, and refuses no plan.
    """
    try:
        return workspace_bytes.max_live(replanner.asking(replanner.request.as_filed()).analyze())
    except UsmpError:
        return None
