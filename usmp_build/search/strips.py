"""Runs stages of models in strips of columns, where that needs less workspace and is worth its multiplications.

Only a model that may do more work has strips, and only one that fills a pool gains by them.  Of the divisions that
`passes.strips` estimates, those are planned that seem to be worth most: all passes run again, and all loops inside this
one.  What their plans take decides.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.passes.strips import Division, divisions
from usmp_build.search import concat_aliasing
from usmp_build.search.concat_aliasing import fullest, is_smaller
from usmp_build.search.incumbent import workspace
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner

SAVED_FOR_WORK = Fraction(1, 5)
"""Per cent of the workspace that each per cent of more multiplications must save."""
_LEAST_OF_ESTIMATE = Fraction(17, 20)
"""What is estimated to need more than is known to do is not planned, unless a plan may need only so much of that."""


def choose(replanner: Replanner, first: Analysis | None = None) -> BestCandidate:
    """Choose strips, aliases, orders and directions of a firmware; `first` is its first analysis, without strips.

    Raises CheckFailed when the algorithm returns a wrong plan.
    """
    best = once = concat_aliasing.choose(replanner, first)
    if replanner.takes_first and best.plan is not None:
        return best
    models = _may_have_strips(replanner, best)
    for index in models:
        for division, more in _worthwhile(replanner, index):
            if once.plan is not None and division.peak * _LEAST_OF_ESTIMATE > _most(once, more):
                continue
            candidate = concat_aliasing.choose(replace(replanner, stages={index: division.stages}))
            if is_smaller(candidate, best) and _is_worth(candidate, once, more):
                best = candidate
    return replace(best, other_buffers=True) if models else best


def _may_have_strips(replanner: Replanner, best: BestCandidate) -> list[int]:
    """Return the models that may compute columns again, and have a buffer at the peak of a pool."""
    request = replanner.request
    if not (request.rows and request.overlap):
        return []
    models = range(len(request.models)) if best.plan is None else fullest(best)
    may = [index for index in models if request.models[index].recompute and request.models[index].free_order]
    return [index for index in may if not request.models[index].has_row_ports][: effort.STRIP_MODELS]


def _worthwhile(replanner: Replanner, index: int) -> list[tuple[Division, Fraction]]:
    """Return the divisions of a model that are estimated to be worth most, and how much more it multiplies with each.

    That is a part of all multiplications.
    """
    request, selection = replanner.request, replanner.selection
    rewritten = selection.rewrites[index]
    pins = selection.assignment.pins(request, replanner.models)[index].of(rewritten.model)
    once, *others = divisions(rewritten, pins, Fraction(request.models[index].recompute, 100))
    more = {each: Fraction(each.macs - once.macs, max(1, once.macs)) for each in others}
    rank = {each: each.peak + once.peak * SAVED_FOR_WORK * more[each] for each in others}
    good = sorted((each for each in others if each.stages and rank[each] < once.peak), key=rank.__getitem__)
    return [(each, more[each]) for each in good[: effort.STRIP_PLANS]]


def _is_worth(candidate: BestCandidate, once: BestCandidate, more: Fraction) -> bool:
    """Tell whether a plan saves enough for so much more work."""
    if once.plan is None or candidate.plan is None:
        return candidate.plan is not None
    return workspace(candidate.analysis, candidate.plan) <= _most(once, more)


def _most(once: BestCandidate, more: Fraction) -> Fraction:
    """Return the bytes that a plan may need to be worth so much more work."""
    assert once.plan is not None
    return workspace(once.analysis, once.plan) * (1 - SAVED_FOR_WORK * more)
