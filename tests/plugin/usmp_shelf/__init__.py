"""An algorithm that stacks all buffers, as if every pair of them were in conflict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from usmp_build.planner.memory import Allocation, Plan, Problem


@dataclass(frozen=True)
class Shelf:
    """Puts each buffer on top of those before it, in the first of its pools."""

    gap: int = 0
    """Bytes between two buffers, at least."""
    first: Literal["largest", "smallest"] = "largest"
    slack: float = 1.0
    """By which sizes are multiplied."""
    last: tuple[str, ...] = ()
    """Names of buffers that come last."""
    most: int | None = None
    """Bytes that may be used of each pool, beside its limit."""

    def __post_init__(self) -> None:
        if self.gap < 0:
            raise ValueError("the gap is less than nothing")

    def __call__(self, problem: Problem, /) -> Plan | None:
        tops = [0] * len(problem.pools)
        places = {}
        for index in self._order(problem):
            buffer = problem.buffers[index]
            pool = buffer.pools[0]
            offset = -(-tops[pool] // buffer.alignment) * buffer.alignment
            tops[pool] = offset + int(buffer.size * self.slack) + self.gap
            places[index] = Allocation(pool, offset)
            if any(limit is not None and tops[pool] > limit for limit in (problem.pools[pool].limit, self.most)):
                return None
        return Plan("shelf", tuple(places[index] for index in range(len(places))))

    def _order(self, problem: Problem) -> Sequence[int]:
        sign = -1 if self.first == "largest" else 1
        keys = [(buffer.name in self.last, sign * buffer.size, buffer.name) for buffer in problem.buffers]
        return sorted(range(len(keys)), key=keys.__getitem__)
