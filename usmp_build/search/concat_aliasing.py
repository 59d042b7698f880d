"""Decides which concatenations and splits become aliases, and which remain copies: an alias must not need more memory.

Sharing bytes saves the copy, and one of two tensors; but the concatenated tensor is alive from its first part on.
So first all operators copy.  Then all share; if that is worse, each half is tried, and so on down to single operators:

    all of 4    larger   →   0, 1   not larger: shared
                             2, 3   larger   →   2   larger: copied
                                                 3   not larger: shared

If one copies, others may become able to share: a tensor that is concatenated twice can be part of the second result.
These are tried next.  Even where all together are no worse, some of them may be: finally, those of models that fill a
pool are tried as copies again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import le

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.scopes import COPY
from usmp_build.ir.storage import Kind
from usmp_build.planner.memory.plan import Plan, peaks
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Goal
from usmp_build.search.incumbent import workspace
from usmp_build.search.moved_rows import with_moves
from usmp_build.search.operator_order import BestCandidate, Orders
from usmp_build.search.replanner import Replanner
from usmp_build.search.row_by_row import row_by_row
from usmp_build.search.workspace_bytes import max_live
from usmp_build.units import MAX_BYTES

Operators = frozenset[OperatorRef]


def choose(replanner: Replanner, first: Analysis | None = None) -> BestCandidate:
    """Choose aliases, orders and directions of a firmware; `first` is its first analysis, if that is there already.

    Raises CheckFailed when the algorithm returns a wrong plan.
    """
    layers = _choose_aliases(replanner, first or replanner.analyze())
    models = replanner.request.models
    if layers.copied is None or any(model.goal is Goal.BALANCED for model in models):
        best = row_by_row(replanner, layers.best)
    elif any(model.has_row_ports for model in models):  # parts might keep them in one piece
        best = row_by_row(replanner, layers.copied)
    else:
        best = row_by_row(replanner, layers.best)
        beat = MAX_BYTES if best.plan is None else workspace(best.analysis, best.plan)
        copied = row_by_row(replanner, layers.copied, beat)
        best = copied if is_smaller(copied, best) else best
    return with_moves(replanner, replace(best, other_buffers=layers.has_alternatives))


@frozen
class _Layers:
    """The best choice of aliases where all operators run as a whole."""

    best: Orders
    has_alternatives: bool
    copied: Orders | None = None
    """Where operators alias that need not: the same without these, since the rows of a part are no buffers."""


def _choose_aliases(replanner: Replanner, all_aliased: Analysis) -> _Layers:
    """Choose the operators that alias.

    If nothing fits, they alias where that takes no more workspace at the fullest step, which the error then reports.
    """
    if not (sites := operators_with_parts(all_aliased.models)):
        return _Layers(Orders(replanner, all_aliased), bool(_operators_of(all_aliased.models, {COPY})))
    all_copied = replanner.analyze(frozenset())
    needed = frozenset(ref for ref, kernel in all_copied.kernels.items() if not isinstance(kernel, Kernel))
    if needed.intersection(sites):  # operators without a kernel must alias
        all_copied = replanner.analyze(needed)
    copied = Orders(replanner, all_copied)
    search = _Search(replanner, all_aliased, copied, needed, needed, _plans(all_copied.problem) - 1)
    while search.plans > 0 and (sites := search.candidates()):
        search.alias(sites)
    search.plans = min(search.plans, effort.ALIASING_RECONSIDERED)
    if search.plans > 0:
        search.reconsider()
    flat = replanner.copy_flat(needed)
    copied = copied if flat is None else Orders(replanner, flat)
    return _Layers(search.best, True, copied if flat or search.aliases > needed else None)


def _plans(problem: Problem) -> int:
    """Return the budget of plans, smaller for large problems."""
    buffers, conflicts = len(problem.buffers), sum(map(len, problem.conflicts))
    by_buffers = 2 + effort.ALIASING_BUFFERS // max(1, buffers)
    by_conflicts = 2 + effort.ALIASING_CONFLICTS // max(1, conflicts)
    return min(effort.ALIASING_PLANS, by_buffers, by_conflicts)


def operators_with_parts(models: Sequence[Model]) -> list[OperatorRef]:
    """Return the aliased operators: JOIN and CUT, which run nothing."""
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
    """The best plan so far, and the operators that may still be tried."""

    replanner: Replanner
    all_aliased: Analysis = field(repr=False)
    """The analysis with as many aliases as possible."""
    best: Orders
    needed: Operators
    """Operators that must alias, since no kernel copies."""
    aliases: Operators
    """Operators that may alias in the best plan."""
    plans: int
    """Number of plans left in the budget."""
    copies: set[OperatorRef] = field(default_factory=set)
    """Operators for which aliasing was worse."""

    def candidates(self) -> list[OperatorRef]:
        """Return the operators that can alias while those in `copies` copy, and do not yet."""
        every = frozenset(self.best.chosen.analysis.kernels) | self.aliases
        possible = self.replanner.analyze(every - self.copies) if self.copies else self.all_aliased
        return [site for site in operators_with_parts(possible.models) if site not in self.aliases]

    def alias(self, sites: list[OperatorRef]) -> None:
        """Alias these operators, or those halves of them that make nothing worse."""
        if self.plans <= 0 or not sites:
            return
        self.plans -= 1
        aliases = self.aliases.union(sites)
        are_all = aliases.issuperset(operators_with_parts(self.all_aliased.models))
        candidate = Orders(self.replanner, self.all_aliased if are_all else self.replanner.analyze(aliases))
        if is_no_worse(candidate.chosen, self.best.chosen):
            self.best, self.aliases = candidate, aliases
        elif len(sites) == 1:
            self.copies.update(sites)
        else:
            middle = len(sites) // 2
            self.alias(sites[:middle])
            self.alias(sites[middle:])

    def reconsider(self) -> None:
        """Try to copy instead of aliasing all operators, or one half, of models that fill a pool."""
        for model in fullest(self.best.chosen):
            sites = [site for site in operators_with_parts(self.best.chosen.analysis.models) if site.model == model]
            sites = [site for site in sites if site in self.aliases and site not in self.needed]
            middle = len(sites) // 2
            for subset in (sites, sites[:middle], sites[middle:] if middle else []):
                aliases = self.aliases.difference(subset)
                if self.plans > 0 and subset and aliases != self.needed:  # copying everything was tried first
                    self.plans -= 1
                    candidate = Orders(self.replanner, self.replanner.analyze(aliases))
                    if is_no_worse(candidate.chosen, self.best.chosen) and not is_no_worse(
                        self.best.chosen, candidate.chosen
                    ):
                        self.best, self.aliases = candidate, aliases
                        if len(subset) > 1:
                            self.alias(subset[: len(subset) // 2])
                            self.alias(subset[len(subset) // 2 :])
                        break


def fullest(chosen: BestCandidate) -> list[int]:
    """Return the models with a workspace buffer at the peak of a pool."""
    if chosen.plan is None:
        return []
    most = peaks(chosen.analysis.problem, chosen.plan)
    buffers = zip(chosen.analysis.storage.buffers, chosen.plan.allocations, strict=True)
    highest = [b for b, at in buffers if at.offset + b.extent == most[at.pool] and b.kind is not Kind.CONSTANT]
    return sorted({model for buffer in highest for model in buffer.models})


def is_no_worse(one: BestCandidate, other: BestCandidate) -> bool:
    """Tell whether a plan needs no more workspace than another one, no more of any constant pool, and costs no more.

    By `plan.quality`, the time that a copy takes would justify any number of bytes.  Workspace is summed over all
    pools: a plan that fills a fast pool further, and takes less in total, is better.
    """
    if one.plan is None and other.plan is None:
        return max_live(one.analysis) <= max_live(other.analysis)
    if one.plan is None or other.plan is None:
        return one.plan is not None
    is_no_larger = all(map(le, _sizes(one.analysis, one.plan), _sizes(other.analysis, other.plan)))
    return is_no_larger and _cost(one.analysis, one.plan) <= _cost(other.analysis, other.plan)


def is_smaller(one: BestCandidate, other: BestCandidate) -> bool:
    """Tell whether a plan needs less workspace than another one, and no more of any constant pool."""
    if one.plan is None or other.plan is None:
        return one.plan is not None
    (workspace, *constants), (most, *others) = _sizes(one.analysis, one.plan), _sizes(other.analysis, other.plan)
    return workspace < most and all(map(le, constants, others))


def _sizes(analysis: Analysis, plan: Plan) -> tuple[int, ...]:
    """Return the bytes of all workspace pools together, then those of each constant pool, 0 for other pools."""
    buffers = analysis.storage.buffers
    constant = {pool for buffer in buffers if buffer.kind is Kind.CONSTANT for pool in buffer.pools}
    sizes = peaks(analysis.problem, plan)
    constant_sizes = tuple(size if pool in constant else 0 for pool, size in enumerate(sizes))
    return (sum(sizes) - sum(constant_sizes), *constant_sizes)


def _cost(analysis: Analysis, plan: Plan) -> Fraction:
    buffers = zip(analysis.problem.buffers, plan.allocations, strict=True)
    return analysis.costs.of(sum(buffer.cost_in(allocation.pool) for buffer, allocation in buffers))
