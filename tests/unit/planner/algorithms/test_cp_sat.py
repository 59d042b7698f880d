"""A second opinion: OR-Tools' CP-SAT finds the same least capacity."""

import random

import pytest

from benchmarks.solver import cp_sat
from benchmarks.solver.instances import Instance
from usmp_build.planner.algorithms.exact.one_pool import pack

pytestmark = pytest.mark.skipif(not cp_sat.is_there(), reason="OR-Tools is not installed")


@pytest.mark.parametrize("seed", range(40))
def test_the_least_capacity_is_the_same(seed: int) -> None:
    """Sizes near half of the load: then it is often not enough, and that has to be proven."""
    numbers = random.Random(seed)
    starts = [numbers.randint(0, 12) for _ in range(numbers.randint(8, 14))]
    rectangles = tuple((start, start + numbers.randint(1, 6), numbers.randint(3, 12)) for start in starts)
    instance = Instance(str(seed), rectangles, sum(size for _, _, size in rectangles))
    problem = instance.problem
    ours = pack(problem, range(len(problem.buffers)), None, 100_000)
    theirs = cp_sat.least(instance, seconds=20)
    assert ours.is_optimal
    assert (theirs.status, theirs.peak) == ("OPTIMAL", ours.peak)
