"""What it costs that data outlive a run, or that models run at the same time: planned again without each setting.

Both sides of the difference are the better of auto's plan and the given one, so that a weak algorithm does not count
as the cost of a setting.  Without a setting another order of operators may be the best, so orders are searched again
where that is quick.  Each setting takes another plan of the whole firmware, so only the first ones are planned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import FILE_ORDER
from usmp_build.layout import KeepRecord
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Request
from usmp_build.search.operator_order import Orders
from usmp_build.search.replanner import Replanner
from usmp_build.search.workspace_bytes import workspace_needed


@dataclass(frozen=True, slots=True)
class RetentionCost:
    """What it costs that data outlive runs, and that models run at the same time."""

    keeps: tuple[tuple[KeepRecord, ...], ...]
    """By model: the cost of each of its settings."""
    concurrent: int
    """Bytes of workspace that all pairs of models cost together."""


def retention_cost(replanner: Replanner, analysis: Analysis, plan: Plan) -> RetentionCost:
    """Return the bytes of workspace that each such setting costs against its default; None beyond the first ones."""
    request = replanner.request
    settings = [list(model.retention_settings()) for model in request.models]
    buffers = analysis.problem.buffers
    is_quick = len(buffers) <= effort.RETENTION_ORDER_BUFFERS and all(len(buffer.pools) == 1 for buffer in buffers)

    def least_workspace(other: Request) -> int:
        variant = replanner.asking(other)
        candidates = [(variant.retime(analysis), plan), *([_in_other_orders(variant, analysis)] if is_quick else [])]
        return min(workspace_needed(timed, planned) for timed, planned in candidates if planned is not None)

    needed = least_workspace(request) if any(settings) or request.concurrent else 0

    def cost(other: Request) -> int:
        return max(0, needed - least_workspace(other))

    conflicts = sum(map(len, analysis.problem.conflicts))
    plans = min(effort.RETENTION_SETTINGS, 1 + effort.RETENTION_CONFLICTS // max(1, conflicts))
    number = count()
    keeps = tuple(
        tuple(
            KeepRecord(key, value, cost(request.with_model(index, default)) if next(number) < plans else None)
            for key, value, default in of_model
        )
        for index, of_model in enumerate(settings)
    )
    return RetentionCost(keeps, cost(replace(request, concurrent=frozenset())) if request.concurrent else 0)


def _in_other_orders(replanner: Replanner, analysis: Analysis) -> tuple[Analysis, Plan | None]:
    """Choose orders and directions again, by "auto", for a request that differs only in when things run."""
    chosen = Orders(replanner.by(Auto()), replanner.retime(analysis, FILE_ORDER)).chosen
    return chosen.analysis, chosen.plan
