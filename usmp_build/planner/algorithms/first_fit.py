"""First fit: places buffers one after another, each at the least offset that those before it leave free.

A conflict with a buffer that is already placed forbids an open interval of offsets.  The least offset outside all of
them is at the start of the pool or at the end of an interval, so gaps are filled:

    0        |<- interval ->|        |<- interval ->|
    +--------(//////////////)--------(//////////////)-------> offset
    ^ first candidate       ^ second                ^ third

Buffers with a fixed offset come before all others, whatever the order says: the others go around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.core import NO_LIMIT, NO_PLACE, Numbers, Object, call, numbers, rows
from usmp_build.planner.algorithms.near import near
from usmp_build.planner.memory.clique import clique_of, cliques
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.problem import Buffer, Problem

_NONE_PLACED: Mapping[int, Allocation] = MappingProxyType({})

_NO_CLIQUE = -1
_NOT_PLACED = Allocation(-1, 0)


@frozen
class Attempt:
    """The result of first fit, complete or not."""

    placed: Mapping[int, Allocation]
    """Index of a buffer → its place, in the order in which they were placed."""
    stuck: int | None = None
    """The first buffer that found no room in any of its pools; None when all did."""

    def plan(self, algorithm: str) -> Plan | None:
        """Return the places of all buffers of a problem as a plan; None when one is stuck."""
        if self.stuck is not None:
            return None
        return Plan(algorithm, tuple(self.placed[index] for index in range(len(self.placed))))


def columns(buffers: Sequence[Buffer]) -> tuple[Numbers, Numbers, Numbers]:
    """Return sizes, alignments and fixed offsets for the core."""
    return (
        numbers(buffer.size for buffer in buffers),
        numbers(buffer.alignment for buffer in buffers),
        numbers(NO_PLACE if buffer.offset is None else buffer.offset for buffer in buffers),
    )


class FirstFit:
    """First fit of some buffers, in one order after another; `core/first_fit.cpp` does it.

    Raises UsmpError where offsets may reach 2^62 bytes.
    """

    def __init__(self, problem: Problem, members: Iterable[int]) -> None:
        self._problem = problem
        self._positions = {index: position for position, index in enumerate(dict.fromkeys(members))}
        pairs = near(problem, [*self._positions], only_listed=True)
        buffers = [problem.buffers[index] for index in self._positions]
        ids = {id(clique): number for number, clique in enumerate(cliques(problem))}
        own = numbers(ids.get(id(clique_of(problem, index)), _NO_CLIQUE) for index in self._positions)
        pools = rows([buffer.pools for buffer in buffers])
        limits = numbers(NO_LIMIT if limit is None else min(limit, NO_LIMIT) for limit in problem.limits)
        columns_ = (*columns(buffers), own, *pairs.triples, *pools)
        self._fit = Object("first_fit", len(buffers), *columns_, len(limits), limits)

    def __call__(
        self, order: Iterable[int], placed: Mapping[int, Allocation] = _NONE_PLACED, *, overflow: bool = False
    ) -> Attempt:
        """Place buffers in the given order, those with fixed offsets first; each goes to its first pool that has room.

        The buffers of `placed` are placed already, below 2^62 bytes.  With `overflow`, limits may be exceeded: where no
        pool has room, the buffer goes to the one whose limit it exceeds least, and only a fixed one that overlaps
        another is stuck.
        """
        fixed_first = sorted(order, key=lambda index: self._problem.buffers[index].offset is None)
        at = self._positions
        places = [placed.get(index, _NOT_PLACED) for index in at]
        pools, offsets = numbers(place.pool for place in places), numbers(place.offset for place in places)
        positions = numbers(at[index] for index in fixed_first)
        done = call("first_fit_place", self._fit, len(positions), positions, int(overflow), len(at), pools, offsets)
        fitted = {index: Allocation(pools[at[index]], offsets[at[index]]) for index in fixed_first[:done]}
        return Attempt({**placed, **fitted}, stuck=fixed_first[done] if done < len(fixed_first) else None)


def first_fit(
    problem: Problem,
    order: Iterable[int],
    placed: Mapping[int, Allocation] = _NONE_PLACED,
    *,
    overflow: bool = False,
) -> Attempt:
    """Place buffers in one order, as `FirstFit` does."""
    listed = list(order)
    return FirstFit(problem, [*placed, *listed])(listed, placed, overflow=overflow)
