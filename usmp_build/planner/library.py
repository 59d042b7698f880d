"""A memory problem in, a checked solution out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from usmp_build import effort
from usmp_build.errors import Diagnostic, ProblemError, UsageError
from usmp_build.planner import by_name
from usmp_build.planner.algorithm import Algorithm
from usmp_build.planner.algorithms.exact.pools import judge
from usmp_build.planner.algorithms.large import plan_timeline
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import pool_bounds, unmet
from usmp_build.planner.memory.limits import excess, with_limits, with_room_in_last_pools
from usmp_build.planner.memory.load import fullest
from usmp_build.planner.memory.malformed import is_count, malformed
from usmp_build.planner.memory.overlaps import overlaps
from usmp_build.planner.memory.plan import Allocation, Plan, peaks
from usmp_build.planner.memory.problem import Buffer, Pool, Problem
from usmp_build.planner.memory.shortage import Shortage
from usmp_build.planner.memory.solution import Solution, Status
from usmp_build.planner.memory.timeline import Timeline
from usmp_build.planner.memory.trials import sound_plan
from usmp_build.planner.memory.verify import violations
from usmp_build.planner.problems.alive import conflicts, count_pairs
from usmp_build.planner.problems.statement import MEMORY, MOST_PAIRS

__all__ = ["Solution", "Status", "solve"]

Progress = Callable[[str], None]
"""Is told in a few words what begins now."""

LARGE = "large"
"""Who plans timelines."""


def solve(
    problem: Problem | Timeline,
    algorithm: str = "auto",
    *,
    capacity: int | None = None,
    minimize: bool | None = None,
    progress: Progress = lambda _: None,
    **options: object,
) -> Solution:
    """Find a place for every buffer, check it, and say what is proven of it.

    `capacity` is the limit, in bytes, of every pool that has none.  With it, any plan that fits will do, unless
    `minimize` asks for the lowest peaks; without it, they are always asked for.  `options` are the algorithm's.

    A timeline is planned along its steps by "auto" without options; whoever else is asked gets it pair by pair.

    Raises ProblemError when the problem itself is wrong, ManifestError when there is no such algorithm or option,
    UsageError when a timeline has too many pairs for the algorithm, and CheckFailed when the algorithm is wrong.
    """
    _check(problem, capacity)
    lowest = capacity is None if minimize is None else minimize
    if isinstance(problem, Timeline):
        if algorithm in ("auto", LARGE) and not options:
            return _solve_timeline(problem, capacity, progress)
        problem = _spelled_out(problem)
    stated = with_capacity(problem, capacity)
    wishes = {"minimize": lowest} if "minimize" in by_name.options_known(algorithm) else {}
    finder = by_name.algorithm(algorithm, wishes | options, "")
    if requirements := unmet(stated):
        worst = requirements[0]
        core = worst.witness.buffers
        shortage = Shortage(worst.pools, worst.room, worst.missing, worst.witness, core, proven=True)
        return Solution(Status.INFEASIBLE, None, shortage=shortage)
    progress(f"{algorithm} plans {len(stated.buffers):,} buffers")
    found = finder(stated)
    if found is None:
        progress(f"{algorithm} plans without limits")
        return _without_plan(stated, by_name.algorithm(algorithm, options, ""), algorithm)
    progress("checking")
    by_name.check(stated, found, algorithm)
    return _judged(stated, found)


def _check(problem: Problem | Timeline, capacity: int | None) -> None:
    """Refuse what is no problem: nobody has looked at one that was made in Python.  Timelines check themselves."""
    wrong = malformed(problem) if isinstance(problem, Problem) else ()
    if capacity is not None and not is_count(capacity):
        wrong += (f"the capacity is {capacity!r}, which is no number of bytes",)
    if wrong:
        help_ = "correct the problem: `usmp_build.planner.memory.problem` says what its fields mean"
        raise ProblemError(*(Diagnostic("Q115", message, help=help_) for message in wrong))


def with_capacity(problem: Problem, capacity: int | None) -> Problem:
    """Give every pool without a limit this one."""
    if capacity is None:
        return problem
    pools = (replace(pool, limit=capacity if pool.limit is None else pool.limit) for pool in problem.pools)
    return replace(problem, pools=tuple(pools))


def _judged(problem: Problem, found: Plan) -> Solution:
    """Say what is known of a plan that was checked."""
    claims = found.claims or (0,) * len(problem.pools)
    best = is_best(problem, found)
    return Solution(
        Status.OPTIMAL if best else Status.FEASIBLE,
        found,
        peaks(problem, found),
        pool_bounds(problem, found),
        claims,
        algorithm=found.algorithm,
        work=found.work,
    )


def _without_plan(problem: Problem, finder: Algorithm, name: str) -> Solution:
    """Lift all limits, which may only have been in the way; then those of pools that are some buffer's last resort.

    How much does it take there, and is that proven?
    """
    for lifted in (with_limits(problem, [None] * len(problem.pools)), with_room_in_last_pools(problem)):
        plan = sound_plan(finder, lifted)
        if plan is not None and not violations(problem, plan):
            return _judged(problem, plan)
    known = Solution(Status.UNKNOWN, None, algorithm=name) if plan is None else _overflow(problem, plan)
    if known.status is Status.INFEASIBLE:
        return known
    verdict = judge(problem, effort.PROOF_OF_NO_PLAN // max(1, len(problem.buffers)))
    if verdict.impossible:
        return Solution(Status.INFEASIBLE, None, shortage=Shortage(proven=True), algorithm="exact", work=verdict.nodes)
    return known


def _overflow(problem: Problem, plan: Plan) -> Solution:
    """Find the pool that a plan needs too much of, by its proof if it has one; without limits the plan is right."""
    over = excess(problem, plan)
    claims = {pool: plan.claims[pool] for pool in over if plan.claims and _have_no_other(problem, plan, pool)}
    limits = {pool: problem.limits[pool] or 0 for pool in over}
    proven = {pool: claim - limits[pool] for pool, claim in claims.items() if claim > limits[pool]}
    missing = proven or over
    pool = max(missing, key=missing.__getitem__)
    seen = pool_bounds(problem, plan)[pool]
    return Solution(
        Status.INFEASIBLE if proven else Status.UNKNOWN,
        None,
        shortage=Shortage((pool,), limits[pool], missing[pool], seen, proven=bool(proven)),
        claim=claims[pool] if proven else 0,
        algorithm=plan.algorithm,
        work=plan.work,
    )


def _have_no_other(problem: Problem, plan: Plan, pool: int) -> bool:
    """Whether the buffers that a plan puts into a pool have no other."""
    members = (b for b, place in zip(problem.buffers, plan.allocations, strict=True) if place.pool == pool)
    return all(buffer.pools == (pool,) for buffer in members)


def _spelled_out(timeline: Timeline) -> Problem:
    """State a timeline pair by pair, for algorithms that plan nothing else."""
    pairs = count_pairs(timeline.lower, timeline.upper)
    if pairs > MOST_PAIRS:
        message = f"{pairs:,} pairs in conflict are too many for algorithms that look at pairs"
        help_ = f'at most {MOST_PAIRS:,}; "auto" without options plans any number'
        raise UsageError(Diagnostic("U211", message, help=help_))
    lives = [((start, stop),) for start, stop in zip(timeline.lower.tolist(), timeline.upper.tolist(), strict=True)]
    facts = zip(timeline.size.tolist(), timeline.alignment.tolist(), lives, strict=True)
    buffers = (Buffer(str(i), size, (0,), (), alignment, life) for i, (size, alignment, life) in enumerate(facts))
    return Problem((Pool(MEMORY, timeline.limit),), tuple(buffers), conflicts(lives))


def _solve_timeline(timeline: Timeline, capacity: int | None, progress: Progress) -> Solution:
    """Plan what is too large for pairs, by a way of its own."""
    capacity = capacity if timeline.limit is None else timeline.limit
    seen = fullest(timeline)
    if capacity is not None and seen.bytes > capacity:
        shortage = Shortage((0,), capacity, seen.bytes - capacity, seen, seen.buffers, proven=True)
        return Solution(Status.INFEASIBLE, None, shortage=shortage)
    progress(f"planning {len(timeline):,} buffers")
    offsets, peak, work = plan_timeline(timeline)
    progress("checking")
    _check_offsets(timeline, offsets)
    if capacity is not None and peak > capacity:
        shortage = Shortage((0,), capacity, peak - capacity, seen)
        return Solution(Status.UNKNOWN, None, shortage=shortage, algorithm=LARGE, work=work)
    plan = Plan(LARGE, tuple(Allocation(0, offset) for offset in offsets.tolist()), work=work)
    best = Status.OPTIMAL if peak <= seen.bytes else Status.FEASIBLE
    return Solution(best, plan, (peak,), (seen,), (0,), algorithm=LARGE, work=work)


def _check_offsets(timeline: Timeline, offsets: npt.NDArray[np.int64]) -> None:
    wrong = bool((offsets < 0).any() or (offsets % timeline.alignment).any())
    clash = next(overlaps(timeline.lower, timeline.upper, offsets, timeline.size), None)
    if wrong or clash:
        reason = f"buffers {clash[0]} and {clash[1]} overlap" if clash else "an offset is negative or not aligned"
        raise by_name.wrong_plan(f'algorithm "{LARGE}"', reason, "report this")
