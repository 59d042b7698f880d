"""The least increase of one pool's limit for which an algorithm finds a plan."""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

from usmp_build.planner.memory.bounds import required
from usmp_build.planner.memory.limits import with_limits
from usmp_build.planner.memory.plan import peaks
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.trials import Trials
from usmp_build.units import MAX_BYTES, align_up


class Increase(NamedTuple):
    """An increase of a limit with which the algorithm found a plan."""

    pool: int
    bytes: int
    """How many bytes are added to its limit."""
    least: bool
    """Whether no plan was found with a byte less; False: the trials were used up before that was known."""


def least_increase(problem: Problem, pool: int, trials: Trials, at_least: int) -> Increase | None:
    """Return the least increase of a pool's limit that makes a plan; None if none was found.

    It is least as far as the trials go: bounds forbid a byte less, or the algorithm found no plan with it, which does
    not prove that there is none.  Increases below `at_least` bytes are not tried.
    """
    start = problem.pools[pool].limit
    if start is None:
        return None
    lowest = _least_possible(problem, pool, start + at_least)
    if lowest is None or not trials.left(problem):
        return None
    if trials.plan(limited(problem, pool, lowest)) is not None:
        return Increase(pool, lowest - start, least=True)
    return _search(problem, pool, trials, start, lowest) if trials.left(problem) else None


def limited(problem: Problem, pool: int, limit: int | None) -> Problem:
    """Return the problem with another limit of one pool, in bytes; None: as large as needed."""
    return with_limits(problem, (*problem.limits[:pool], limit, *problem.limits[pool + 1 :]))


def _least_possible(problem: Problem, pool: int, low: int) -> int | None:
    """Return the least limit, from `low` on, that no bound forbids."""
    if not _forbidden(problem, pool, low):
        return low
    high = low + sum(align_up(buffer.end, buffer.alignment) for buffer in problem.buffers)
    if _forbidden(problem, pool, high):
        return None
    while low < high:
        middle = (low + high) // 2
        if _forbidden(problem, pool, middle):
            low = middle + 1
        else:
            high = middle
    return high


def _forbidden(problem: Problem, pool: int, limit: int) -> bool:
    return any(requirement.missing for requirement in required(limited(problem, pool, limit)))


def _search(problem: Problem, pool: int, trials: Trials, start: int, low: int) -> Increase | None:
    """Return the least increase that made a plan in a bisection above `low`, a limit without a plan."""
    unlimited = trials.plan(limited(problem, pool, None))
    if unlimited is None:
        return None
    best = None
    limit = max(low + 1, peaks(problem, unlimited)[pool])
    while low < limit <= MAX_BYTES and trials.left(problem):
        plan = trials.plan(limited(problem, pool, limit))
        if plan is not None:
            best, peak = limit, peaks(problem, plan)[pool]
            middle = _between(start, low, best)
            limit = peak if low < peak < middle else middle
        else:
            # No plan so far, though one within this limit is known: the limit led the algorithm elsewhere.
            low, limit = limit, (2 * limit if best is None else _between(start, limit, best))
    return None if best is None else Increase(pool, best - start, least=best == low + 1)


def _between(start: int, low: int, high: int) -> int:
    """Return the middle of a range of limits: the geometric mean of its increases where they differ by more than 4."""
    less, more = low - start, high - start
    return start + (isqrt(less * more) if more > 4 * less else (less + more) // 2)
