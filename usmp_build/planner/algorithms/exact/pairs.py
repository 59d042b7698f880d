"""The rule for pairs that may share bytes: one of the two is above the other, and both have room there.

    floor of i + above(i, k) + tail of k > capacity    then k is not above i, so i is above k

    floor of i >= floor of k + below(i, k)             what follows below
    tail of k  >= below(i, k) + tail of i              what follows above; at first, a tail is a buffer's own size

In a chain of buffers each of which may overlap the next, one decision thus decides the whole chain.  For pairs that
share nothing, sections imply as much.

core/rules.cpp does the same, with the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from usmp_build.planner.algorithms.exact.strip import Strip

_SWEEPS = 64
"""Most sweeps, along the timeline and back by turns: mostly the third changes nothing."""


class Pairs:
    """The pairs of one strip that may share bytes."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self.capacity = 0
        """The capacity to keep, in units."""
        sizes, fixed = strip.sizes, strip.fixed
        self._near = [
            [
                (o, above, below)
                for o, above, below in near
                if i < o and fixed[i] < 0 and fixed[o] < 0 and (above < sizes[i] or below < sizes[o])
            ]
            for i, near in enumerate(strip.neighbors)
        ]
        self.has_any = any(self._near)
        """Whether there are such pairs."""
        self._tails = [0] * len(sizes)

    def have_room(
        self, part: Sequence[int], floors: Sequence[int], placed: Sequence[bool], lift: Callable[[int, int], None]
    ) -> bool:
        """Apply the rule to the buffers of a part; `lift` raises a floor.  Return False if there is no room."""
        for index in part:
            self._tails[index] = self._strip.sizes[index]
        forward = sorted(part)
        for sweep in range(_SWEEPS):
            moved = False
            for index in reversed(forward) if sweep % 2 else forward:
                for near in self._near[index]:
                    if not placed[near[0]]:
                        changed = self._decide(index, near, floors, lift)
                        if changed is None:
                            return False
                        moved |= changed
            if not moved:
                break
        return True

    def _decide(
        self, index: int, near: tuple[int, int, int], floors: Sequence[int], lift: Callable[[int, int], None]
    ) -> bool | None:
        """Apply the rule to one pair; return whether that changed something, None when there is no room."""
        other, above, below = near
        tails = self._tails
        is_under = floors[index] + above + tails[other] <= self.capacity
        is_above = floors[other] + below + tails[index] <= self.capacity
        if is_under == is_above:
            return False if is_under else None
        lower, upper, distance = (index, other, above) if is_under else (other, index, below)
        changed = False
        if floors[lower] + distance > floors[upper]:
            lift(upper, floors[lower] + distance)
            changed = True
        if distance + tails[upper] > tails[lower]:
            tails[lower] = distance + tails[upper]
            changed = True
        return changed


def kept_off(strip: Strip) -> list[int]:
    """Return for each buffer the least distance, in units, to the start of any neighbor that is not below it."""
    return [
        max(0, min((above if below > 0 else 0 for _, above, below in near), default=size))
        for size, near in zip(strip.sizes, strip.neighbors, strict=True)
    ]
