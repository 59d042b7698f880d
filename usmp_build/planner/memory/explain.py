"""Explain why a problem has no plan: which pool is too small, by how much, for which buffers, and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from usmp_build import effort
from usmp_build.planner.memory.bounds import Requirement, pool_bound, pressure, unmet
from usmp_build.planner.memory.components import components, families, restricted
from usmp_build.planner.memory.increase import Increase, least_increase, limited
from usmp_build.planner.memory.limits import excess, with_room_in_last_pools
from usmp_build.planner.memory.plan import Plan, of_members
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.shortage import Shortage
from usmp_build.planner.memory.shrink import Fails, beginning, irreducible, shrink
from usmp_build.planner.memory.trials import Attempt, Trials, sound_plan


def explain(problem: Problem, attempt: Attempt, exceeding: Plan | None = None) -> tuple[Shortage, ...]:
    """Find out why `attempt`, an algorithm, has no plan for the problem: one reason for each family of pools.

    `exceeding` is a plan that keeps everything but limits: where it exceeds only one, raising that limit is enough.

    A lower bound above a limit is a proof, and so is a bound certified by the algorithm.  Where there is neither, the
    shortage names a small subset of the buffers for which the algorithm finds no plan either.
    """
    shortages = []
    for members in families(problem):
        plan = of_members(exceeding, members) if exceeding is not None else None
        shortage = _within(restricted(problem, members), attempt, plan)
        if shortage is not None:
            shortages.append(_renumbered(shortage, members))
    return tuple(shortages) or (Shortage(),)


def _renumbered(shortage: Shortage, members: Sequence[int]) -> Shortage:
    """Translate a shortage of `restricted(problem, members)` to the indices of `problem`."""
    core, heaviest = (tuple(members[i] for i in indices) for indices in (shortage.core, shortage.witness.buffers))
    return replace(shortage, core=core, witness=replace(shortage.witness, buffers=heaviest))


def _within(problem: Problem, attempt: Attempt, exceeding: Plan | None) -> Shortage | None:
    """Explain a problem whose pools are connected by the buffers that they share; None if it has a plan."""
    requirements = unmet(problem)
    if requirements:
        shortage = _bounded(problem, requirements[0])
    elif sound_plan(attempt, problem) is None:
        claimed = (_claimed_of(problem, pool, attempt) for pool in range(len(problem.pools)))
        shortage = next(filter(None, claimed), None) or _not_found(problem, attempt)
    else:
        return None
    increases = _with_plan(problem, shortage, exceeding, tuple(_increases(problem, shortage, attempt)))
    if shortage.proven:
        return replace(shortage, increases=increases)
    if not increases:
        return _overflow(problem, shortage, attempt)
    pool, missing, _ = min(increases, key=lambda increase: (increase.bytes, increase.pool))
    return replace(_of_pool(problem, shortage, pool, missing), increases=increases)


def _of_pool(problem: Problem, shortage: Shortage, pool: int, missing: int) -> Shortage:
    return replace(shortage, pools=(pool,), room=problem.limits[pool] or 0, missing=missing)


def _bounded(problem: Problem, worst: Requirement) -> Shortage:
    """Return the shortage that a bound proves, with an irreducible set of buffers that proves it."""

    def exceeds(subset: list[int]) -> bool:
        if len(worst.pools) == 1:
            return pool_bound(problem, subset).bytes > worst.room
        return pressure(problem, subset, len(worst.pools)).bytes > worst.room

    core = irreducible(worst.witness.buffers, exceeds, effort.REFUSAL_WEIGHINGS)
    return Shortage(worst.pools, worst.room, worst.missing, worst.witness, core, proven=True)


def _claimed_of(problem: Problem, pool: int, attempt: Attempt) -> Shortage | None:
    """Return the shortage of a pool whose forced buffers do not fit, as a bound proves that the algorithm certifies."""
    limit = problem.limits[pool]
    members = [index for index, buffer in enumerate(problem.buffers) if buffer.pools == (pool,)]
    if limit is None or not members:
        return None
    without_limit = limited(problem, pool, None)
    trials = Trials(attempt, effort.REFUSAL_PLANS)

    def certified_bound(subset: Sequence[int]) -> int:
        plan = trials.plan(restricted(without_limit, subset))
        return plan.claims[pool] if plan is not None and plan.claims else 0

    missing = certified_bound(members) - limit
    if missing <= 0:
        return None
    core = _small_core(problem, members, lambda subset: certified_bound(subset) > limit, trials)
    return Shortage((pool,), limit, missing, pressure(problem, core), core, proven=True)


def _not_found(problem: Problem, attempt: Attempt) -> Shortage:
    """Return a small set of buffers for which the algorithm finds no plan, with a proof where a bound gives one."""
    trials = Trials(attempt, effort.REFUSAL_PLANS)

    def has_no_plan(subset: Sequence[int]) -> bool:
        return trials.plan(restricted(problem, subset)) is None

    core = _small_core(problem, range(len(problem.buffers)), has_no_plan, trials)
    reduced = restricted(problem, core)
    if requirements := unmet(reduced):  # bounds may miss a heavy set among many buffers
        return _renumbered(_bounded(reduced, requirements[0]), core)
    return Shortage(witness=pressure(problem, core), core=core)


def _small_core(problem: Problem, members: Sequence[int], fails: Fails, trials: Trials) -> tuple[int, ...]:
    """Return a small failing subset: one component, then a window of its steps, then the largest buffers of that."""
    for component in components(problem, members):  # one is enough: components share all memory
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
    """Sort key: the first buffer to be alive comes first."""
    buffer = problem.buffers[index]
    return (buffer.intervals[0][0] if buffer.intervals else 0, buffer.name)


def _by_death(problem: Problem, index: int) -> tuple[int, str]:
    """Sort key: the last buffer to die comes first."""
    buffer = problem.buffers[index]
    return (-buffer.intervals[-1][1] if buffer.intervals else 0, buffer.name)


def _overflow(problem: Problem, shortage: Shortage, attempt: Attempt) -> Shortage:
    """Replan with room in each buffer's last pool, and report the pool that exceeds its limit most."""
    plan = sound_plan(attempt, with_room_in_last_pools(problem))
    over = excess(problem, plan) if plan is not None else {}
    if not over:
        return shortage
    pool = max(over, key=over.__getitem__)
    return _of_pool(problem, shortage, pool, over[pool])


def _increases(problem: Problem, shortage: Shortage, attempt: Attempt) -> Iterator[Increase]:
    """Yield the least increase for each limited pool, those that are too small first."""
    used = sorted({pool for buffer in problem.buffers for pool in buffer.pools})
    limited_pools = (pool for pool in used if problem.pools[pool].limit is not None)
    is_small = len(problem.buffers) + sum(map(len, problem.conflicts)) <= effort.INCREASE_SMALL
    trials = Trials(attempt, effort.INCREASE_PLANS_SMALL if is_small else effort.INCREASE_PLANS)
    for pool in sorted(limited_pools, key=lambda pool: pool not in shortage.pools):
        at_least = shortage.missing if shortage.pools == (pool,) else 1
        increase = least_increase(problem, pool, trials, at_least)
        if increase is not None:
            yield increase


def _with_plan(
    problem: Problem, shortage: Shortage, exceeding: Plan | None, increases: tuple[Increase, ...]
) -> tuple[Increase, ...]:
    """Add the increase that makes `exceeding` fit, if it exceeds one pool only and no smaller increase is known."""
    over = excess(problem, exceeding) if exceeding is not None else {}
    if len(over) != 1:
        return increases
    ((pool, excess_bytes),) = over.items()
    if any(increase.pool == pool and increase.bytes <= excess_bytes for increase in increases):
        return increases
    is_least = shortage.proven and shortage.pools == (pool,) and shortage.missing == excess_bytes
    return (*(increase for increase in increases if increase.pool != pool), Increase(pool, excess_bytes, is_least))


def _largest_first(problem: Problem) -> list[int]:
    buffers = problem.buffers
    return sorted(range(len(buffers)), key=lambda index: (-buffers[index].size, buffers[index].name))
