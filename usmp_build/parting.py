"""The loop over copies: which tensors are parts of others, and which operators copy?  Whatever needs no more memory.

Sharing saves the copies, and one of two tensors; but all of the whole is alive from its first part on.  So sharing is
tried for all operators at once, for halves of those for which that is worse, and so on down to single ones:

    all of 4    larger   →   0, 1   not larger: shared
                             2, 3   larger   →   2   larger: copied
                                                 3   not larger: shared
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from usmp_build.choosing import Chosen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.memory.plan import Plan, peaks

_MOST_PLANS = 16
_MOST_BUFFERS = 4096
"""In all plans together, but for the first two: large problems take long."""

Copies = frozenset[OperatorRef]
"""Operators that stay what they are, and copy."""


def parted(analyze: Callable[[Copies], Analysis], choose: Callable[[Analysis], Chosen]) -> Chosen:
    """Choose with parts where that is no worse; `analyze` is told which operators copy.

    Where nothing fits, it is what was chosen without parts.
    """
    shared = analyze(frozenset())
    sites = operators_with_parts(shared.models)
    if not sites:
        return choose(shared)
    copied = analyze(frozenset(sites))
    able = [site for site in sites if isinstance(copied.kernels[site], Kernel)]
    if len(able) < len(sites):  # what cannot be copied is shared
        copied = analyze(frozenset(able))
    plans = min(_MOST_PLANS, 2 + _MOST_BUFFERS // max(1, len(copied.problem.buffers)))
    search = _Search(analyze, choose, shared, choose(copied), frozenset(able), plans - 1)
    search.share(able)
    return search.best


def operators_with_parts(models: Sequence[Model]) -> list[OperatorRef]:
    """Return the operators that do nothing, for tensors are parts of others."""
    return [
        OperatorRef(m, s, index)
        for m, model in enumerate(models)
        for s, graph in enumerate(model.subgraphs)
        for index, op in enumerate(graph.operators)
        if op.kind in {"JOIN", "CUT"}
    ]


@dataclass
class _Search:
    """The best plan so far, and what may still be tried."""

    analyze: Callable[[Copies], Analysis]
    choose: Callable[[Analysis], Chosen]
    shared: Analysis = field(repr=False)
    """In which no operator copies."""
    best: Chosen
    copies: Copies
    plans: int
    """How many more to make."""

    def share(self, sites: list[OperatorRef]) -> None:
        """Let these operators, or as many of them as make nothing worse, do nothing."""
        if self.plans <= 0 or not sites:
            return
        self.plans -= 1
        copies = self.copies.difference(sites)
        found = self.choose(self.analyze(copies) if copies else self.shared)
        if _is_no_worse(found, self.best):
            self.best, self.copies = found, copies
        elif len(sites) > 1:
            middle = len(sites) // 2
            self.share(sites[:middle])
            self.share(sites[middle:])


def _is_no_worse(one: Chosen, other: Chosen) -> bool:
    """Tell whether a plan needs no more of any pool than another one, and no more time.

    By `plan.quality` the time that a copy takes would pay for any number of bytes.
    """
    if one.plan is None or other.plan is None:
        return one.plan is not None
    mine, its = peaks(one.analysis.problem, one.plan), peaks(other.analysis.problem, other.plan)
    in_all = all(each <= most for each, most in zip(mine, its, strict=True))
    return in_all and _cost(one.analysis, one.plan) <= _cost(other.analysis, other.plan)


def _cost(analysis: Analysis, plan: Plan) -> Fraction:
    buffers = zip(analysis.problem.buffers, plan.allocations, strict=True)
    return analysis.costs.of(sum(buffer.cost_in(place.pool) for buffer, place in buffers))
