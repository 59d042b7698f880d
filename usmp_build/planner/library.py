"""Solves memory problems: runs an algorithm, verifies its plan, and states what is proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from usmp_build import effort
from usmp_build.errors import Diagnostic, ProblemError, UsageError
from usmp_build.planner import by_name
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.exact.pools import judge
from usmp_build.planner.algorithms.timelines import plan_timeline
from usmp_build.planner.memory.alive import count_pairs, problem_of
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import pool_bounds, unmet
from usmp_build.planner.memory.limits import excess, with_limits, with_room_in_last_pools
from usmp_build.planner.memory.malformed import is_count, malformed
from usmp_build.planner.memory.overlaps import overlaps
from usmp_build.planner.memory.plan import Allocation, Plan, peaks, quality
from usmp_build.planner.memory.pressure import Witness
from usmp_build.planner.memory.problem import UNNAMED_POOL, Pool, Problem
from usmp_build.planner.memory.shortage import Shortage
from usmp_build.planner.memory.solution import Solution, Status
from usmp_build.planner.memory.timeline import Array, Timeline
from usmp_build.planner.memory.trials import sound_plan
from usmp_build.planner.memory.verify import violations

__all__ = ["Solution", "Status", "solve"]

Progress = Callable[[str], None]
"""Called with a few words when a stage begins."""

_RIVALS = ("exact", "hill_climb")
"""Algorithms that `solve` tries beside the default, where that proves nothing."""

LARGE = "large"
"""The algorithm that plans timelines."""


def solve(
    problem: Problem | Timeline,
    algorithm: str = "auto",
    *,
    capacity: int | None = None,
    minimize: bool | None = None,
    progress: Progress = lambda _: None,
    **options: object,
) -> Solution:
    """Find a place for every buffer, verify the plan, and state what is proven of it.

    `capacity` is the limit, in bytes, of every pool that has none.  With it, any plan that fits will do, unless
    `minimize` is true; without it, peaks are minimized unless `minimize` is false.  `options` are the algorithm's.

    A timeline is planned along its steps by "auto" without options; other algorithms get it as pairs.

    Raises ProblemError when the problem itself is wrong, ManifestError when there is no such algorithm or option,
    UsageError when a timeline has too many pairs for the algorithm, and CheckFailed when the algorithm is wrong.
    """
    _check(problem, capacity)
    lowest = capacity is None if minimize is None else minimize
    if isinstance(problem, Timeline):
        if algorithm in ("auto", LARGE) and not options:
            return _solve_timeline(problem, capacity, progress)
        problem = _as_pairs(problem)
    stated = with_capacity(problem, capacity)
    minimize_option = {"minimize": lowest} if "minimize" in by_name.options_by_name(algorithm) else {}
    planner = by_name.algorithm(algorithm, minimize_option | options, "")
    if requirements := unmet(stated):
        worst = requirements[0]
        core = worst.witness.buffers
        shortage = Shortage(worst.pools, worst.room, worst.missing, worst.witness, core, proven=True)
        return Solution(Status.INFEASIBLE, None, shortage=shortage)
    progress(f"{algorithm} plans {len(stated.buffers):,} buffers")
    plan = planner(stated)
    if plan is None:
        progress(f"{algorithm} plans without limits")
        return _without_plan(stated, by_name.algorithm(algorithm, options, ""), algorithm)
    progress("checking")
    by_name.check(stated, plan, algorithm)
    if algorithm == "auto" and lowest and not options:
        plan = _contested(stated, plan, planner, progress)
    return _solution(stated, plan)


def _contested(problem: Problem, plan: Plan, planner: Algorithm, progress: Progress) -> Plan:
    """Return the plan, or a better one: of another algorithm, or within the bytes that the best plan takes.

    A search that proves nothing may end better from another start: so limits and other algorithms are candidates.
    """
    several = any(len(buffer.pools) > 1 for buffer in problem.buffers)
    if len(problem.buffers) > effort.SOLVE_RIVALS[several] or is_best(problem, plan):
        return plan
    best = plan
    for name in _RIVALS:
        progress(f"{name} plans, too")
        best = _better(problem, best, sound_plan(by_name.algorithm(name, {}, ""), problem))
    for _ in range(effort.SOLVE_WITHIN):
        progress("auto plans within what the best plan takes")
        before = best
        best = _better(problem, best, sound_plan(planner, with_limits(problem, peaks(problem, best))))
        if best is before:
            break
    return best


def _better(problem: Problem, best: Plan, other: Plan | None) -> Plan:
    """Return the better of two plans, with the bound that holds for all; claims may follow from other limits."""
    if other is None or quality(problem, other) >= quality(problem, best):
        return best
    name = other.algorithm.removeprefix("auto: ")
    return replace(other, algorithm=f"auto: {name}", claims=(), bound=best.bound, work=best.work + other.work)


def _check(problem: Problem | Timeline, capacity: int | None) -> None:
    """Raise ProblemError for a malformed problem, which may come from Python code; timelines check themselves."""
    wrong = malformed(problem) if isinstance(problem, Problem) else ()
    if capacity is not None and not is_count(capacity):
        wrong += (f"the capacity is {capacity!r}, which is no number of bytes",)
    if wrong:
        help_ = "correct the problem: `usmp_build.planner.memory.problem` says what its fields mean"
        raise ProblemError(*(Diagnostic("Q115", message, help=help_) for message in wrong))


def with_capacity(problem: Problem, capacity: int | None) -> Problem:
    """Return the problem with this limit, in bytes, of every pool that has none."""
    if capacity is None:
        return problem
    pools = (replace(pool, limit=capacity if pool.limit is None else pool.limit) for pool in problem.pools)
    return replace(problem, pools=tuple(pools))


def _solution(problem: Problem, plan: Plan) -> Solution:
    claims = plan.claims or (0,) * len(problem.pools)
    best = is_best(problem, plan)
    return Solution(
        Status.OPTIMAL if best else Status.FEASIBLE,
        plan,
        peaks(problem, plan),
        pool_bounds(problem, plan),
        claims,
        algorithm=plan.algorithm,
        work=plan.work,
    )


def _without_plan(problem: Problem, planner: Algorithm, name: str) -> Solution:
    """Return the solution after an algorithm found no plan: a plan after all, or what is missing.

    It runs again without limits, which may only have misled it; then without those of each buffer's last pool.
    """
    for relaxed in (with_limits(problem, [None] * len(problem.pools)), with_room_in_last_pools(problem)):
        plan = sound_plan(planner, relaxed)
        if plan is not None and not violations(problem, plan):
            return _solution(problem, plan)
    solution = Solution(Status.UNKNOWN, None, algorithm=name) if plan is None else _overflow(problem, plan)
    if solution.status is Status.INFEASIBLE:
        return solution
    verdict = judge(problem, effort.PROOF_OF_NO_PLAN // max(1, len(problem.buffers)))
    if verdict.impossible:
        return Solution(Status.INFEASIBLE, None, shortage=Shortage(proven=True), algorithm="exact", work=verdict.nodes)
    return solution


def _overflow(problem: Problem, plan: Plan) -> Solution:
    """Return the shortage of the pool that a plan without limits exceeds most, with its proof if it has one."""
    over = excess(problem, plan)
    claims = {pool: plan.claims[pool] for pool in over if plan.claims and _are_confined(problem, plan, pool)}
    limits = {pool: problem.limits[pool] or 0 for pool in over}
    proven = {pool: claim - limits[pool] for pool, claim in claims.items() if claim > limits[pool]}
    missing = proven or over
    pool = max(missing, key=missing.__getitem__)
    witness = pool_bounds(problem, plan)[pool]
    return Solution(
        Status.INFEASIBLE if proven else Status.UNKNOWN,
        None,
        shortage=Shortage((pool,), limits[pool], missing[pool], witness, proven=bool(proven)),
        claim=claims[pool] if proven else 0,
        algorithm=plan.algorithm,
        work=plan.work,
    )


def _are_confined(problem: Problem, plan: Plan, pool: int) -> bool:
    """Whether the buffers that a plan puts into a pool have no other candidate."""
    members = (b for b, place in zip(problem.buffers, plan.allocations, strict=True) if place.pool == pool)
    return all(buffer.pools == (pool,) for buffer in members)


def _as_pairs(timeline: Timeline) -> Problem:
    """Return a timeline as a problem with pairs, for algorithms that need them."""
    pairs = count_pairs(timeline.lower, timeline.upper)
    if pairs > effort.MOST_PAIRS:
        message = f"{pairs:,} pairs in conflict are too many for algorithms that look at pairs"
        help_ = f'at most {effort.MOST_PAIRS:,}; "auto" without options plans any number'
        raise UsageError(Diagnostic("U211", message, help=help_))
    columns = (timeline.lower, timeline.upper, timeline.size, timeline.alignment)
    return problem_of(map(str, range(len(timeline))), columns, Pool(UNNAMED_POOL, timeline.limit))


def _solve_timeline(timeline: Timeline, capacity: int | None, progress: Progress) -> Solution:
    """Plan a timeline along its steps, without pairs."""
    capacity = capacity if timeline.limit is None else timeline.limit
    witness = fullest(timeline)
    if capacity is not None and witness.bytes > capacity:
        shortage = Shortage((0,), capacity, witness.bytes - capacity, witness, witness.buffers, proven=True)
        return Solution(Status.INFEASIBLE, None, shortage=shortage)
    progress(f"planning {len(timeline):,} buffers")
    offsets, peak, work = plan_timeline(timeline)
    progress("checking")
    wrong = bool((offsets < 0).any() or (offsets % timeline.alignment).any())
    clash = next(overlaps(timeline.lower, timeline.upper, offsets, timeline.size), None)
    if wrong or clash:
        reason = f"buffers {clash[0]} and {clash[1]} overlap" if clash else "an offset is negative or not aligned"
        raise by_name.wrong_plan(f'algorithm "{LARGE}"', reason, "report this")
    if capacity is not None and peak > capacity:
        shortage = Shortage((0,), capacity, peak - capacity, witness)
        return Solution(Status.UNKNOWN, None, shortage=shortage, algorithm=LARGE, work=work)
    plan = Plan(LARGE, tuple(Allocation(0, offset) for offset in offsets.tolist()), work=work)
    status = Status.OPTIMAL if peak <= witness.bytes else Status.FEASIBLE
    return Solution(status, plan, (peak,), (witness,), (0,), algorithm=LARGE, work=work)


def fullest(timeline: Timeline) -> Witness:
    """Return the buffers alive at the fullest step, largest first, and the bytes that they need side by side.

    All buffers start at multiples of a unit, so all but the topmost fill whole units: sizes are rounded up, and the
    largest remainder is given back.  Of steps that are as full, the one with the least remainder says most.
    """
    if not len(timeline):
        return Witness()
    unit = int(np.gcd.reduce(timeline.alignment))
    rounded = -(-timeline.size // unit) * unit
    steps = np.concatenate((timeline.upper, timeline.lower))
    order = np.argsort(steps, kind="stable")  # deaths stand before births
    load = np.cumsum(np.concatenate((-rounded, rounded))[order])
    fullest_ones = np.unique(steps[order[load == load.max()]])[: effort.FULLEST_STEPS].tolist()
    return max((_witness(timeline, rounded, step) for step in fullest_ones), key=lambda witness: witness.bytes)


def _witness(timeline: Timeline, rounded: Array, step: int) -> Witness:
    alive = np.flatnonzero((timeline.lower <= step) & (step < timeline.upper) & (timeline.size > 0))
    slack = int((rounded[alive] - timeline.size[alive]).max(initial=0))
    largest_first = alive[np.argsort(-timeline.size[alive], kind="stable")]
    return Witness(int(rounded[alive].sum()) - slack, tuple(largest_first.tolist()), step)
