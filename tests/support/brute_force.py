"""The best plan of a tiny problem, by trying every placement."""

from collections.abc import Iterator, Mapping
from itertools import product
from math import lcm

from usmp_build.planner.memory.problem import Problem


class Truth:
    """What is best, by trying everything.

    Buffers in different pools have nothing to do with each other, so all ways to share out the buffers are tried, and
    for those of one pool all offsets.
    """

    def __init__(self, stated: Problem) -> None:
        self.stated = stated
        self._least: dict[tuple[int, ...], int | None] = {(): 0}

    def best(self) -> tuple[int, ...] | None:
        """Return the `quality` of the best plan; None when there is none."""
        shares = list(product(*(buffer.pools for buffer in self.stated.buffers)))
        costs = [sum(b.cost_in(pool) for b, pool in zip(self.stated.buffers, share, strict=True)) for share in shares]
        best: tuple[int, ...] | None = None
        for cost, share in sorted(zip(costs, shares, strict=True)):
            if best is not None and cost > best[0]:
                break
            needed = self._needed(share)
            ranked = (cost, sum(needed), *reversed(needed)) if needed is not None else None
            if ranked is not None and (best is None or ranked < best):
                best = ranked
        return best

    def _needed(self, share: tuple[int, ...]) -> list[int] | None:
        """Return the least peaks, when the buffers are in these pools; None when a limit is too low."""
        least_bytes = []
        for number, pool in enumerate(self.stated.pools):
            least = self.least_peak(tuple(i for i, chosen in enumerate(share) if chosen == number))
            if least is None or (pool.limit is not None and least > pool.limit):
                return None
            least_bytes.append(least)
        return least_bytes

    def least_peak(self, members: tuple[int, ...]) -> int | None:
        """Return the fewest bytes that hold these buffers; None when even a pool without limit does not."""
        if members not in self._least:
            fewer = self.least_peak(members[:-1])  # are no higher
            heights = range(fewer, self._enough(members) + 1) if fewer is not None else range(0)
            possible = bool(heights) and self._fits(members, heights[-1])
            self._least[members] = next(h for h in heights if self._fits(members, h)) if possible else None
        return self._least[members]

    def _enough(self, members: tuple[int, ...]) -> int:
        """Return a height in which these buffers have room if they have any.

        Of a higher placement take the lowest gap between two starts that is above all fixed buffers and wider than
        every buffer plus a common multiple of the alignments: all above it could move down by that multiple.
        """
        known = [self.stated.buffers[index] for index in members]
        gap = max(b.size for b in known) + lcm(*(b.alignment for b in known))
        return max((b.offset or 0) for b in known) + (len(known) + 1) * gap

    def _fits(self, members: tuple[int, ...], height: int) -> bool:
        """Tell whether these buffers have offsets below this height."""
        free = {}
        for index in members:
            b = self.stated.buffers[index]
            ends = range(height - b.size + 1)
            offsets = ends[:: b.alignment] if b.offset is None else [o for o in ends if o == b.offset]
            free[index] = sum(1 << o for o in offsets if o % b.alignment == 0)
        return self._can_be_placed(free)

    def _can_be_placed(self, free: Mapping[int, int]) -> bool:
        """Try all offsets of one buffer after the other; bit o of `free[i]` says that i may still be at o."""
        if not free:
            return True
        first = min(free, key=lambda index: free[index].bit_count())
        return any(
            all(others.values()) and self._can_be_placed(others)
            for offset in bits(free[first])
            for others in [{i: offsets & ~self._taken(first, offset, i) for i, offsets in free.items() if i != first}]
        )

    def _taken(self, placed: int, offset: int, other: int) -> int:
        """Return as bits the offsets that another buffer may not have now."""
        if other not in self.stated.conflicts[placed]:
            return 0
        lowest = max(0, offset - self.stated.separation(other, placed) + 1)
        highest = offset + self.stated.separation(placed, other) - 1
        return (1 << highest + 1) - (1 << lowest) if lowest <= highest else 0


def bits(number: int) -> Iterator[int]:
    """Yield the places of the bits that are 1, the lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
