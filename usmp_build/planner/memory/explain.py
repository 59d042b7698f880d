"""Why nothing fits: which pool is too small, by how much, because of which buffers, and which limit would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from usmp_build import effort
from usmp_build.planner.memory.bounds import Requirement, pressure, unmet
from usmp_build.planner.memory.components import components, families, restricted
from usmp_build.planner.memory.increase import Increase, least_increase, limited
from usmp_build.planner.memory.limits import excess, with_room_in_last_pools
from usmp_build.planner.memory.plan import Plan, of_members
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.shortage import Shortage
from usmp_build.planner.memory.shrink import Fails, beginning, irreducible, shrink
from usmp_build.planner.memory.trials import Attempt, Trials


def explain(problem: Problem, attempt: Attempt, exceeding: Plan | None = None) -> tuple[Shortage, ...]:
    """Find out why `attempt`, an algorithm, has no plan for the problem: one reason for each family of pools.

    `exceeding` is a plan but for the limits: where only one of them is too small for it, that much more is enough.

    A lower bound above a limit is a proof, and so are bytes that the algorithm claims to be necessary.  Where there
    is none, few buffers are named for which the algorithm finds no plan either.
    """
    found = []
    for members in families(problem):
        plan = of_members(exceeding, members) if exceeding is not None else None
        shortage = _within(restricted(problem, members), attempt, plan)
        if shortage is not None:
            found.append(_renumbered(shortage, members))
    return tuple(found) or (Shortage(),)


def _renumbered(shortage: Shortage, members: Sequence[int]) -> Shortage:
    """Say of a problem what was found out of `restricted(problem, members)`."""
    core, heaviest = (tuple(members[i] for i in some) for some in (shortage.core, shortage.witness.buffers))
    return replace(shortage, core=core, witness=replace(shortage.witness, buffers=heaviest))


def _within(problem: Problem, attempt: Attempt, exceeding: Plan | None) -> Shortage | None:
    """Explain a problem all of whose pools hang together; None if it has a plan."""
    requirements = unmet(problem)
    if requirements:
        shortage = _bounded(problem, requirements[0])
    elif Trials(attempt, 1).plan(problem) is None:
        shortage = _claimed(problem, attempt) or _not_found(problem, attempt)
    else:
        return None
    increases = _with_plan(problem, shortage, exceeding, tuple(_increases(problem, shortage, attempt)))
    if shortage.proven:
        return replace(shortage, increases=increases)
    if not increases:
        return _overflow(problem, shortage, attempt)
    pool, missing, _ = min(increases, key=lambda increase: (increase.bytes, increase.pool))
    return replace(shortage, pools=(pool,), room=problem.pools[pool].limit or 0, missing=missing, increases=increases)


def _bounded(problem: Problem, worst: Requirement) -> Shortage:
    """What a bound proves, and the fewest buffers that exceed what is there."""

    def exceeds(some: list[int]) -> bool:
        return pressure(problem, some, len(worst.pools)).bytes > worst.room

    core = irreducible(worst.witness.buffers, exceeds, effort.REFUSAL_WEIGHINGS)
    return Shortage(worst.pools, worst.room, worst.missing, worst.witness, core, proven=True)


def _claimed(problem: Problem, attempt: Attempt) -> Shortage | None:
    """The pool for which the algorithm itself proves that the buffers that must be there do not fit."""
    for pool, limit in enumerate(pool.limit for pool in problem.pools):
        bound = [index for index, buffer in enumerate(problem.buffers) if buffer.pools == (pool,)]
        if limit is not None and bound:
            shortage = _claimed_of(limited(problem, pool, None), bound, limit, attempt)
            if shortage is not None:
                return shortage
    return None


def _claimed_of(problem: Problem, members: list[int], limit: int, attempt: Attempt) -> Shortage | None:
    """What it proves of one pool, which is stated without its limit."""
    (pool,) = problem.buffers[members[0]].pools
    trials = Trials(attempt, effort.REFUSAL_PLANS)

    def claim(some: Sequence[int]) -> int:
        plan = trials.plan(restricted(problem, some))
        return plan.claims[pool] if plan is not None and plan.claims else 0

    missing = claim(members) - limit
    if missing <= 0:
        return None
    core = _few(problem, members, lambda some: claim(some) > limit, trials)
    return Shortage((pool,), limit, missing, pressure(problem, core), core, proven=True)


def _not_found(problem: Problem, attempt: Attempt) -> Shortage:
    """Few buffers for which the algorithm finds no plan, and perhaps a proof that there is none."""
    trials = Trials(attempt, effort.REFUSAL_PLANS)

    def stuck(some: Sequence[int]) -> bool:
        return trials.plan(restricted(problem, some)) is None

    core = _few(problem, range(len(problem.buffers)), stuck, trials)
    few = restricted(problem, core)
    if requirements := unmet(few):  # bounds do not see every set of buffers among many
        return _renumbered(_bounded(few, requirements[0]), core)
    return Shortage(witness=pressure(problem, core), core=core)


def _few(problem: Problem, members: Sequence[int], fails: Fails, trials: Trials) -> tuple[int, ...]:
    """Find few members that fail: those of one component, then those of some steps, then the largest of them."""
    for component in components(problem, members):  # one of them is enough, for they share all memory
        if len(component) < len(members) and trials.left(problem) and fails(component):
            members = component
            break
    for side in (_by_birth, _by_death):
        tests = min(effort.REFUSAL_WINDOW_PLANS, trials.left(problem))
        members = beginning(sorted(members, key=lambda index: side(problem, index)), fails, tests)
    inside = set(members)
    largest = [index for index in _largest_first(problem) if index in inside]
    return shrink(largest, fails, trials.left(problem))


def _by_birth(problem: Problem, index: int) -> tuple[int, str]:
    """Early ones first."""
    buffer = problem.buffers[index]
    return (buffer.intervals[0][0] if buffer.intervals else 0, buffer.name)


def _by_death(problem: Problem, index: int) -> tuple[int, str]:
    """Late ones first."""
    buffer = problem.buffers[index]
    return (-buffer.intervals[-1][1] if buffer.intervals else 0, buffer.name)


def _overflow(problem: Problem, shortage: Shortage, attempt: Attempt) -> Shortage:
    """Let every buffer find room in the pool that is its last resort, and see which pool takes too much."""
    plan = Trials(attempt, 1).plan(with_room_in_last_pools(problem))
    over = excess(problem, plan) if plan is not None else {}
    pool = max(over, key=over.__getitem__, default=-1)
    if over.get(pool, 0) <= shortage.missing:
        return shortage
    return replace(shortage, pools=(pool,), room=problem.limits[pool] or 0, missing=over[pool])


def _increases(problem: Problem, shortage: Shortage, attempt: Attempt) -> Iterator[Increase]:
    """Those of the pools that are too small come first."""
    known = sorted({pool for buffer in problem.buffers for pool in buffer.pools})
    known = sorted((p for p in known if problem.pools[p].limit is not None), key=lambda p: p not in shortage.pools)
    small = len(problem.buffers) + sum(map(len, problem.conflicts)) <= effort.INCREASE_SMALL
    trials = Trials(attempt, effort.INCREASE_PLANS_SMALL if small else effort.INCREASE_PLANS)
    for pool in known:
        at_least = shortage.missing if shortage.proven and shortage.pools == (pool,) else 1
        increase = least_increase(problem, pool, trials, at_least)
        if increase is not None:
            yield increase


def _with_plan(
    problem: Problem, shortage: Shortage, exceeding: Plan | None, increases: tuple[Increase, ...]
) -> tuple[Increase, ...]:
    """Offer what a plan lacks of the only pool that it exceeds, unless less was seen to be enough."""
    over = excess(problem, exceeding) if exceeding is not None else {}
    if len(over) != 1:
        return increases
    ((pool, more),) = over.items()
    if any(increase.pool == pool and increase.bytes <= more for increase in increases):
        return increases
    is_least = shortage.proven and shortage.pools == (pool,) and shortage.missing == more
    return (*(each for each in increases if each.pool != pool), Increase(pool, more, is_least))


def _largest_first(problem: Problem) -> list[int]:
    known = problem.buffers
    return sorted(range(len(known)), key=lambda index: (-known[index].size, known[index].name))
