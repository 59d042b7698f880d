"""Places buffers as they are born, and moves others out of the way where that makes room.

    capacity  +-----------+------------+
              |     c     |     c      |       Before step 2, b moves down: so there is room for d, which fits into
              +--+--------+------------+       neither of the gaps of 40 and 60 bytes.
              |  |  gap   |            |
              +--+--------+     d      |
              |     b     |            |
              +--+--------+------------+
              |  |  gap   |     b      |
    0         +--+--------+------------+----> step
                          2

A buffer goes to the narrowest gap that it fits into.  Where there is none, the cheapest of these makes room: two
neighbors anywhere push each other, and those behind them, apart; or what is in some place goes into other gaps.  The
cost is the bytes that move.  So a plan needs little more than what is alive at the fullest step, which no plan of
fixed places may reach.  `core/moving.cpp` does it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.core import Numbers, Object, call, numbers, triples
from usmp_build.planner.algorithms.first_fit import columns
from usmp_build.planner.memory.pressure import pressure
from usmp_build.planner.memory.problem import Problem

_FREE = Fraction(0)
_RULES = 3
"""Of where a buffer goes if there are several gaps that it fits into, as in core/moving.h."""


class Relocation(NamedTuple):
    """Before a step, a buffer goes to another offset."""

    step: int
    buffer: int
    offset: int


@frozen
class Movement:
    """The offset at which each buffer is born, and the moves, in the order in which they are made."""

    offsets: tuple[int, ...]
    moves: tuple[Relocation, ...]
    height: int
    """Where the highest buffer ends."""
    bytes: int
    """What all moves move."""

    def cost(self, price: Fraction) -> Fraction:
        """Return the height, where each byte that moves counts as `price` bytes."""
        return self.height + price * self.bytes


def moving(
    problem: Problem, movable: Collection[int], free: Sequence[bool], top: int, price: Fraction = _FREE
) -> Movement | None:
    """Return places in one pool that end below `top`, with moves of the `movable` buffers; None if none are found.

    All buffers conflict that are alive at the same step, and no others.  `free` are the steps before which buffers may
    move.  Of those found, the best is the lowest where each byte that moves counts as `price` bytes of height.
    """
    buffers = problem.buffers
    order = sorted(range(len(buffers)), key=lambda i: (buffers[i].intervals[0][0], -buffers[i].size, i))
    core = _core(problem, order, movable, free)
    best: Movement | None = None
    low, limit, visits = pressure(problem, range(len(buffers))).bytes, top, numbers([effort.MOVE_VISITS])
    while low < top and visits[0] > 0:
        capacity = (low + top - 1) // 2
        tried = [_within(core, capacity, rule, visits, order, problem) for rule in range(_RULES)]
        movements = [each for each in tried if each is not None]
        if not movements:
            low = capacity + 1
        else:
            top = min(each.height for each in movements)
            best = min([*movements, *([best] if best else [])], key=lambda each: each.cost(price))
    return best if best is not None and best.cost(price) < limit else None


def _core(problem: Problem, order: Sequence[int], movable: Collection[int], free: Sequence[bool]) -> Object:
    """Return the problem as the core takes it: its buffers numbered in this order."""
    buffers = [problem.buffers[index] for index in order]
    places = {index: at for at, index in enumerate(order)}
    near: list[list[tuple[int, int, int]]] = [[] for _ in order]
    for pair in {(min(pair), max(pair)) for pair in problem.separations}:
        one, other = sorted(places[index] for index in pair)
        above, below = (problem.separation(order[a], order[b]) for a, b in ((other, one), (one, other)))
        near[other].append((one, above, below))
    sizes, alignments, _ = columns(buffers)
    first = numbers(buffer.intervals[0][0] for buffer in buffers)
    last = numbers(buffer.intervals[-1][1] - 1 for buffer in buffers)
    may_move = numbers(index in movable for index in order)
    steps = numbers(map(int, free))
    return Object("moving", len(order), sizes, alignments, first, last, may_move, *triples(near), len(free), steps)


def _within(
    core: Object, capacity: int, rule: int, visits: Numbers, order: Sequence[int], problem: Problem
) -> Movement | None:
    offsets, moves = numbers([0] * len(order)), numbers([0] * 3 * effort.MOVES)
    count = call("moving_within", core, capacity, rule, visits, offsets, effort.MOVES, moves)
    if count < 0:
        return None
    at = dict(zip(order, offsets, strict=True))
    made = [Relocation(moves[3 * i], order[moves[3 * i + 1]], moves[3 * i + 2]) for i in range(count)]
    ends = [at[i] + buffer.size for i, buffer in enumerate(problem.buffers)]
    ends += [move.offset + problem.buffers[move.buffer].size for move in made]
    moved = sum(problem.buffers[move.buffer].size for move in made)
    return Movement(tuple(at[i] for i in range(len(order))), tuple(made), max(ends), moved)
