"""Each fault that a problem built in Python may have, one at a time."""

from dataclasses import replace
from time import process_time
from typing import Any

import pytest

from tests.support.problems import CASES, alive, load, tiny
from usmp_build.planner.memory.malformed import malformed
from usmp_build.planner.memory.problem import Buffer, Pool, Problem

GOOD = Problem(
    (Pool("fast", 64), Pool("slow")),
    (
        Buffer("a", 8, (0, 1), (0, 5), 4, ((0, 2), (2, 4)), 16),
        Buffer("b", 8, (1,), (), 1, ((1, 3),)),
        Buffer("c", 0, (0,)),
    ),
    ((1,), (0, 2), (1,)),
    {(0, 1): -4, (1, 2): 8},
)

OF_A: list[tuple[dict[str, Any], str]] = [
    ({"size": -1}, "has size -1, which is no number of bytes"),
    ({"size": 8.0}, "has size 8.0, which is no number of bytes"),
    ({"size": True}, "has size True, which is no number of bytes"),
    ({"alignment": 0}, "has alignment 0, which is no whole number of at least 1"),
    ({"alignment": "4"}, "has alignment '4', which is no whole number of at least 1"),
    ({"offset": -4}, "is fixed at offset -4, which is no number of bytes"),
    ({"offset": 4.0}, "is fixed at offset 4.0, which is no number of bytes"),
    ({"offset": 6}, "is fixed at offset 6, which is no multiple of its alignment 4"),
    ({"pools": (), "costs": ()}, "has no pool that it may go to"),
    ({"pools": (0, 2)}, "names pool 2, and there are 2, counted from 0"),
    ({"pools": (0, -1)}, "names pool -1, and there are 2, counted from 0"),
    ({"pools": (0, "slow")}, "names pool 'slow', and there are 2, counted from 0"),
    ({"pools": (1, 1)}, "names a pool twice: (1, 1)"),
    ({"pools": [0, 1]}, "has pools or costs that are no tuple"),
    ({"costs": (1,)}, "has 1 costs for 2 pools"),
    ({"costs": (1, 0.5)}, "has cost 0.5, which is no whole number"),
    ({"intervals": ((3, 3),)}, "is never alive in (3, 3): intervals are half-open"),
    ({"intervals": ((4, 2),)}, "is never alive in (4, 2): intervals are half-open"),
    ({"intervals": ((4, 6), (0, 2))}, "has intervals that are not sorted, or overlap: ((4, 6), (0, 2))"),
    ({"intervals": ((0, 4), (3, 6))}, "has intervals that are not sorted, or overlap: ((0, 4), (3, 6))"),
    ({"intervals": (0, 4)}, "has intervals that are no tuple of pairs of whole numbers: (0, 4)"),
    ({"intervals": ((0, 4.0),)}, "has intervals that are no tuple of pairs of whole numbers: ((0, 4.0),)"),
]

OF_ALL: list[tuple[dict[str, Any], str]] = [
    ({"pools": (Pool("x"), Pool("x"))}, '2 pools are called "x"'),
    ({"pools": (Pool("x", -1), Pool("y"))}, 'the limit of pool "x" is -1, which is no number of bytes'),
    ({"pools": (Pool("x", False), Pool("y"))}, 'the limit of pool "x" is False, which is no number of bytes'),
    ({"conflicts": ((1,), (0, 2))}, "the conflicts are no tuple with an entry for each of 3 buffers"),
    ({"conflicts": ([1], (0, 2), (1,))}, 'the conflicts of buffer "a" are no tuple of whole numbers'),
    ({"conflicts": ((1,), (0, 2), (True,))}, 'the conflicts of buffer "c" are no tuple of whole numbers'),
    ({"conflicts": ((1,), (0, 2), (0, 1, 3))}, 'buffer "c" conflicts with buffer 3, and there are 3, counted from 0'),
    ({"conflicts": ((-1, 1), (0, 2), (1,))}, 'buffer "a" conflicts with buffer -1, and there are 3, counted from 0'),
    ({"conflicts": ((1,), (0, 2), (1, 1 << 70))}, f'buffer "c" conflicts with buffer {1 << 70}, and there are 3'),
    ({"conflicts": ((1,), (0, 1, 2), (1,))}, 'buffer "b" conflicts with itself'),
    ({"conflicts": ((1,), (2, 0), (1,))}, 'the conflicts of buffer "b" are not ascending'),
    ({"conflicts": ((1,), (0, 0, 2), (1,))}, 'the conflicts of buffer "b" are not ascending'),
    ({"conflicts": ((1, 2), (0, 2), (1,))}, 'buffer "a" conflicts with "c", but not the other way round'),
    ({"conflicts": ((1,), (0,), (1,))}, 'buffer "c" conflicts with "b", but not the other way round'),
    ({"separations": {(0, 3): 1}}, "there is a separation of (0, 3), which are no indices of two buffers"),
    ({"separations": {("a", "b"): 1}}, "there is a separation of ('a', 'b'), which are no indices of two buffers"),
    ({"separations": {(0, 2): 1}}, 'there is a separation of "c" above "a", which do not conflict'),
    ({"separations": {(0, 0): 1}}, 'there is a separation of "a" above "a", which do not conflict'),
    ({"separations": {(1, 0): 9}}, 'the separation of "a" above "b" is 9, which is more than the size of the lower'),
    ({"separations": {(1, 0): 2.5}}, 'the separation of "a" above "b" is 2.5, which is no whole number'),
]


def test_what_is_right() -> None:
    assert malformed(GOOD) == ()
    assert malformed(Problem((), (), ())) == ()
    for path in CASES:
        assert malformed(load(path)[0]) == ()


@pytest.mark.parametrize(("change", "message"), OF_A)
def test_a_fault_of_one_buffer(change: dict[str, Any], message: str) -> None:
    _, *others = GOOD.buffers
    broken = replace(GOOD, buffers=(replace(GOOD.buffers[0], **change), *others))
    assert malformed(broken) == (f'buffer "a" {message}',)


@pytest.mark.parametrize(("change", "message"), OF_ALL)
def test_a_fault_of_the_problem(change: dict[str, Any], message: str) -> None:
    (complaint,) = malformed(replace(GOOD, **change))
    assert complaint.startswith(message)


@pytest.mark.parametrize(("name", "message"), [("b", '2 buffers are called "b"'), (7, "the name of a buffer is 7")])
def test_names_are_texts_of_their_own(name: Any, message: str) -> None:
    a, *others = GOOD.buffers
    (complaint,) = malformed(replace(GOOD, buffers=(replace(a, name=name), *others)))
    assert complaint.startswith(message)


def test_many_faults_are_told_up_to_a_number() -> None:
    assert len(malformed(alive({f"b{i}": (0, 1, -1) for i in range(50)}))) == 20


def test_problems_built_elsewhere_are_checked_except_for_offsets() -> None:
    for seed in range(200):
        stated = tiny(seed)
        odd = sum(1 for b in stated.buffers if (b.offset or 0) % b.alignment)
        assert len(malformed(stated)) == odd


def test_looking_takes_no_time() -> None:
    stated = alive({f"b{i}": (0, 1, 8) for i in range(225)})
    start = process_time()
    assert malformed(stated) == ()
    assert process_time() - start < 0.1  # a twentieth of that, mostly
