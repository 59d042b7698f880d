"""What words cost that let data outlive a run, or models run at the same time: the plan once more, without the word.

Both sides of the difference are the better of auto's plan and this one, so that a weak algorithm is not put down to a
word.  Without a word another order of operators may be the best, so orders are searched again, where that is quick.
Each word takes another plan of the whole firmware, so that is done for the first words only.
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
    """The words of each model."""
    concurrent: int
    """Bytes of workspace that all pairs of models cost together."""


def retention_cost(replanner: Replanner, analysis: Analysis, plan: Plan) -> RetentionCost:
    """Return the bytes of workspace that each such word costs against the default, as far as it is worked out."""
    request = replanner.request
    words = [list(model.kept_words()) for model in request.models]
    buffers = analysis.problem.buffers
    is_quick = len(buffers) <= effort.RETENTION_ORDER_BUFFERS and all(len(buffer.pools) == 1 for buffer in buffers)

    def least(asked: Request) -> int:
        other = replanner.asking(asked)
        plans = [(other.retime(analysis), plan), *([_in_other_orders(other, analysis)] if is_quick else [])]
        return min(workspace_needed(asked, stated, planned) for stated, planned in plans if planned is not None)

    needed = least(request) if any(words) or request.concurrent else 0

    def workspace(other: Request) -> int:
        return max(0, needed - least(other))

    conflicts = sum(map(len, analysis.problem.conflicts))
    plans = min(effort.RETENTION_WORDS, 1 + effort.RETENTION_CONFLICTS // max(1, conflicts))
    number = count()
    rows = [
        tuple(
            KeepRecord(word, value, workspace(request.with_model(index, other)) if next(number) < plans else None)
            for word, value, other in own
        )
        for index, own in enumerate(words)
    ]
    concurrent = workspace(replace(request, concurrent=frozenset())) if request.concurrent else 0
    return RetentionCost(tuple(rows), concurrent)


def _in_other_orders(replanner: Replanner, analysis: Analysis) -> tuple[Analysis, Plan | None]:
    """Choose orders and directions again, by "auto", for a request that differs only in when things run."""
    chosen = Orders(replanner.by(Auto()), replanner.retime(analysis, FILE_ORDER)).chosen
    return chosen.analysis, chosen.plan
