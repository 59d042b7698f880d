"""What words cost that let data outlive a run, or models run at the same time: the plan once more, without the word.

Both sides of the difference are the better of auto's plan and this one, so that a weak algorithm is not put down to a
word.  Each word takes another plan of the whole firmware, so that is done for the first words only.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from usmp_build.interfaces.analysis import Analysis
from usmp_build.layout import Keeping, KeepRow
from usmp_build.memory.plan import Plan
from usmp_build.request import Request
from usmp_build.ways_out import Restate
from usmp_build.workspace import workspace_needed

_PLANS = 16
"""So many words are planned without, in the order of models' names."""


def keeping(request: Request, analysis: Analysis, plan: Plan, restate: Restate) -> Keeping:
    """Return the bytes of workspace that each such word costs against the default, as far as it is worked out.

    `restate` says what another request for the same buffers would ask for.
    """
    words = [list(model.kept_words()) for model in request.models]
    needed = workspace_needed(request, analysis, plan) if any(words) or request.concurrent else 0

    def workspace(other: Request) -> int:
        return max(0, needed - workspace_needed(other, restate(other), plan))

    number = count()
    rows = [
        tuple(
            KeepRow(word, value, workspace(request.with_model(index, other)) if next(number) < _PLANS else None)
            for word, value, other in own
        )
        for index, own in enumerate(words)
    ]
    names = [model.name for model in request.models]
    pairs = tuple((names[a], names[b]) for a, b in sorted(request.concurrent))
    return Keeping(tuple(rows), pairs, workspace(replace(request, concurrent=frozenset())) if pairs else 0)
