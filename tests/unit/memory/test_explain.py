"""Why nothing fits, in figures and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.problems import CASES, buffer, by_hand, load, problem
from usmp_build.algorithms.greedy import GreedyBySize
from usmp_build.memory.bounds import Witness
from usmp_build.memory.explain import Shortage, explain, put_into_words
from usmp_build.memory.plan import Plan
from usmp_build.memory.problem import Pool, Problem

LIVE = ((4, 5),)
CROWD = problem(
    [
        buffer("vww.t58", 18432, intervals=LIVE),
        buffer("vww.t60", 18432, intervals=LIVE),
        buffer("t1", 1536, intervals=LIVE),
    ],
    pools={"dtcm": 32768},
)


def never(_: Problem) -> Plan | None:
    return None


def test_a_proof_needs_no_algorithm() -> None:
    assert explain(CROWD, never) == Shortage((0,), 32768, 5632, Witness(38400, (0, 1, 2), 4), proven=True)


def test_a_proof_in_words() -> None:
    words = put_into_words(CROWD, explain(CROWD, never), ["", "", "", "", "vww.conv_2"])
    assert words.message == (
        'the buffers do not fit: pool "dtcm" (32,768 bytes) is 5,632 bytes too small at step 4 "vww.conv_2":'
        " vww.t58 18,432 + vww.t60 18,432 + t1 1,536"
    )
    assert words.help == 'no plan needs less; enlarge "dtcm", or give some of these buffers another pool'


def test_several_pools_together_and_many_buffers() -> None:
    stated = problem([buffer(f"b{i}", 10 + i, (0, 1)) for i in range(9)], pools={"dtcm": 50, "sram": 60})
    words = put_into_words(stated, explain(stated, never))
    assert words.message == (
        'the buffers do not fit: pools "dtcm" and "sram" together (110 bytes) are 16 bytes too small:'
        " b8 18 + b7 17 + b6 16 + b5 15 + b4 14 + b3 13 + 3 more 33"
    )
    assert 'enlarge "dtcm" or "sram"' in words.help


def test_the_pool_that_lacks_most_is_named() -> None:
    stated = problem([buffer("a", 60), buffer("b", 90, (1,))], pools={"first": 50, "second": 60})
    assert explain(stated, never) == Shortage((1,), 60, 30, Witness(90, (1,)), proven=True)


def test_a_buffer_larger_than_its_pools() -> None:
    stated = problem([buffer("a", 70, (0, 1))], pools={"small": 50, "large": 60})
    assert put_into_words(stated, explain(stated, never)).message == (
        'the buffers do not fit: pool "large" (60 bytes) is 10 bytes too small: a 70'
    )


def tight() -> Problem:
    """A problem that fits exactly, but not as greedy_by_size plans it."""
    stated, best = load(next(path for path in CASES if path.stem == "tvm_intervals_simple"))
    assert best
    return replace(stated, pools=(Pool("ram", best["ram"]),))


def test_without_proof_the_plan_that_overflows_tells() -> None:
    stated = tight()
    assert GreedyBySize()(stated) is None
    shortage = explain(stated, GreedyBySize())
    assert (shortage.pools, shortage.room, shortage.missing, shortage.proven) == ((0,), 216096, 4096, False)
    assert shortage.witness.bytes == 216096
    words = put_into_words(stated, shortage)
    assert words.message.startswith('the buffers do not fit: pool "ram" (216,096 bytes) is 4,096 bytes too small')
    assert "may not be the best of all; try another algorithm" in words.help


@pytest.mark.parametrize("algorithm", [never, lambda _: by_hand(1, 2, 3), lambda _: by_hand(*[0] * 10)])
def test_without_any_sound_plan_nothing_is_claimed(algorithm: Callable[[Problem], Plan | None]) -> None:
    stated = tight()
    shortage = explain(stated, algorithm)
    assert shortage == Shortage()
    assert put_into_words(stated, shortage).message == "no plan was found"
