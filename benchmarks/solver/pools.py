"""Two pools: how many useful bytes the fast one gets, and how many any plan could give it.

The buffers of an instance share a fast pool of half the bytes that are alive at the fullest step, and a slow one
without a limit.  A byte of a buffer is used 1 to 10 times, drawn at random; to be in the slow pool costs the buffer as
much as all its bytes are used.  What is saved is useful.

"USMP" is its rule: buffers by size, each to the first pool that has room (and, unlike USMP, into gaps).
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from benchmarks.solver.instances import Instance
from usmp_build.planner.algorithms.exact.pools import judge
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.planner.algorithms.portfolio import portfolio
from usmp_build.planner.memory import Buffer, Plan, Pool, Problem
from usmp_build.planner.memory.alive import conflicts
from usmp_build.planner.memory.plan import quality
from usmp_build.planner.memory.verify import violations


@dataclass(frozen=True, slots=True)
class Shared:
    """What was found out about an instance in two pools."""

    name: str
    seed: int
    bound: int
    """Useful bytes that no plan exceeds: proven."""
    ours: int
    """Useful bytes of the exact algorithm."""
    usmp: int
    """Useful bytes of USMP's rule."""
    work: int
    seconds: float
    """Of one processor."""


def measure(instance: Instance, seed: int, nodes: int) -> Shared:
    """Plan one problem."""
    problem = shared(instance, seed)
    begun = time.process_time()
    verdict = judge(problem, nodes, portfolio(problem))
    seconds = time.process_time() - begun
    assert verdict.places is not None, "the slow pool has no limit"
    ours = Plan("exact", tuple(verdict.places[index] for index in range(len(problem.buffers))))
    usmp = GreedyBySize()(problem)
    assert usmp is not None
    assert not violations(problem, ours)
    most = sum(max(buffer.costs) for buffer in problem.buffers)
    useful = [most - quality(problem, plan)[0] for plan in (ours, usmp)]
    return Shared(instance.name, seed, most - verdict.cost, *useful, verdict.nodes, seconds)


def shared(instance: Instance, seed: int) -> Problem:
    """Give the buffers of an instance two pools, and costs."""
    draw = random.Random(seed)
    lives = [((start, stop),) for start, stop, _ in instance.rectangles]
    buffers = tuple(
        Buffer(str(index), size, (0, 1), (0, size * draw.randint(1, 10)), intervals=lives[index])
        for index, (_, _, size) in enumerate(instance.rectangles)
    )
    return Problem((Pool("fast", instance.max_load // 2), Pool("slow")), buffers, conflicts(lives))
