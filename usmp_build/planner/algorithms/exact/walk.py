"""One walk through the search tree: place a buffer as low as it can be, or have it undercut.

The state is a floor for every buffer, a lower bound of its offset.  A choice takes one buffer c, and branches:

    left    c is at its floor, and every neighbor that is not placed yet starts above it
    right   c is undercut: some neighbor starts lower than c at its floor would let it, so c has a *hole*: it cannot be
            chosen again before such a neighbor is placed

        left       ________              right    _________
                  |___d____|                     |____c____|
               _________                             ________
              |____c____|                         : |___d____|
    floor ----+---------+-------------------------+------------
    of c                                        hole

This is complete: take a plan that fits and whose offsets have the least sum.  If no unplaced neighbor starts lower than
c at its floor lets it, c itself is at its floor, or it could be moved there and the sum would be less.  So each plan of
that kind is in exactly one branch, whichever buffer is chosen, and any rule may choose.  For the same reason, a
neighbor that would have fitted under c, but now goes above it, leaves a hole.  "Above" is meant as separations have it:
where they are 0 or less, a buffer that is above may start lower.

Four rules propagate a state, until nothing changes:

    holes      some neighbor must be able to fill every hole, and its owner starts after the earliest end of these
    lowest     a buffer that cannot be the lowest of a section, as the rest would not fit above it, is above another
    pairs      of two that may share bytes, one is above the other, and has room there (`pairs`)
    sections   in every section and for every offset, what starts at or above it must fit between it and the capacity

This is for strips that are `ordered`; `precedence` searches the others.  core/{walk,rules}.cpp get the same results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate
from operator import sub

from usmp_build.planner.algorithms.exact.pairs import Pairs, kept_off
from usmp_build.planner.algorithms.exact.strip import Strip

_NONE = -1
_INFINITE = 1 << 61
_ROUNDS = 4
"""Most rounds of the rules in one node: more find little."""


class Status(Enum):
    """The result of a search."""

    FITS = 0
    IMPOSSIBLE = 1
    UNKNOWN = 2


@dataclass(frozen=True, slots=True)
class Arm:
    """How a walk chooses the buffer to branch on."""

    fail_first: bool
    """Whether to choose from the section with the fewest candidates for its lowest buffer, divided by how often it had
    no room; False: the buffer with the lowest floor."""
    ranks: Sequence[int]
    """The rank of each buffer; less is earlier."""


@dataclass(slots=True)
class _Frame:
    """A choice, whose other branch may be open; or, without a buffer, parts to be solved one after another."""

    buffer: int
    mark: int
    part: list[int] = field(default_factory=list)
    other_branch: bool = False
    parts: list[list[int]] = field(default_factory=list)


class Walk:
    """Walks of one strip; what they learn about sections is kept from one to the next, whatever their capacity."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._capacity = 0
        count = len(strip.sizes)
        self._forbidden = [sorted(_forbidden(strip, index)) for index in range(count)]
        self._weights = [1] * strip.sections
        self._hull = [(spans[0][0], spans[-1][1]) for spans in strip.spans]
        self.floors = [0] * count
        self._holes = [_NONE] * count
        self._placed = [False] * count
        self._trail: list[tuple[int, int, int, bool]] = []
        self._frames: list[_Frame] = []
        self._current: list[int] = []
        self._first = self._last = 0
        self._loads = [0] * strip.sections
        self._spare = [0] * strip.sections
        self._pairs = Pairs(strip)
        self._kept_off = kept_off(strip) if self._pairs.has_any else None
        self.nodes = 0

    def run(self, capacity: int, arm: Arm, nodes: int) -> Status:
        """Walk from the root; give up after `nodes` nodes."""
        self._capacity = self._pairs.capacity = capacity
        self._arm = arm
        self.nodes = 0
        self._reset()
        going = self._enter([index for index, fixed in enumerate(self._strip.fixed) if fixed < 0])
        while going and self._current:
            if self.nodes == nodes:
                return Status.UNKNOWN
            self.nodes += 1
            going = self._branch(self._current)
        return Status.FITS if going else Status.IMPOSSIBLE

    def _reset(self) -> None:
        self._trail.clear()
        self._frames.clear()
        for index, fixed in enumerate(self._strip.fixed):
            self._holes[index] = _NONE
            self._placed[index] = fixed >= 0
            self.floors[index] = fixed if fixed >= 0 else self.lift(index, 0)

    # ---------------------------------------------------------------------------------------------- the tree

    def _enter(self, part: list[int]) -> bool:
        """Continue with these buffers, or, when there are none, with the next part to be solved."""
        while True:
            if part:
                parts = self._split(part)
                if len(parts) == 1:
                    self._current = part
                    return True
                parts.reverse()
                self._frames.append(_Frame(_NONE, len(self._trail), parts=parts))
            elif not self._frames:
                self._current = []
                return True
            elif self._frames[-1].buffer >= 0:
                self._frames.pop()  # this choice is part of a solution
                continue
            if not self._frames[-1].parts:
                self._frames.pop()
                part = []
            else:
                part = self._frames[-1].parts.pop()

    def _split(self, part: list[int]) -> list[list[int]]:
        """Split where no buffer is on both sides: buffers left and right of it never conflict."""
        if not self._strip.linear:
            return [part]
        first = min(self._hull[index][0] for index in part)
        last = max(self._hull[index][1] for index in part)
        across = [0] * (last - first + 1)
        for index in part:
            across[self._hull[index][0] - first] += 1
            across[self._hull[index][1] - first] -= 1
        numbers, number, running = [], 0, 0
        for change in across:
            numbers.append(number)
            running += change
            number += running == 0
        parts: dict[int, list[int]] = {}
        for index in part:
            parts.setdefault(numbers[self._hull[index][0] - first], []).append(index)
        return [parts[number] for number in sorted(parts)]

    def _branch(self, part: list[int]) -> bool:
        """Visit a node: propagate, choose, and take the left branch."""
        if not self._propagate(part):
            return self._fail()
        chosen = self._choose(part)
        if chosen < 0:
            return self._fail()
        can_be_undercut = any(not self._placed[other] for other, _, _ in self._strip.neighbors[chosen])
        self._frames.append(_Frame(chosen, len(self._trail), part, other_branch=can_be_undercut))
        self._place(chosen)
        return self._enter([index for index in part if index != chosen])

    def _fail(self) -> bool:
        """Backtrack to the last choice whose other branch is open, and take it; return whether there was one."""
        while self._frames:
            frame = self._frames[-1]
            self._undo(frame.mark)
            if frame.buffer >= 0 and frame.other_branch:
                frame.other_branch = False
                self._save(frame.buffer)
                self._holes[frame.buffer] = self.floors[frame.buffer]
                self._current = list(frame.part)
                return True
            self._frames.pop()
        return False

    def _place(self, chosen: int) -> None:
        """Put a buffer at its floor, and every unplaced neighbor above it."""
        self._save(chosen)
        self._placed[chosen] = True
        offset = self.floors[chosen]
        for other, above, below in self._strip.neighbors[chosen]:
            if self._placed[other]:
                continue
            filled = self._holes[other] >= 0 and offset < self._holes[other] + below
            under = self._holes[other] < 0 and self.floors[other] + below <= offset
            floor = self.floors[other]
            if filled or under or floor < offset + above:
                self._save(other)
                if filled:
                    self._holes[other] = _NONE
                elif under:
                    self._holes[other] = floor
                if floor < offset + above:
                    self.floors[other] = self.lift(other, offset + above)

    # ---------------------------------------------------------------------------------------------- inference

    def _propagate(self, part: list[int]) -> bool:
        """Apply the rules; return False if the state has no plan.  Leaves `part` sorted, the highest floor first."""
        self._load(part)
        for round_ in range(_ROUNDS):
            before = len(self._trail)
            if not self._holes_can_be_filled(part):
                return False
            if self._arm.fail_first and not self._raise_those_not_lowest(part):
                return False
            if self._pairs.has_any and not self._pairs.have_room(part, self.floors, self._placed, self._raise):
                return False
            changed = len(self._trail) > before
            if (round_ == 0 or changed) and not self._sections_have_room(part):
                return False
            if not changed:
                return True
        return True

    def _load(self, part: list[int]) -> None:
        """Sum up the units to be placed in each section of the part, less those that its topmost buffer can spare.

        A buffer takes more units than its size where alignment makes the next one start later; the topmost has none.
        """
        self._first = min(self._hull[index][0] for index in part)
        self._last = max(self._hull[index][1] for index in part)
        changes, spares = [0] * (self._last + 2), [0] * (self._last + 1)
        for index in part:
            for first, last, units in self._strip.spans[index]:
                changes[first] += units
                changes[last + 1] -= units
                spare = units - self._strip.sizes[index]
                for section in range(first, last + 1) if spare > 0 else ():
                    spares[section] = max(spares[section], spare)
        self._spare[: self._last + 1] = spares
        self._loads[: self._last + 1] = map(sub, accumulate(changes[:-1]), spares)

    def _holes_can_be_filled(self, part: list[int]) -> bool:
        for index in part:
            hole = self._holes[index]
            if hole < 0:
                continue
            earliest = _INFINITE
            for other, above, below in self._strip.neighbors[index]:
                if not self._placed[other] and self.floors[other] < hole + above:
                    earliest = min(earliest, self.floors[other] + below)
            if earliest == _INFINITE:
                return False
            if earliest > self.floors[index]:
                self._raise(index, earliest)
        return True

    def _raise_those_not_lowest(self, part: list[int]) -> bool:
        """Raise buffers that cannot be the lowest of a section to the earliest end of the others."""
        least, second, owner = self._earliest_ends(part)
        for index in part:
            floor = self.floors[index]
            new_floor = floor
            for first, last, _ in self._strip.spans[index]:
                for section in range(first, last + 1):
                    if floor + self._loads[section] > self._capacity:
                        new_floor = max(new_floor, second[section] if owner[section] == index else least[section])
            if new_floor == _INFINITE:
                return False
            if new_floor > floor:
                self._raise(index, new_floor)
        return True

    def _earliest_ends(self, part: list[int]) -> tuple[list[int], list[int], list[int]]:
        """Return for each section the earliest end of a buffer, the second earliest, and the owner of the earliest."""
        count = self._last + 1
        least, second, owner = [_INFINITE] * count, [_INFINITE] * count, [_NONE] * count
        for index in part:
            for first, last, units in self._strip.spans[index]:
                end = self.floors[index] + (self._kept_off[index] if self._kept_off else units)
                for section in range(first, last + 1):
                    if end < least[section]:
                        second[section], least[section], owner[section] = least[section], end, index
                    elif end < second[section]:
                        second[section] = end
        return least, second, owner

    def _sections_have_room(self, part: list[int]) -> bool:
        """Pile up every section from the highest floor downwards; sections that overflow gain weight."""
        part.sort(key=self.floors.__getitem__, reverse=True)
        pile, top = [0] * (self._last + 1), [0] * (self._last + 1)
        for index in part:
            floor = self.floors[index]
            if floor + self._strip.sizes[index] > self._capacity:
                top[self._hull[index][0]] = _INFINITE
            for first, last, units in self._strip.spans[index]:
                for section in range(first, last + 1):
                    pile[section] += units
                    if pile[section] + floor > top[section]:
                        top[section] = pile[section] + floor
        room = True
        for section in range(self._first, self._last + 1):
            if top[section] > self._capacity + self._spare[section]:
                self._weights[section] += 1
                room = False
        return room

    # ---------------------------------------------------------------------------------------------- choice

    def _choose(self, part: list[int]) -> int:
        """Return a buffer without a hole; -1 when there is none."""
        section = self._tightest_section(part) if self._arm.fail_first else _NONE
        if section < 0:
            return self._walk_down(self._choose_lowest(part))
        chosen = _NONE
        for index in part:
            here = any(first <= section <= last for first, last, _ in self._strip.spans[index])
            if here and self._holes[index] < 0 and self.floors[index] + self._loads[section] <= self._capacity:
                chosen = index if chosen < 0 or self._earlier(index, chosen) else chosen
        return self._walk_down(chosen)

    def _walk_down(self, chosen: int) -> int:
        """Descend to neighbors with lower floors; where bytes may be shared, that can be below at their floor."""
        while chosen >= 0:
            lower = _NONE
            for other, _, below in self._strip.neighbors[chosen]:
                free = not self._placed[other] and self._holes[other] < 0
                is_lower = self.floors[other] + (below if self._kept_off else 1) <= self.floors[chosen]
                if free and is_lower and (lower < 0 or self._earlier(other, lower)):
                    lower = other
            if lower < 0:
                break
            chosen = lower
        return chosen

    def _choose_lowest(self, part: list[int]) -> int:
        chosen = _NONE
        for index in part:
            if self._holes[index] < 0 and (chosen < 0 or self._earlier(index, chosen)):
                chosen = index
        return chosen

    def _tightest_section(self, part: list[int]) -> int:
        """Return the section with the fewest candidates for its lowest buffer per weight; -1 if there is none."""
        counts = [0] * (self._last + 1)
        for index in part:
            if self._holes[index] < 0:
                for first, last, _ in self._strip.spans[index]:
                    for section in range(first, last + 1):
                        counts[section] += self.floors[index] + self._loads[section] <= self._capacity
        best = _NONE
        weights = self._weights
        for section in range(self._first, self._last + 1):
            tight = best < 0 or counts[section] * weights[best] < counts[best] * weights[section]
            if counts[section] and tight:
                best = section
        return best

    def _earlier(self, one: int, other: int) -> bool:
        ranks = self._arm.ranks
        return (self.floors[one], ranks[one]) < (self.floors[other], ranks[other])

    # ---------------------------------------------------------------------------------------------- state

    def lift(self, index: int, offset: int) -> int:
        """Return the least offset from `offset` on that is aligned, and clear of neighbors with fixed offsets."""
        alignment = self._strip.alignments[index]
        while True:
            offset = -(-offset // alignment) * alignment
            clear = max((stop for start, stop in self._forbidden[index] if start < offset < stop), default=offset)
            if clear == offset:
                return offset
            offset = clear

    def _save(self, index: int) -> None:
        self._trail.append((index, self.floors[index], self._holes[index], self._placed[index]))

    def _raise(self, index: int, floor: int) -> None:
        self._save(index)
        self.floors[index] = self.lift(index, floor)

    def _undo(self, mark: int) -> None:
        while len(self._trail) > mark:
            index, floor, hole, placed = self._trail.pop()
            self.floors[index], self._holes[index], self._placed[index] = floor, hole, placed


def _forbidden(strip: Strip, index: int) -> list[tuple[int, int]]:
    """Return the open intervals of offsets that neighbors with fixed offsets rule out."""
    neighbors = ((strip.fixed[other], above, below) for other, above, below in strip.neighbors[index])
    return [(at - above, at + below) for at, above, below in neighbors if at >= 0]
