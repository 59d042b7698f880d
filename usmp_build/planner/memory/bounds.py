"""Lower bounds that hold for every plan: of the peaks of pools, and of the limits that pools need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.pressure import Witness, pressure
from usmp_build.planner.memory.problem import Problem

__all__ = ["Requirement", "Witness", "confined", "pool_bound", "pool_bounds", "pressure", "required", "unmet"]


@frozen
class Requirement:
    """A lower bound for a set of pools: the buffers of `witness` can be nowhere else."""

    pools: tuple[int, ...]
    """Ascending."""
    witness: Witness
    room: int
    """Bytes that these pools have for them."""

    @property
    def missing(self) -> int:
        """Bytes by which the pools are too small for any plan; 0 if that is not proven."""
        return max(0, self.witness.bytes - self.room)


def pool_bounds(problem: Problem, plan: Plan) -> tuple[Witness, ...]:
    """Bound the peak of each pool from below, given which buffers the plan puts there."""
    members: list[list[int]] = [[] for _ in problem.pools]
    for index, place in enumerate(plan.allocations):
        members[place.pool].append(index)
    return tuple(pool_bound(problem, inside) for inside in members)


def pool_bound(problem: Problem, members: Iterable[int]) -> Witness:
    """Bound the peak of a pool that holds these buffers: by their pressure, and by where fixed buffers end."""
    inside = sorted(members, key=lambda index: problem.buffers[index].name)
    fixed = (_alone(problem, index) for index in inside if problem.buffers[index].offset is not None)
    return max((pressure(problem, inside), *fixed), key=lambda witness: witness.bytes)


def required(problem: Problem) -> tuple[Requirement, ...]:
    """Return what every plan must meet: `witness.bytes <= room`, for buffers and sets of pools with limits."""
    limits = problem.limits
    reach = [frozenset(buffer.pools_within(limits)) for buffer in problem.buffers]
    return (*_too_large(problem, reach), *_crowded(problem, reach))


def unmet(problem: Problem) -> list[Requirement]:
    """Return the requirements that no plan can meet: most missing bytes first, then fewest pools."""
    requirements = [requirement for requirement in required(problem) if requirement.missing]
    return sorted(requirements, key=lambda requirement: (-requirement.missing, len(requirement.pools)))


def confined(problem: Problem, pools: Iterable[int]) -> list[int]:
    """Return the buffers that fit only in these pools: all others are no candidates, or too small for them."""
    inside = frozenset(pools)
    limits = problem.limits
    candidates = (frozenset(buffer.pools_within(limits) or buffer.pools) for buffer in problem.buffers)
    return [index for index, pools_of_buffer in enumerate(candidates) if pools_of_buffer <= inside]


def _alone(problem: Problem, index: int) -> Witness:
    buffer = problem.buffers[index]
    return Witness(buffer.end, (index,), buffer.intervals[0][0] if buffer.intervals else None)


def _too_large(problem: Problem, reach: Sequence[frozenset[int]]) -> Iterator[Requirement]:
    for index, buffer in enumerate(problem.buffers):
        if not reach[index]:
            room, pool = max((problem.pools[pool].limit or 0, -pool) for pool in buffer.pools)
            yield Requirement((-pool,), _alone(problem, index), room)


def _crowded(problem: Problem, reach: Sequence[frozenset[int]]) -> Iterator[Requirement]:
    """Yield a requirement for each set of limited pools: buffers that fit nowhere else must share its bytes."""
    candidates = [fitting or frozenset(buffer.pools) for fitting, buffer in zip(reach, problem.buffers, strict=True)]
    for pools in _unions(set(candidates)):
        limits = [limit for pool in pools if (limit := problem.pools[pool].limit) is not None]
        if len(limits) == len(pools):
            members = [index for index, candidates_ in enumerate(candidates) if candidates_ <= pools]
            yield Requirement(tuple(sorted(pools)), pressure(problem, members, len(pools)), sum(limits))


def _unions(families: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return all unions of the given sets, or only the sets themselves when they are too many; in a fixed order."""
    distinct = sorted(families, key=sorted)
    count = len(distinct) if len(distinct) <= effort.POOL_UNIONS else 1
    selections = chain.from_iterable(combinations(distinct, size) for size in range(1, count + 1))
    return sorted({frozenset[int]().union(*selection) for selection in selections}, key=sorted)
