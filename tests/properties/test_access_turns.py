"""Distances that follow from access declarations, against what the declarations say, byte by byte and turn by turn."""

from dataclasses import replace
from random import Random

import pytest

from tests.support.access_traces import trace
from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.interfaces.kernels import Input, Output, Scratch
from usmp_build.passes.separations.distances import Distance, Stretch, distances_of
from usmp_build.passes.separations.turns import NOWHERE, Numbers, TouchedBytes, corners, turns

PAIR = Output(0), Input(0)


def by_hand(accesses: Accesses, is_scratch: bool = False) -> Distance:
    """Return the least distances at which no turn overwrites what a later one reads, or, of scratch, touches at all."""
    below: list[int] = []
    above: list[int] = []
    later: set[int] = set()
    for turn in reversed([*trace(accesses)]):
        written, read = turn.get((1, True), set()), turn.get((0, False), set())
        if is_scratch:
            later |= turn.get((0, True), set())
        if written and later:
            below.append(max(written) + 1 - min(later))
            above.append(max(later) + 1 - min(written))
        later |= read
    return Distance(max(below, default=None), max(above, default=None))


def drawn_window(draw: Random, loop: int) -> Window:
    every = draw.choice((1, 1, 1, 2, 3))
    repeat = draw.choice((1, 1, 2, 3))
    return Window(
        loop, pitch=draw.randrange(1, 5), size=draw.randrange(1, 12), taps=draw.randrange(1, 5), every=every,
        step=draw.randrange(1, 4) if every == 1 else 1, dilation=draw.randrange(1, 4) if every == 1 else 1,
        before=draw.randrange(6), repeat=repeat, phase=draw.randrange(repeat),
    )  # fmt: skip


def drawn(seed: int) -> Accesses:
    """One or two parts, inside up to two loops and with up to two of their own; one may read, and the other write."""
    draw = Random(seed)
    outer = tuple(draw.randrange(1, 12) for _ in range(draw.randrange(3)))
    parts = []
    for _ in range(draw.choice((1, 1, 2))):
        inner = tuple(draw.randrange(1, 12) for _ in range(draw.randrange(3 - len(outer) // 2)))
        count = len(outer) + len(inner)
        touches = []
        for writes in draw.choice(
            ((False, True), (False, True), (False, True), (False,), (True,), (False, False, True))
        ):
            strides = tuple(draw.choice((0, 1, 2, 5, 12, -1, -3)) for _ in range(draw.randrange(count + 1)))
            windows = [drawn_window(draw, draw.randrange(count)) for _ in range(draw.randrange(3) if count else 0)]
            touches.append(Touch(int(writes), draw.randrange(1, 4), strides, draw.randrange(9), tuple(windows), writes))
        parts.append(Part(inner, tuple(touches), forward=draw.random() < 0.3))
    way = {"phases": draw.random() < 0.5, "backward": draw.random() < 0.5}
    return Accesses(tuple(parts), (draw.choice((1, 2)), draw.choice((1, 4))), outer, **way)


def least_distance(accesses: Accesses, most: int) -> Distance:
    stretch = Stretch(PAIR[::-1], turns(accesses, most))
    return dict(distances_of([stretch], [PAIR], set()))[PAIR]


@pytest.mark.parametrize("seed", range(120))
def test_distances_are_what_turns_need(seed: int) -> None:
    accesses = drawn(seed)
    assert least_distance(accesses, 1 << 18) == by_hand(accesses), accesses


@pytest.mark.parametrize("seed", range(60))
def test_few_turns_allow_nothing_more(seed: int) -> None:
    accesses = drawn(seed)
    exact = by_hand(accesses)
    for most in (1, 3, 12, 50):
        assert turns(accesses, most).count <= max(most, len(accesses.parts))
        rough = least_distance(accesses, most)
        for known, needed in ((rough.written_below, exact.written_below), (rough.written_above, exact.written_above)):
            assert needed is None or (known is not None and known >= needed), accesses


def grid(most: int, outer: tuple[int, ...], inner: tuple[int, ...], **ways: bool) -> tuple[bool, list[tuple[int, int]]]:
    """Return whether turns of 9 rows of 9 elements are in order, and which elements each of them writes."""
    whole = Part(inner, (Touch(0, 1 if inner or len(outer) == 2 else 9, (9, 1), writes=True),))
    expanded = turns(Accesses((whole,), (1,), outer, **ways), most)
    return expanded.in_order, [(int(low), int(end)) for low, end in zip(*sides(expanded.extent(0, True)), strict=True)]


def sides(extent: TouchedBytes) -> tuple[Numbers, Numbers]:
    return extent.low, extent.end


def blocks(rows: list[tuple[int, int]], columns: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(row * 9 + first, (stop - 1) * 9 + last) for row, stop in rows for first, last in columns]


ROWS = [(row, row + 1) for row in range(9)]
PAIRS_OF_ROWS = [(0, 2), (2, 4), (4, 6), (6, 8), (8, 9)]
CORNERS = [(at, at + 1) for at in (0, 1, 2, 6, 7, 8)]


@pytest.mark.parametrize(
    ("most", "rows", "columns"),
    [
        (40, CORNERS, CORNERS),
        (36, CORNERS, CORNERS),
        (35, ROWS, [(0, 3), (3, 6), (6, 9)]),
        (27, ROWS, [(0, 3), (3, 6), (6, 9)]),
        (26, ROWS, [(0, 5), (5, 9)]),
        (9, ROWS, [(0, 9)]),
        (8, PAIRS_OF_ROWS, [(0, 9)]),
        (1, [(0, 9)], [(0, 9)]),
    ],
)
def test_blocks_of_loops(most: int, rows: list[tuple[int, int]], columns: list[tuple[int, int]]) -> None:
    """Fewer turns are coarser; where the loop is a common one, and where it is one of the part alone."""
    expected = most >= 36, blocks(rows, columns)
    assert grid(most, (), (9, 9)) == expected
    assert grid(most, (9,), (9,)) == expected
    backward = expected[0], expected[1][::-1]
    assert grid(most, (), (9, 9), backward=True) == backward
    assert grid(most, (9,), (9,), backward=True) == backward


def test_parts_share_the_turns() -> None:
    """Two parts in nine rounds: 18 turns are one for each part, and 17 are one for each round."""
    reads, writes = (Part((4,), (Touch(side, 1, (4, 1), writes=bool(side)),)) for side in (0, 1))
    accesses = Accesses((reads, writes), (2, 3), (9,))
    apart, joined = turns(accesses, 18), turns(accesses, 17)
    assert (apart.count, joined.count) == (18, 9)
    assert [int(low) for low in apart.extent(1, True).low[1::2]] == [12 * row for row in range(9)]
    assert (apart.extent(1, True).low[::2] == NOWHERE).all()
    assert [int(low) for low in joined.extent(0, False).low] == [8 * row for row in range(9)]
    assert [int(end) for end in joined.extent(1, True).end] == [12 * row + 12 for row in range(9)]
    twice = replace(accesses, parts=(reads, replace(reads, touches=(replace(reads.touches[0], start=2),))))
    assert [int(end) for end in turns(twice, 17).extent(0, False).end] == [8 * row + 12 for row in range(9)]
    assert [int(low) for low in turns(twice, 17).extent(0, False).low] == [8 * row for row in range(9)]


def test_an_empty_loop_touches_nothing() -> None:
    for most in (1, 10):
        assert turns(Accesses((Part((5, 0), (Touch(0, 1, (0, 1)),)),), (1,)), most).count == 0


def test_a_block_of_windows_is_clipped_to_its_axis() -> None:
    window = Window(loop=0, pitch=10, size=8, taps=3, before=1)
    touches = Touch(0, 4, windows=(window,)), Touch(0, 0, start=99, writes=True)
    expanded = turns(Accesses((Part((9,), touches),), (1,)), 3)
    assert expanded.extent(0, False).low.tolist() == [0, 20, 50]
    assert expanded.extent(0, False).end.tolist() == [34, 64, 74]
    assert (expanded.extent(0, True).low == NOWHERE).all()


EDGE = Window(loop=0, pitch=1, size=90, taps=3, before=1)


@pytest.mark.parametrize(
    ("size", "windows", "most", "expected"),
    [
        (100, (), 10, [(0, 3), (97, 100)]),
        (4, (), 10, [(0, 4)]),
        (100, (EDGE,), 10, [(0, 4), (86, 93), (97, 100)]),
        (100, (replace(EDGE, taps=10),), 9, [(0, 4), (79, 93), (97, 100)]),
        (100, (replace(EDGE, taps=11),), 9, None),
        (100, (replace(EDGE, taps=11),), 100, [(0, 4), (78, 93), (97, 100)]),
        (9, (replace(EDGE, taps=11),), 9, [(0, 9)]),
        (10, (replace(EDGE, taps=11),), 9, None),
        (100, (replace(EDGE, step=2),), 10, [(0, 3), (42, 48), (97, 100)]),
        (100, (replace(EDGE, repeat=2, size=30),), 10, [(0, 8), (52, 66), (95, 100)]),
        (100, (replace(EDGE, repeat=2, size=30, phase=1),), 10, [(0, 7), (51, 65), (95, 100)]),
        (100, (replace(EDGE, every=3, size=20),), 10, [(0, 7), (51, 64), (94, 100)]),
        (100, (replace(EDGE, every=3, size=20),), 3, [(0, 7), (51, 64), (94, 100)]),
        (100, (replace(EDGE, every=3, size=20),), 2, None),
        (2, (replace(EDGE, every=3, size=20),), 2, [(0, 2)]),
    ],
)
def test_corners_of_a_loop(
    size: int, windows: tuple[Window, ...], most: int, expected: list[tuple[int, int]] | None
) -> None:
    places = corners(size, windows, most)
    assert (places is None) == (expected is None)
    assert places is None or places.tolist() == [at for first, stop in expected or () for at in range(first, stop)]


@pytest.mark.parametrize("seed", range(40))
def test_scratch_is_intact_from_its_first_touch_to_its_last(seed: int) -> None:
    """The scratch is operand 0, and is written by a third touch, in the turn of the others or in a part of its own."""
    accesses = drawn(seed)
    writes = Touch(0, 2, (3,) * len(accesses.loops), writes=True)
    first = accesses.parts[0]
    parts = (replace(first, touches=(*first.touches, writes)), *accesses.parts[1:])
    accesses = replace(accesses, parts=parts if seed % 2 else (*accesses.parts, Part((), (writes,))))
    stretch = Stretch((Scratch(0), Output(0)), turns(accesses))
    pair = Output(0), Scratch(0)
    assert dict(distances_of([stretch], [pair], {Scratch(0)}))[pair] == by_hand(accesses, is_scratch=True)
