"""Lowers the peaks of several pools: first their sum, then each, from the least preferred pool.

The search is over boxes: for each pool the fewest and the most bytes that its peak may have.  Nothing in a box is
better than its lowest corner, so it is closed when that is no better than the best plan, or when no plan is in it.
Otherwise it is cut in two across one pool, and its lower half is searched first:

    peak of b
      ^
      |   +-----------+-----------+       a plan in the box: below it, the left half may hold a better one;
      |   |           |     o     |       the right one cannot have a lower sum than its own corner
      |   |   first   |   then    |
      |   +-----------+-----------+
      +---------------------------------> peak of a
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from usmp_build.frozen import frozen
from usmp_build.planner.algorithms.exact.areas import Area, Budget, Limits

_SHARES = (16, 4)
"""Divisors of the budget that give the share of one packing: in the first pass, and in the second over open boxes."""

_Peaks = tuple[int, ...]
"""The peak of each pool in bytes, in the order of pools."""


@frozen
class _Box:
    low: _Peaks
    high: _Peaks
    tried: frozenset[int] = frozenset()
    """Pools for which the lowest peak was tried by itself: that often succeeds; otherwise the middle comes next."""


def ranked(peaks: Sequence[int]) -> tuple[int, ...]:
    """Rank peaks as `memory.plan.rank` does among equal costs."""
    return (sum(peaks), *reversed(peaks))


class Heights:
    """The search for lower peaks among the cheapest plans of areas."""

    def __init__(self, areas: Sequence[Area], limits: Limits, budget: Budget) -> None:
        self._areas = areas
        self._pools = sorted(limits)
        self._budget = budget
        self._where = [area.where for area in areas]
        self.best = self._peaks(self._where)
        """The peaks of the best plan, in the order of the pools."""
        self._sum = max(area.least_sum(self._pools) for area in areas)
        enough = sum(self.best)
        low = tuple(max(area.least_peak(pool) for area in areas) for pool in self._pools)
        most = (enough if (limit := limits[pool]) is None else limit for pool in self._pools)
        self._open = [_Box(low, tuple(most))]

    def lower(self) -> tuple[int, ...]:
        """Give the areas the best plan found; return a lower bound of the rank of all plans that cost as little."""
        for share in _SHARES:
            later: list[_Box] = []
            while self._open and self._budget.left > 0:
                box = self._within_reach(self._open.pop())
                if box is not None:
                    self._look(box, share, later)
            self._open += later
            for area in self._areas:
                area.forget_unproven()
        for area, where in zip(self._areas, self._where, strict=True):
            area.settle(where)
        return min([ranked(self.best), *map(self._least, self._open)])

    def _least(self, box: _Box) -> tuple[int, ...]:
        """Return a lower bound of the ranks in a box: its lowest corner, and the bytes that all pools need together."""
        total, *peaks = ranked(box.low)
        return (max(total, self._sum), *peaks)

    def _within_reach(self, box: _Box) -> _Box | None:
        """Reduce a box to what may be better than the best plan; None where nothing is left."""
        if self._least(box) >= ranked(self.best):
            return None
        room = sum(self.best) - sum(box.low)
        high = tuple(min(most, least + room) for least, most in zip(box.low, box.high, strict=True))
        return None if any(map(int.__lt__, high, box.low)) else replace(box, high=high)

    def _look(self, box: _Box, share: int, later: list[_Box]) -> None:
        """Search for a plan in a box, then cut the box; if the search gives up, the box is added to `later`."""
        limits = dict(zip(self._pools, box.high, strict=True))
        pools_of_areas = []
        for area in self._areas:
            where, impossible = area.within(limits, self._budget, share)
            if impossible:
                return
            if where is None:
                later.append(box)
                return
            pools_of_areas.append(where)
        peaks = self._peaks(pools_of_areas)
        if ranked(peaks) < ranked(self.best):
            self.best, self._where = peaks, pools_of_areas
        self._open += self._halves(box, peaks)

    def _halves(self, box: _Box, peaks: _Peaks) -> Iterable[_Box]:
        """Cut a box below the peaks of a plan in it, across the pool where they are farthest above the box's lowest."""
        number = max(range(len(peaks)), key=lambda pool: (peaks[pool] - box.low[pool], pool))
        least, peak = box.low[number], peaks[number]
        if peak <= least:
            return ()
        at = (least + peak - 1) // 2 if number in box.tried else least
        upper = _Box(_with(box.low, number, at + 1), box.high, box.tried | {number})
        return upper, replace(box, high=_with(box.high, number, at))

    def _peaks(self, wheres: Sequence[tuple[int, ...]]) -> _Peaks:
        peaks_by_area = [area.peaks(where, self._pools) for area, where in zip(self._areas, wheres, strict=True)]
        return tuple(map(max, zip(*peaks_by_area, strict=True)))


def _with(peaks: _Peaks, number: int, peak: int) -> _Peaks:
    return (*peaks[:number], peak, *peaks[number + 1 :])
