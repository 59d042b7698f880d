"""The loop over orders: which order of operators makes the best plan, with the directions that suit it?

    the files' order, forward             solved first: nothing that is worse is ever chosen
    the files' order                      each operator from the end that the plan asks for (see `directing`)
    orders with fewer bytes alive         the same, for models that have such an order (see `passes.order`): for all
                                          of them, and for some

`directing` is the loop inside, and `parting` the one outside: it asks once for each way to share parts of tensors.
Beside the best plan this one tells what is known of all others: `passes.order` how little any order and any directions
need, `directing` whether its search ended.

Neither order nor direction changes how many instructions run, so both are free whatever the goal of a model is.
Constants are alive whatever the choice, so only the workspace is planned again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from usmp_build import solving
from usmp_build.algorithms.auto import Auto
from usmp_build.directing import PLANS, Budget, Directed, Directions, direct, ways_of
from usmp_build.errors import CheckFailed
from usmp_build.interfaces import Algorithm
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.choices import Choices
from usmp_build.ir.storage import Kind, Storage
from usmp_build.memory.best import is_best
from usmp_build.memory.components import restricted
from usmp_build.memory.plan import Allocation, Plan, peaks, quality
from usmp_build.memory.problem import Problem
from usmp_build.memory.verify import violations
from usmp_build.memory.without_limits import problem_without_limits
from usmp_build.passes import redirect
from usmp_build.passes.order import least_workspace, model_orders
from usmp_build.request import Request
from usmp_build.workspace import workspace_needed

_FEW = 4
"""Models whose orders are tried one by one, too."""


@dataclass(frozen=True)
class Chosen:
    """The best candidate, and what is known of the others."""

    analysis: Analysis
    plan: Plan | None
    """None: no candidate fits, and this is the one that comes nearest."""
    least: int
    """Bytes of workspace: no orders and no directions of the operators need less, with the same buffers."""
    is_best_way: bool = False
    """No directions make a plan of the workspace that ranks before this one, in the orders that were looked at."""
    others: tuple[Analysis, ...] = ()
    """With other orders."""


def choose(request: Request, first: Analysis, algorithm: Algorithm, ordered: Callable[[Choices], Analysis]) -> Chosen:
    """Return the best of a bounded number of candidates; `first` is of the files' orders, forward.

    `ordered` analyzes the same request with other orders.  Raises CheckFailed when the algorithm finds a wrong plan.
    """
    plan = solving.attempt(request, first, algorithm)
    workspace = _workspace(first.storage)
    known = _restricted(plan, workspace) if plan is not None else None
    rank = quality(restricted(first.problem, workspace), known) if known else None
    constants = _constants(first, plan, _careful(algorithm))
    orders = model_orders(request, first)
    better = {m: each.order for m, each in enumerate(orders) if each and each.order}
    candidates = [first, *(ordered(Choices(some)) for some in _some(better))]
    best = Chosen(first, plan, least_workspace(first, orders), others=tuple(candidates[1:]))
    budgets = [Budget(_brief(algorithm), PLANS // len(candidates)) for _ in candidates]
    least: list[tuple[int, ...]] = []
    for candidate, budget in zip(candidates, budgets, strict=True):
        members = _workspace(candidate.storage)
        found = direct(ways_of(request, candidate, members), budget, rank, known if candidate is first else None)
        least.append(found.least)
        whole = _whole(candidate, members, found, constants)
        if whole is not None and found.directions is not None:
            rank = found.rank
            others = tuple(each for each in candidates if each is not candidate)
            best = replace(best, analysis=_directed(request, candidate, found), plan=whole, others=others)
    if best.plan is None:
        best = replace(best, analysis=_nearest(request, candidates, algorithm))
    return replace(best, is_best_way=rank is not None and min(least) >= rank)


def _some(better: Mapping[int, tuple[int, ...]]) -> Iterator[Mapping[int, tuple[int, ...]]]:
    """Yield the orders of all models; then, as one may spoil it, without each, and with each alone, while they are few.

    An order in which fewer bytes are alive may still be the worse one for the plan.
    """
    if better:
        yield better
    if 2 < len(better) <= _FEW:
        yield from ({m: order for m, order in better.items() if m != spoiled} for spoiled in better)
    if 1 < len(better) <= _FEW:
        yield from ({m: order} for m, order in better.items())


def refined(chosen: Chosen, algorithm: Algorithm) -> Chosen:
    """Plan what was chosen once more, with all the work that the algorithm does, if less was done before."""
    problem, plan = chosen.analysis.problem, chosen.plan
    if plan is None or not isinstance(algorithm, Auto) or not chosen.analysis.choices.directions:
        return chosen
    if is_best(problem, plan):
        return chosen
    found = _careful(algorithm)(problem)
    return chosen if found is None or quality(problem, found) > quality(problem, plan) else replace(chosen, plan=found)


def needs_alone(request: Request, chosen: Chosen) -> tuple[int, ...]:
    """Return for each model the bytes of workspace that it would need if it were the only one in these pools."""
    if len(request.models) == 1 and chosen.plan is not None and chosen.is_best_way:
        workspace = _workspace(chosen.analysis.storage)
        problem = restricted(chosen.analysis.problem, workspace)
        return (sum(peaks(problem, _restricted(chosen.plan, workspace))),)
    orders = chosen.analysis.choices.orders

    def needed(model: int) -> int:
        others = {each.choices.orders.get(model): each for each in chosen.others}
        others.pop(orders.get(model), None)
        candidates = [(chosen.analysis, chosen.plan), *((each, None) for each in others.values())]
        return min(workspace_needed(request, analysis, plan, model) for analysis, plan in candidates)

    return tuple(map(needed, range(len(request.models))))


def _nearest(request: Request, candidates: Sequence[Analysis], algorithm: Algorithm) -> Analysis:
    """Return the candidate that needs least where pools are as large as needed."""
    ask = _brief(algorithm)
    budget = Budget(ask)
    best, rank = candidates[0], None
    for candidate in candidates:
        limited = ways_of(request, candidate, _workspace(candidate.storage))
        ways = replace(limited, state=_unlimited(limited.state))
        plan = None
        if candidate is best:
            plan = ask(ways.state({}))
            rank = quality(ways.state({}), plan) if plan else None
        found = direct(ways, budget, rank, plan)
        if found.directions is not None:
            best, rank = _directed(request, candidate, found), found.rank
    return best


def _unlimited(state: Callable[[Directions], Problem]) -> Callable[[Directions], Problem]:
    return lambda directions: problem_without_limits(state(directions))


def _brief(algorithm: Algorithm) -> Callable[[Problem], Plan | None]:
    """Ask often: briefly, if the algorithm knows how."""
    return _careful(algorithm.brief if isinstance(algorithm, Auto) else algorithm)


def _careful(algorithm: Callable[[Problem], Plan | None]) -> Callable[[Problem], Plan | None]:
    """Ask for plans of which only the sound ones count: the question is ours, not the user's."""

    def ask(problem: Problem) -> Plan | None:
        try:
            found = algorithm(problem)
        except CheckFailed:
            return None
        return None if found is None or violations(problem, found) else found

    return ask


def _workspace(storage: Storage) -> list[int]:
    return [index for index, buffer in enumerate(storage.buffers) if buffer.kind is not Kind.CONSTANT]


def _restricted(plan: Plan, members: Sequence[int]) -> Plan:
    return Plan(plan.algorithm, tuple(plan.allocations[index] for index in members))


def _directed(request: Request, candidate: Analysis, found: Directed) -> Analysis:
    directions = {**candidate.choices.directions, **(found.directions or {})}
    return redirect(request, candidate, replace(candidate.choices, directions=directions))


def _whole(
    candidate: Analysis, members: Sequence[int], found: Directed, constants: Callable[[Problem], Plan | None]
) -> Plan | None:
    """Put constants beside the workspace; they are in other pools.  None if there is no plan for one of them."""
    if found.plan is None:
        return None
    inside = set(members)
    others = [index for index in range(len(candidate.storage.buffers)) if index not in inside]
    beside = constants(restricted(candidate.problem, others))
    if beside is None:
        return None
    places: dict[int, Allocation] = dict(zip(members, found.plan.allocations, strict=True))
    places.update(zip(others, beside.allocations, strict=True))
    return Plan(
        found.plan.algorithm,
        tuple(places[index] for index in range(len(places))),
        _each(found.plan.claims, beside.claims),
        found.plan.work + beside.work,
        _ranked(found.plan.bound, beside.bound),
    )


def _constants(
    first: Analysis, plan: Plan | None, ask: Callable[[Problem], Plan | None]
) -> Callable[[Problem], Plan | None]:
    """Ask for plans of constants; those of `plan` stay where they are, if they are known to be in the best places."""
    if plan is None:
        return ask
    members = [index for index, buffer in enumerate(first.storage.buffers) if buffer.kind is Kind.CONSTANT]
    known = restricted(first.problem, members)
    pools = {pool for buffer in known.buffers for pool in buffer.pools}
    claims = tuple(claim if pool in pools else 0 for pool, claim in enumerate(plan.claims))
    kept = replace(_restricted(plan, members), claims=claims)

    def asked(problem: Problem) -> Plan | None:
        if problem == known and is_best(known, kept):
            return replace(kept, bound=quality(known, kept))
        return ask(problem)

    return asked


def _each(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Join what is said of pools, of which each has buffers of one plan only; empty is 0 for all."""
    return tuple(map(max, one, other)) if one and other else one or other


def _ranked(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Join bounds of what a plan costs and of its peaks; empty when one of them is not known."""
    return (one[0] + other[0], *map(max, one[1:], other[1:])) if one and other else ()
