"""What words cost that let data outlive a run, or models run at the same time: the plan once more, without the word.

Both sides of the difference are the better of auto's plan and this one, so that a weak algorithm is not put down to a
word.  Without a word another order of operators may be the best, so orders are searched again, where that is quick.
Each word takes another plan of the whole firmware, so that is done for the first words only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from usmp_build.interfaces.analysis import Analysis
from usmp_build.layout import Keeping, KeepRow
from usmp_build.memory.plan import Plan
from usmp_build.request import Request
from usmp_build.ways_out import Restate
from usmp_build.workspace import workspace_needed

_PLANS = 16
"""So many words are planned without, in the order of models' names."""
_CONFLICTS = 1_000_000
"""In all these plans together, but for the first: plans take seconds where very many buffers are alive together."""
_QUICK = 500
"""Buffers, each with one pool: of no more the orders are searched again."""

Again: TypeAlias = Callable[[Request], tuple[Analysis, Plan | None]]
"""Choose orders and directions for another request for the same buffers."""


def keeping(request: Request, analysis: Analysis, plan: Plan, restate: Restate, again: Again) -> Keeping:
    """Return the bytes of workspace that each such word costs against the default, as far as it is worked out.

    `restate` says what another request for the same buffers would ask for, in the same orders.
    """
    words = [list(model.kept_words()) for model in request.models]
    buffers = analysis.problem.buffers
    is_quick = len(buffers) <= _QUICK and all(len(buffer.pools) == 1 for buffer in buffers)

    def least(asked: Request) -> int:
        found = [(restate(asked), plan), *([again(asked)] if is_quick else [])]
        return min(workspace_needed(asked, stated, known) for stated, known in found if known is not None)

    needed = least(request) if any(words) or request.concurrent else 0

    def workspace(other: Request) -> int:
        return max(0, needed - least(other))

    conflicts = sum(map(len, analysis.problem.conflicts))
    plans = min(_PLANS, 1 + _CONFLICTS // max(1, conflicts))
    number = count()
    rows = [
        tuple(
            KeepRow(word, value, workspace(request.with_model(index, other)) if next(number) < plans else None)
            for word, value, other in own
        )
        for index, own in enumerate(words)
    ]
    names = [model.name for model in request.models]
    pairs = tuple((names[a], names[b]) for a, b in sorted(request.concurrent))
    return Keeping(tuple(rows), pairs, workspace(replace(request, concurrent=frozenset())) if pairs else 0)
