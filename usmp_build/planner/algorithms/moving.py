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
fixed places may reach.  `core/moving.cpp` does it, along time and against it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.core import Numbers, Object, call, numbers
from usmp_build.planner.algorithms.first_fit import columns
from usmp_build.planner.algorithms.near import near
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
    ways = [_Way(problem, movable, free, is_mirrored=each) for each in (False, True)]
    best: Movement | None = None
    low, limit, visits = pressure(problem, range(len(problem.buffers))).bytes, top, numbers([effort.MOVE_VISITS])
    while low < top and visits[0] > 0:
        capacity = (low + top - 1) // 2
        tried = [way.within(capacity, rule, visits) for way in ways for rule in range(_RULES)]
        movements = [each for each in tried if each is not None]
        if not movements:
            low = capacity + 1
        else:
            top = min(each.height for each in movements)
            best = min([*movements, *([best] if best else [])], key=lambda each: each.cost(price))
    return best if best is not None and best.cost(price) < limit else None


class _Way:
    """One way along time: from the first step on, or mirrored, where buffers are born when they die.

    In a mirrored plan, each move goes back to where the buffer comes from, before the step that is its mirror.
    """

    def __init__(self, problem: Problem, movable: Collection[int], free: Sequence[bool], *, is_mirrored: bool) -> None:
        self._sizes = [buffer.size for buffer in problem.buffers]
        self._is_mirrored, self._steps = is_mirrored, len(free)
        lives = [(buffer.intervals[0][0], buffer.intervals[-1][1] - 1) for buffer in problem.buffers]
        if is_mirrored:
            lives = [(len(free) - 1 - last, len(free) - 1 - first) for first, last in lives]
            free = [False, *reversed(free[1:])]
        self._order = sorted(range(len(lives)), key=lambda i: (lives[i][0], -self._sizes[i], i))
        sizes, alignments, _ = columns([problem.buffers[index] for index in self._order])
        first, last = (numbers(lives[index][end] for index in self._order) for end in (0, 1))
        may_move = numbers(index in movable for index in self._order)
        pairs = near(problem, self._order)
        pairs = pairs.where((pairs.others < pairs.ones) & pairs.overlap(np.array(sizes, np.int64)))
        columns_ = (sizes, alignments, first, last, may_move, *pairs.triples)
        self._core = Object("moving", len(lives), *columns_, len(free), numbers(map(int, free)))

    def within(self, capacity: int, rule: int, visits: Numbers) -> Movement | None:
        """Return places within a capacity, by this rule; None if none are found with the visits that are left."""
        births, moves = numbers([0] * len(self._order)), numbers([0] * 3 * effort.MOVES)
        count = call("moving_within", self._core, capacity, rule, visits, births, effort.MOVES, moves)
        if count < 0:
            return None
        offsets = dict(zip(self._order, births, strict=True))
        made = [Relocation(moves[3 * i], self._order[moves[3 * i + 1]], moves[3 * i + 2]) for i in range(count)]
        heights = [offset + self._sizes[index] for index, offset in offsets.items()]
        heights += [move.offset + self._sizes[move.buffer] for move in made]
        if self._is_mirrored:
            for i, (step, index, offset) in enumerate(made):
                made[i], offsets[index] = Relocation(self._steps - step, index, offsets[index]), offset
            made.reverse()
        moved = sum(self._sizes[move.buffer] for move in made)
        return Movement(tuple(offsets[i] for i in range(len(offsets))), tuple(made), max(heights), moved)
