"""Why nothing fits: which pool is too small, by how much, and because of which buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from usmp_build.memory.bounds import Witness, pool_bounds, required
from usmp_build.memory.plan import Plan, peaks
from usmp_build.memory.problem import Problem
from usmp_build.memory.verify import violations
from usmp_build.units import count_bytes, show_bytes

_SHOWN = 6
"""So many buffers are named in a message."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """What stands in the way of a plan."""

    pools: tuple[int, ...] = ()
    """The pools that are too small, taken together; empty when even that is not known."""
    room: int = 0
    """The bytes that they offer for the buffers of `witness`."""
    missing: int = 0
    """The bytes by which that is too little."""
    witness: Witness = field(default_factory=Witness)
    """The heaviest set of buffers there."""
    proven: bool = False
    """No plan can do with less.  Otherwise these are the figures of the best plan found."""


class Explanation(NamedTuple):
    """A shortage in words."""

    message: str
    help: str


def explain(problem: Problem, attempt: Callable[[Problem], Plan | None]) -> Shortage:
    """Find out why `attempt`, an algorithm, has no plan for the problem.

    A lower bound above a limit is a proof.  Where there is none, the algorithm plans again with pools that may
    overflow; what they overflow by is missing.
    """
    proofs = [requirement for requirement in required(problem) if requirement.missing]
    if proofs:
        worst = max(proofs, key=lambda requirement: (requirement.missing, -len(requirement.pools)))
        return Shortage(worst.pools, worst.room, worst.missing, worst.witness, proven=True)
    relaxed = _relax(problem)
    plan = attempt(relaxed)
    if plan is None or violations(relaxed, plan):
        return Shortage()
    return _overflow(problem, plan)


def put_into_words(problem: Problem, shortage: Shortage, step_names: Sequence[str] = ()) -> Explanation:
    """Word a shortage for people; `step_names[t]` says what happens at step t."""
    if not shortage.pools:
        return Explanation("no plan was found", "enlarge the pools, or try another algorithm")
    names = " and ".join(f'"{problem.pools[pool].name}"' for pool in shortage.pools)
    pools = f"pool {names}" if len(shortage.pools) == 1 else f"pools {names} together"
    message = (
        f"the buffers do not fit: {pools} ({show_bytes(shortage.room)} bytes)"
        f" {'is' if len(shortage.pools) == 1 else 'are'} {count_bytes(shortage.missing)} too small"
        f"{_at_step(shortage.witness, step_names)}: {_sizes(problem, shortage.witness)}"
    )
    either = names.replace(" and ", " or ")
    if shortage.proven:
        return Explanation(message, f"no plan needs less; enlarge {either}, or give some of these buffers another pool")
    return Explanation(
        message,
        f"so says the best plan found, which may not be the best of all; try another algorithm, or enlarge {either}",
    )


def _relax(problem: Problem) -> Problem:
    """Let every buffer find room: the pool that is the last resort of some buffer takes as much as comes."""
    last = {buffer.pools[-1] for buffer in problem.buffers}
    pools = tuple(replace(pool, limit=None) if index in last else pool for index, pool in enumerate(problem.pools))
    return replace(problem, pools=pools)


def _overflow(problem: Problem, plan: Plan) -> Shortage:
    """Find the pool that overflows most."""
    worst = Shortage()
    bounds = pool_bounds(problem, plan)
    for index, (pool, peak) in enumerate(zip(problem.pools, peaks(problem, plan), strict=True)):
        if pool.limit is not None and peak - pool.limit > worst.missing:
            worst = Shortage((index,), pool.limit, peak - pool.limit, bounds[index])
    return worst


def _at_step(witness: Witness, step_names: Sequence[str]) -> str:
    if witness.step is None:
        return ""
    name = f' "{step_names[witness.step]}"' if witness.step < len(step_names) else ""
    return f" at step {witness.step}{name}"


def _sizes(problem: Problem, witness: Witness) -> str:
    """For example "vww.t58 18,432 + vww.t60 9,216 + 3 more 1,024"."""
    buffers = [problem.buffers[index] for index in witness.buffers]
    shown = [f"{buffer.name} {show_bytes(buffer.size)}" for buffer in buffers[:_SHOWN]]
    if rest := buffers[_SHOWN:]:
        shown.append(f"{len(rest)} more {show_bytes(sum(buffer.size for buffer in rest))}")
    return " + ".join(shown)
