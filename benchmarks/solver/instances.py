"""Problems to solve: published ones from files, variants of them, and tilings whose optimum is known."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from usmp_build.planner.memory import Buffer, Pool, Problem
from usmp_build.planner.memory.alive import conflicts
from usmp_build.planner.problems import read_problem

Rectangle = tuple[int, int, int]
"""(first step, step after the last, size)."""


@dataclass(frozen=True, slots=True)
class Instance:
    """Rectangles to be stacked within some bytes."""

    name: str
    rectangles: tuple[Rectangle, ...]
    capacity: int
    """What is asked first: do they fit into so many bytes?"""

    @property
    def problem(self) -> Problem:
        """The same as a problem of one pool without a limit."""
        lives = [((start, stop),) for start, stop, _ in self.rectangles]
        sizes = [size for _, _, size in self.rectangles]
        buffers = (Buffer(str(i), size, (0,), intervals=lives[i]) for i, size in enumerate(sizes))
        return Problem((Pool("memory"),), tuple(buffers), conflicts(lives))

    @property
    def max_load(self) -> int:
        """The most bytes alive at one step."""
        changes = sorted(
            (step, change) for start, stop, size in self.rectangles for step, change in ((start, size), (stop, -size))
        )
        load = most = 0
        for _, change in changes:
            load += change
            most = max(most, load)
        return most


def published(path: Path) -> Instance:
    """Read a file in MiniMalloc's columns; its name tells the capacity, as in `A.1048576.csv`."""
    stated = read_problem(path.read_bytes(), path.name).problem
    assert isinstance(stated, Problem)
    rectangles = tuple((*buffer.intervals[0], buffer.size) for buffer in stated.buffers)
    name, _, capacity = path.stem.partition(".")
    return Instance(name, rectangles, int(capacity))


def variants(base: Instance, dropped: int = 8) -> Iterator[Instance]:
    """Yield the instance backwards, then without 3 % of its buffers in several ways."""
    end = max(stop for _, stop, _ in base.rectangles)
    backwards = tuple((end - stop, end - start, size) for start, stop, size in base.rectangles)
    yield Instance(f"{base.name} backwards", backwards, base.capacity)
    for seed in range(1, dropped + 1):
        numbers = random.Random(f"{base.name} {seed}")
        count = len(base.rectangles)
        kept = numbers.sample(base.rectangles, count - round(count * 0.03))
        yield Instance(f"{base.name} without 3 %, {seed}", tuple(kept), base.capacity)


def tiling(count: int, seed: int, height: int = 1 << 16) -> Instance:
    """Cut a rectangle into others by guillotine cuts: they fit into its height, and nothing is left over."""
    numbers = random.Random(seed)
    pieces: list[tuple[int, int, int, int]] = [(0, 4 * count, 0, height)]
    while len(pieces) < count:
        start, stop, bottom, top = pieces.pop(_largest(pieces))
        if stop - start > 1 and (numbers.random() < 0.5 or top - bottom == 1):
            cut = numbers.randint(start + 1, stop - 1)
            pieces += [(start, cut, bottom, top), (cut, stop, bottom, top)]
        else:
            cut = numbers.randint(bottom + 1, top - 1)
            pieces += [(start, stop, bottom, cut), (start, stop, cut, top)]
    numbers.shuffle(pieces)
    rectangles = tuple((start, stop, top - bottom) for start, stop, bottom, top in pieces)
    return Instance(f"tiling {count}, {seed}", rectangles, height)


def _largest(pieces: Sequence[tuple[int, int, int, int]]) -> int:
    areas = [(stop - start) * (top - bottom) for start, stop, bottom, top in pieces]
    return areas.index(max(areas))


def family(instances: Iterable[Instance]) -> list[Instance]:
    """Return the variants of all of them."""
    return [variant for instance in instances for variant in variants(instance)]
