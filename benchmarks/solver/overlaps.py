"""Problems of kernels that write over their input: chains, residual networks, and networks with branches at random.

The lower one of a pair is mostly the output; where `free`, its kernel may as well go from the end to the start, and
then the input may be the lower one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.memory import Buffer, Pool, Problem
from usmp_build.planner.memory.alive import conflicts
from usmp_build.planner.memory.best import is_best
from usmp_build.planner.memory.bounds import pool_bounds
from usmp_build.planner.memory.plan import peaks


@dataclass(frozen=True, slots=True)
class Step:
    """Writes `output`; each of `inputs` comes with the bytes that it must lie above it, or None if they share none."""

    inputs: tuple[tuple[int, int | None], ...]
    output: int


@dataclass(frozen=True, slots=True)
class Overlapped:
    """What the default makes of one problem."""

    peak: int
    step: int
    """What the fullest step needs."""
    disjoint: int
    """The peak if nothing may share bytes."""
    best: bool
    seconds: float


def measure(problem: Problem) -> Overlapped:
    """Plan one of them."""
    begun = time.process_time()
    plan = Auto()(problem)
    spent = time.process_time() - begun
    assert plan is not None
    apart = Problem(problem.pools, problem.buffers, problem.conflicts)
    whole = Auto()(apart)
    assert whole is not None
    step = pool_bounds(problem, plan)[0].bytes
    return Overlapped(peaks(problem, plan)[0], step, peaks(apart, whole)[0], is_best(problem, plan), spent)


def family(counts: Sequence[int], seeds: Sequence[int]) -> dict[str, list[Problem]]:
    """Return the problems by kind and size."""
    found: dict[str, list[Problem]] = {}
    for free in (False, True):
        kind = "either end" if free else "forward"
        for count in counts:
            drawn = [(seed, sizes_and_distances(count, seed)) for seed in seeds]
            found[f"chains of {count}, {kind}"] = [chain(*pair, free) for _, pair in drawn]
            found[f"networks of {count}, {kind}"] = [network(count, seed, free) for seed, _ in drawn]
        found[f"residual blocks, {kind}"] = [residual(blocks, free) for blocks in (3, 9, 30)]
    return found


def sizes_and_distances(count: int, seed: int, most: int = 1000) -> tuple[list[int], list[int]]:
    """Draw sizes, and how far each input must lie above its output: in place, windows, and strides of 2."""
    numbers = random.Random(seed)
    sizes = [16 * numbers.randint(1, most) for _ in range(count)]
    above = [16 * numbers.choice([0, 0, -numbers.randint(1, 20), numbers.randint(1, 60)]) for _ in sizes[1:]]
    return sizes, above


def chain(sizes: Sequence[int], above: Sequence[int], free: bool) -> Problem:
    """One after the other, each read by the next step alone."""
    return _stated(sizes, [Step(((i, distance),), i + 1) for i, distance in enumerate(above)], free)


def residual(blocks: int, free: bool) -> Problem:
    """Two convolutions, whose result is added to what they read; as in MLPerf Tiny's image classification."""
    steps = []
    for block in range(blocks):
        start = 3 * block
        steps.append(Step(((start, None),), start + 1))
        steps.append(Step(((start + 1, 540),), start + 2))
        steps.append(Step(((start + 2, 0), (start, 0)), start + 3))
    return _stated([16384] * (3 * blocks + 1), steps, free)


def network(count: int, seed: int, free: bool) -> Problem:
    """Every step reads what the last one wrote, and some read something older, too."""
    numbers = random.Random(seed)
    sizes = [16 * numbers.randint(1, 1000) for _ in range(count)]
    steps = []
    for output in range(1, count):
        inputs = {output - 1}
        if numbers.random() < 0.4:
            inputs.add(max(0, output - numbers.randint(1, 6)))
        steps.append(Step(tuple((i, numbers.choice([None, 0, 0, -32, 64, 512])) for i in sorted(inputs)), output))
    return _stated(sizes, steps, free)


def _stated(sizes: Sequence[int], steps: Sequence[Step], free: bool) -> Problem:
    born, read = dict.fromkeys(range(len(sizes)), 0), dict.fromkeys(range(len(sizes)), 0)
    for number, step in enumerate(steps):
        born[step.output] = read[step.output] = number
        for index, _ in step.inputs:
            read[index] = number
    lives = [((born[i], read[i] + 1),) for i in range(len(sizes))]
    separations = {}
    for number, step in enumerate(steps):
        for index, distance in step.inputs:
            if distance is not None and read[index] == number:
                separations[step.output, index] = min(distance, sizes[step.output])
                if free:
                    separations[index, step.output] = min(distance, sizes[index])
    buffers = (Buffer(str(i), size, (0,), intervals=lives[i]) for i, size in enumerate(sizes))
    return Problem((Pool("memory"),), tuple(buffers), conflicts(lives), separations)
