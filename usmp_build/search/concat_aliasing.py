"""Which concatenations and splits become aliases, and which stay copies?  Whatever needs no more memory.

Sharing saves the copies, and one of two tensors; but all of the whole is alive from its first part on.  So the plan in
which all operators copy is made first.  Then sharing is tried for all at once, for halves of those for which that is
worse, and so on down to single ones:

    all of 4    larger   →   0, 1   not larger: shared
                             2, 3   larger   →   2   larger: copied
                                                 3   not larger: shared

Where one copies, others may share that could not before: of a tensor that is concatenated twice, the second whole may
have it.  These are tried next.  And that all together are no worse does not mean that each of them is: at last, those
of models that fill a pool copy once more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import le

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.scopes import COPY
from usmp_build.ir.storage import Kind
from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.planner.memory.problem import Problem
from usmp_build.search.operator_order import Chosen, Orders
from usmp_build.search.replanner import Replanner
from usmp_build.search.workspace_bytes import max_live

Operators = frozenset[OperatorRef]


def choose(replanner: Replanner) -> Chosen:
    """Choose aliases, orders and directions of a firmware.

    Raises CheckFailed when the algorithm returns a wrong plan.
    """
    orders, has_alternatives = _aliased(replanner)
    return replace(orders.finish(), other_buffers=has_alternatives)


def _aliased(replanner: Replanner) -> tuple[Orders, bool]:
    """Choose the operators that alias, where that is no worse; return whether others could have been chosen, too.

    Where nothing fits, they alias where that takes no more workspace at the fullest step: a refusal speaks of it.
    """
    shared = replanner.analyze(None)
    if not (sites := operators_with_parts(shared.models)):
        return Orders(replanner, shared), bool(_operators_of(shared.models, {COPY}))
    copied = replanner.analyze(frozenset())
    needed = frozenset(ref for ref, kernel in copied.kernels.items() if not isinstance(kernel, Kernel))
    if needed.intersection(sites):  # what cannot be copied is shared
        copied = replanner.analyze(needed)
    search = _Search(replanner, shared, Orders(replanner, copied), needed, needed, _plans(copied.problem) - 1)
    while search.plans > 0 and (untried := search.untried()):
        search.share(untried)
    search.plans = min(search.plans, effort.ALIASING_RECONSIDERED)
    if search.plans > 0:
        search.reconsider()
    return search.best, True


def _plans(problem: Problem) -> int:
    """Return how many plans of such a problem may be made."""
    buffers, conflicts = len(problem.buffers), sum(map(len, problem.conflicts))
    small = 2 + effort.ALIASING_BUFFERS // max(1, buffers)
    calm = 2 + effort.ALIASING_CONFLICTS // max(1, conflicts)
    return min(effort.ALIASING_PLANS, small, calm)


def operators_with_parts(models: Sequence[Model]) -> list[OperatorRef]:
    """Return the operators that do nothing, for tensors are parts of others."""
    return _operators_of(models, {"JOIN", "CUT"})


def _operators_of(models: Sequence[Model], kinds: Collection[str]) -> list[OperatorRef]:
    return [
        OperatorRef(m, s, index)
        for m, model in enumerate(models)
        for s, graph in enumerate(model.subgraphs)
        for index, op in enumerate(graph.operators)
        if op.kind in kinds
    ]


@dataclass
class _Search:
    """The best plan so far, and what may still be tried."""

    replanner: Replanner
    shared: Analysis = field(repr=False)
    """In which all operators have parts that may."""
    best: Orders
    needed: Operators
    """That must have parts, for no kernel copies."""
    shares: Operators
    """That may have parts in the best plan."""
    plans: int
    """How many more to make."""
    copies: set[OperatorRef] = field(default_factory=set)
    """For which parts were worse."""

    def untried(self) -> list[OperatorRef]:
        """Return the operators that may have parts while those in `copies` copy, and do not yet."""
        every = frozenset(self.best.chosen.analysis.kernels) | self.shares
        possible = self.replanner.analyze(every - self.copies) if self.copies else self.shared
        return [site for site in operators_with_parts(possible.models) if site not in self.shares]

    def share(self, sites: list[OperatorRef]) -> None:
        """Let these operators, or as many of them as make nothing worse, do nothing."""
        if self.plans <= 0 or not sites:
            return
        self.plans -= 1
        shares = self.shares.union(sites)
        are_all = shares.issuperset(operators_with_parts(self.shared.models))
        found = Orders(self.replanner, self.shared if are_all else self.replanner.analyze(shares))
        if is_no_worse(found.chosen, self.best.chosen):
            self.best, self.shares = found, shares
        elif len(sites) == 1:
            self.copies.update(sites)
        else:
            middle = len(sites) // 2
            self.share(sites[:middle])
            self.share(sites[middle:])

    def reconsider(self) -> None:
        """Let those of a model that fills a pool copy after all, or one half of them, where that is better."""
        for model in _fullest(self.best.chosen):
            sites = [site for site in operators_with_parts(self.best.chosen.analysis.models) if site.model == model]
            sites = [site for site in sites if site in self.shares and site not in self.needed]
            middle = len(sites) // 2
            for some in (sites, sites[:middle], sites[middle:] if middle else []):
                shares = self.shares.difference(some)
                if self.plans > 0 and some and shares != self.needed:  # that all copy was tried first
                    self.plans -= 1
                    found = Orders(self.replanner, self.replanner.analyze(shares))
                    if is_no_worse(found.chosen, self.best.chosen) and not is_no_worse(self.best.chosen, found.chosen):
                        self.best, self.shares = found, shares
                        if len(some) > 1:
                            self.share(some[: len(some) // 2])
                            self.share(some[len(some) // 2 :])
                        break


def _fullest(chosen: Chosen) -> list[int]:
    """Return the models whose workspace reaches the upper end of what is used of a pool."""
    if chosen.plan is None:
        return []
    most = peaks(chosen.analysis.problem, chosen.plan)
    buffers = zip(chosen.analysis.storage.buffers, chosen.plan.allocations, strict=True)
    highest = [b for b, at in buffers if at.offset + b.extent == most[at.pool] and b.kind is not Kind.CONSTANT]
    return sorted({model for buffer in highest for model in buffer.models})


def is_no_worse(one: Chosen, other: Chosen) -> bool:
    """Tell whether a plan needs no more workspace than another one, no more of any pool of constants, and no more time.

    By `plan.quality` the time that a copy takes would pay for any number of bytes.  Workspace counts over all pools: a
    plan that fills a fast one further, and takes less in all, is the better one.
    """
    if one.plan is None and other.plan is None:
        return max_live(one.analysis) <= max_live(other.analysis)
    if one.plan is None or other.plan is None:
        return one.plan is not None
    in_all = all(map(le, _sizes(one.analysis, one.plan), _sizes(other.analysis, other.plan)))
    return in_all and _cost(one.analysis, one.plan) <= _cost(other.analysis, other.plan)


def _sizes(analysis: Analysis, plan: Plan) -> tuple[int, ...]:
    """Return the bytes of all workspace pools together, then those of each pool of constants, 0 for other pools."""
    buffers = analysis.storage.buffers
    constant = {pool for buffer in buffers if buffer.kind is Kind.CONSTANT for pool in buffer.pools}
    sizes = peaks(analysis.problem, plan)
    each = tuple(size if pool in constant else 0 for pool, size in enumerate(sizes))
    return (sum(sizes) - sum(each), *each)


def _cost(analysis: Analysis, plan: Plan) -> Fraction:
    buffers = zip(analysis.problem.buffers, plan.allocations, strict=True)
    return analysis.costs.of(sum(buffer.cost_in(place.pool) for buffer, place in buffers))
