"""Why nothing fits, in words."""

from dataclasses import replace

import pytest

from tests.support.problems import buffer, problem
from usmp_build.planner.memory.bounds import Witness
from usmp_build.planner.memory.increase import Increase
from usmp_build.planner.memory.shortage import Fix, ProofScope, Shortage, put_into_words

STATED = problem(
    [
        buffer("vww.t58", 18432),
        buffer("vww.t60", 18432),
        buffer("t1", 1536),
        buffer("t2", 64, offset=32),
        *(buffer(f"b{i}", 10 + i) for i in range(9)),
    ],
    pools={"dtcm": 32768, "sram": 65536},
)
NAMES = ["", "", "", "", "vww.conv_2"]
PROVEN = Shortage((0,), 32768, 4096, Witness(36864, (0, 1), 4), core=(0, 1), proven=True)


def words_for(shortage: Shortage, *others: Fix) -> tuple[str, str]:
    return put_into_words(STATED, shortage, NAMES, others)


def test_a_proof() -> None:
    assert words_for(PROVEN) == (
        'the buffers do not fit: pool "dtcm" (32,768 bytes) is 4,096 bytes too small at step 4 "vww.conv_2":'
        " vww.t58 18,432 + vww.t60 18,432",
        'no plan needs less; enlarge "dtcm", or give some of these buffers another pool',
    )


def test_more_than_what_is_already_too_much() -> None:
    shortage = Shortage((0,), 32768, 5632, Witness(38400, (0, 1, 2), 9), core=(0, 1), proven=True)
    assert words_for(shortage)[0].endswith(
        "5,632 bytes too small at step 9: vww.t58 18,432 + vww.t60 18,432 do not fit together beside 1 other buffer"
        " (1,536 bytes) alive then"
    )
    assert words_for(replace(shortage, witness=Witness(0, (0, 1, *range(4, 9)), 9), core=(0, 1, *range(4, 8))))[
        0
    ].endswith(
        ": vww.t58 18,432 + vww.t60 18,432 + b0 10 + b1 11 + b2 12 + b3 13 do not fit together beside 1 other buffer"
        " (14 bytes) alive then"
    )
    shortage = Shortage((0,), 10000, 28400, Witness(38400, (0, 1, 2)), core=(0,), proven=True)
    assert words_for(shortage)[0].endswith(
        "28,400 bytes too small: vww.t58 18,432 does not fit beside 2 other buffers (19,968 bytes) alive then"
    )


def test_several_pools_and_many_buffers() -> None:
    many = tuple(range(4, 13))
    shortage = Shortage((0, 1), 110, 16, Witness(126, many, None), core=many[:-1], proven=True)
    assert words_for(shortage) == (
        'the buffers do not fit: pools "dtcm" and "sram" together (110 bytes) are 16 bytes too small:'
        " b0 10 + b1 11 + b2 12 + b3 13 + b4 14 + b5 15 + 3 more 51",
        'no plan needs less; enlarge "dtcm" or "sram", or give some of these buffers another pool',
    )


def test_buffers_that_are_alive_at_no_one_step() -> None:
    shortage = Shortage((0,), 100, 16, Witness(116, (0, 1)), core=(0, 1), proven=True)
    message = put_into_words(STATED, shortage, NAMES, together="while both run").message
    assert "is 16 bytes too small while both run: vww.t58 18,432 + " in message
    assert "too small at step 4 " in put_into_words(STATED, PROVEN, NAMES, together="while both run").message


@pytest.mark.parametrize(("missing", "words"), [(4095, "; at most 1 byte of these may be shared"), (4096, "")])
def test_a_proof_says_what_may_be_shared(missing: int, words: str) -> None:
    message = words_for(replace(PROVEN, missing=missing))[0]
    assert message.endswith(f": vww.t58 18,432 + vww.t60 18,432{words}")


def test_rows_of_a_tensor_are_named_together() -> None:
    rows = problem([buffer("a", 9), *(buffer(f"net.t1[{row}]", 8) for row in (10, 2)), buffer("b[0]", 7, offset=1)])
    shortage = Shortage((0,), 31, 1, Witness(32, (0, 1, 2, 3), 0), core=(0, 1, 3, 2), proven=True)
    assert put_into_words(rows, shortage).message.endswith(": a 9 + net.t1[2,10] 16 + b[0] 7 at 1")


def test_what_is_not_proven() -> None:
    shortage = Shortage((0,), 32768, 1, Witness(64, (0, 2), 4), core=(0, 3), increases=(Increase(0, 1, True),))
    assert words_for(shortage) == (
        'no plan was found: pool "dtcm" (32,768 bytes) seems 1 byte too small, most of all at step 4 "vww.conv_2":'
        " no place was found for vww.t58 18,432 + t2 64 at 32",
        'one may exist all the same; enlarge "dtcm" by 1 byte',
    )
    lacks = 'no plan was found: pool "dtcm" (32,768 bytes) seems 1 byte too small'
    assert words_for(replace(shortage, witness=Witness(64, (0, 2)), core=()))[0] == lacks
    assert words_for(Shortage(witness=Witness(64, (0, 2), 4)))[0] == "no plan was found"
    assert (
        words_for(Shortage(core=(0, 3)))[0] == "no plan was found: no place was found for vww.t58 18,432 + t2 64 at 32"
    )
    assert words_for(Shortage()) == (
        "no plan was found",
        "one may exist all the same; try another algorithm, or enlarge the pools",
    )


def test_the_three_cheapest_ways_out() -> None:
    shortage = Shortage(
        (0,),
        32768,
        4096,
        PROVEN.witness,
        (0, 1),
        proven=True,
        increases=(Increase(0, 4096, True), Increase(1, 9999, True)),
    )
    dear, cheap = Fix(5000, "do something dear"), Fix(4095, "do something cheap")
    assert words_for(shortage, dear, cheap)[1].splitlines() == [
        "no plan needs less; each of these makes a plan:",
        "  - do something cheap",
        '  - enlarge "dtcm" by 4,096 bytes',
        "  - do something dear",
    ]
    assert words_for(PROVEN, cheap)[1] == "no plan needs less; do something cheap"
    assert words_for(PROVEN, dear, cheap)[1].splitlines()[1:] == ["  - do something cheap", "  - do something dear"]


@pytest.mark.parametrize(
    ("scope", "proof"),
    [
        (ProofScope.LAYER_BY_LAYER, "no plan that runs layer by layer needs less"),
        (ProofScope.ROWS, "no order of rows needs less"),
        (ProofScope.SAME_BUFFERS, "no plan with these buffers needs less"),
    ],
)
def test_a_proof_says_what_it_covers(scope: ProofScope, proof: str) -> None:
    assert put_into_words(STATED, PROVEN, NAMES, (Fix(0, "go by rows"),), scope=scope).help == f"{proof}; go by rows"


def test_a_way_out_that_costs_more_than_is_proven() -> None:
    shortage = Shortage((0,), 32768, 4096, PROVEN.witness, (0, 1), proven=True, increases=(Increase(0, 4100, False),))
    assert (
        words_for(shortage)[1]
        == 'every plan needs 4,096 bytes more, at least; enlarge "dtcm" by 4,100 bytes, which is enough'
    )
