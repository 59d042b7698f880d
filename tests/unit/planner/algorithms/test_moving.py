"""Buffers move out of the way: no byte is lost, and a pool is no higher than what is alive in it."""

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from tests.support.problems import alive
from usmp_build.planner.algorithms.moving import Movement, moving
from usmp_build.planner.memory.pressure import pressure
from usmp_build.planner.memory.problem import Problem

ALWAYS = [True] * 200


def faults(stated: Problem, made: Movement) -> list[str]:
    """Replay births and moves step by step: what does not fit, or comes too close to what is there?"""
    at, found = dict[int, int](), list[str]()
    buffers, moves = stated.buffers, list(made.moves)
    for step in range(max(buffer.intervals[0][1] for buffer in buffers)):
        at = {index: offset for index, offset in at.items() if step < buffers[index].intervals[0][1]}
        changes = [(move.buffer, move.offset) for move in moves if move.step == step]
        born = [index for index, buffer in enumerate(buffers) if buffer.intervals[0][0] == step]
        assert all(index in at for index, _ in changes), "only what is alive moves"
        for index, offset in [*changes, *((index, made.offsets[index]) for index in born)]:
            others = {other: place for other, place in at.items() if other != index}
            found += [f"{index} at {offset} over {other}" for other, place in others.items()
                      if not is_apart(stated, index, offset, other, place)]  # fmt: skip
            if not 0 <= offset <= made.height - buffers[index].size or offset % buffers[index].alignment:
                found.append(f"{index} at {offset}")
            at[index] = offset
    return found


def is_apart(stated: Problem, index: int, offset: int, other: int, place: int) -> bool:
    distance = offset - place
    return distance >= stated.separation(other, index) or -distance >= stated.separation(index, other)


def test_a_buffer_moves_where_no_gap_is_wide_enough() -> None:
    """c is born between b and d, which leave gaps on both sides of it, and e takes as much as both together."""
    stated = alive({"b": (0, 2, 3), "d": (0, 2, 2), "c": (1, 4, 4), "e": (2, 4, 5)})
    fixed = replace(stated, buffers=tuple(replace(each, offset=None) for each in stated.buffers))
    made = moving(fixed, {2}, ALWAYS, 20)
    assert made is not None
    assert (made.height, faults(stated, made)) == (9, [])


def test_nothing_moves_before_a_step_that_is_not_free() -> None:
    stated = alive({"b": (0, 2, 3), "c": (0, 4, 4), "d": (0, 2, 2), "e": (2, 4, 5)})
    made = moving(stated, range(4), [False] * 4, 20)
    assert made is None or not made.moves
    some = moving(stated, range(4), [False, False, True, False], 9 + 1)
    assert some is None or {move.step for move in some.moves} <= {2}


def test_what_a_kernel_lets_overlap_still_may() -> None:
    """Rows of 10 bytes, three alive at a time; each may begin a byte below the one that it is computed from."""
    stated = alive({f"r{i:02}": (i, i + 3, 10) for i in range(12)})
    separations = {(i + 2, i): 1 for i in range(10)}
    made = moving(replace(stated, separations=separations), range(12), ALWAYS, 31)
    assert made is not None
    assert made.height < 30
    assert faults(replace(stated, separations=separations), made) == []


@pytest.mark.parametrize("seed", range(150))
def test_drawn_ones_lose_no_byte(seed: int) -> None:
    chance = random.Random(seed)
    stated = drawn(chance, chance.randint(4, 30))
    movable = [index for index in range(len(stated.buffers)) if chance.random() < 0.8]
    free = [chance.random() < 0.8 for _ in range(60)]
    bound = pressure(stated, range(len(stated.buffers))).bytes
    made = moving(stated, movable, free, bound + 25)
    if made is not None:
        assert faults(stated, made) == []
        assert bound <= made.height < bound + 25
        assert {move.buffer for move in made.moves} <= {*movable}
        assert all(free[move.step] for move in made.moves)


@pytest.mark.parametrize("seed", range(30))
def test_time_has_no_direction(seed: int) -> None:
    stated = drawn(random.Random(seed), 20)
    lives = (each.intervals[0] for each in stated.buffers)
    mirrored = zip(stated.buffers, ((70 - stop, 70 - start) for start, stop in lives), strict=True)
    other = replace(stated, buffers=tuple(replace(each, intervals=(life,)) for each, life in mirrored))
    one, two = (moving(each, range(20), [True] * 70, 1 << 20) for each in (stated, other))
    assert one is not None
    assert two is not None
    assert one.height == two.height


def drawn(chance: random.Random, count: int) -> Problem:
    """Draw buffers of odd sizes, some of which may overlap when one is born and the other dies."""
    births = sorted(chance.randrange(50) for _ in range(count))
    facts = {
        f"b{i:02}": (start, start + chance.randint(1, 12), chance.randint(1, 40)) for i, start in enumerate(births)
    }
    stated = alive(facts)
    return replace(stated, separations=dict(close(chance, stated, range(count))))


def close(chance: random.Random, stated: Problem, members: Sequence[int]) -> list[tuple[tuple[int, int], int]]:
    found = []
    for one, other in combinations(members, 2):
        (born, _), (_, dead) = stated.buffers[other].intervals[0], stated.buffers[one].intervals[0]
        if born == dead - 1 and chance.random() < 0.5:
            found.append(((other, one), chance.randint(0, stated.buffers[other].size)))
            found.append(((one, other), chance.randint(0, stated.buffers[one].size)))
    return found
