"""The fullest step of a timeline, against every step."""

from math import gcd
from random import Random

import numpy as np
import pytest

from tests.support.problems import buffer, problem
from usmp_build.planner.library import fullest
from usmp_build.planner.memory.bounds import Witness, confined
from usmp_build.planner.memory.timeline import Timeline


def timeline(lives: list[tuple[int, int, int, int]]) -> Timeline:
    """Take (first step, step after the last, size, alignment) of each buffer."""
    columns = [np.array(column, np.int64) for column in zip(*lives, strict=True)] or [np.zeros(0, np.int64)] * 4
    return Timeline(*columns)


@pytest.mark.parametrize("seed", range(60))
def test_no_step_needs_more(seed: int) -> None:
    draw = Random(seed)
    lives = []
    for _ in range(draw.randrange(1, 9)):
        start, stop = sorted(draw.sample(range(8), 2))
        lives.append((start, stop, draw.choice((0, 1, 3, 4, 8, 10)), draw.choice((4, 8) if seed % 2 else (1, 2))))
    unit = gcd(*(alignment for *_, alignment in lives))
    needed = []
    for step in range(8):
        sizes = [size for start, stop, size, _ in lives if start <= step < stop and size]
        needed.append(sum(-(-size // unit) * unit for size in sizes) - max((-size % unit for size in sizes), default=0))
    load = fullest(timeline(lives))
    assert load.bytes == max(needed)
    assert load.step is not None
    assert needed[load.step] == load.bytes
    alive = {i for i, (start, stop, size, _) in enumerate(lives) if start <= load.step < stop and size}
    assert {*load.buffers} == alive
    assert [lives[i][2] for i in load.buffers] == sorted((lives[i][2] for i in alive), reverse=True)


def test_nothing_needs_nothing() -> None:
    assert fullest(timeline([])) == Witness()


def test_buffers_that_fit_nowhere_else() -> None:
    buffers = [buffer("a", 8, (0,)), buffer("b", 8, (0, 1)), buffer("c", 4, (0, 1)), buffer("d", 99, (1,))]
    stated = problem(buffers, pools={"one": None, "small": 4})
    assert confined(stated, [0]) == [0, 1]
    assert confined(stated, [1]) == [3]
    assert confined(stated, [0, 1]) == [0, 1, 2, 3]
