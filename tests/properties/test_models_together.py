"""Models run in any order, some at the same time, in one arena: whatever the manifest promises to keep is kept."""

import random
from dataclasses import replace

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.road import model, offsets, request
from tests.support.together import Application, Firmware, firmware
from usmp_build.ir.lifetimes import Interval, Lifetimes
from usmp_build.request import ConnectionRequest, Inputs, Outputs


@pytest.mark.long
@pytest.mark.drawn("seed")
@pytest.mark.parametrize("seed", range(5))
def test_what_is_promised_is_kept(seed: int) -> None:
    @hypothesis.seed(seed)
    @settings(max_examples=300, database=None)
    @given(st.integers(0, 1 << 32))
    def kept(number: int) -> None:
        draw = random.Random(number)
        drawn = firmware(draw)
        analysis = drawn.analysis
        Application(drawn, analysis, offsets(analysis), analysis.lifetimes, draw).run(80)

    kept()


CHAIN = """
    %0 "t0" int8[3]
    %1 "t1" int8[2]
    %2 "t2" int8[2]
    %3 "t3" int8[3]
    inputs %0, %1
    outputs %3
    %2 = ADD(%0, %1)
    %3 = ADD(%2, %0)
"""


def tight() -> Firmware:
    """Every word of the manifest: m0 feeds m1, which feeds m2 and m3, and all keep something."""
    names = [f"m{i}" for i in range(4)]
    words = [
        (Inputs.CONSUMED, Outputs.RUN),
        (Inputs.CONSUMED, Outputs.RESERVED),
        (Inputs.PRESERVED, Outputs.RESERVED),
        (Inputs.RESERVED, Outputs.RUN),
    ]
    asked = request(*names)
    models = tuple(replace(m, inputs=i, outputs=o) for m, (i, o) in zip(asked.models, words, strict=True))
    connections = tuple(ConnectionRequest(a, "t3", b, "t0") for a, b in ((0, 1), (1, 2), (1, 3)))
    asked = replace(asked, models=models, connections=connections)
    return Firmware(asked, tuple(model(CHAIN, name) for name in names))


def cuts() -> list[tuple[int, int, bool]]:
    lives = tight().analysis.lifetimes.intervals
    return [(b, i, end) for b, intervals in enumerate(lives) for i in range(len(intervals)) for end in (False, True)]


@pytest.mark.parametrize(("buffer", "interval", "at_end"), cuts())
def test_no_lifetime_can_be_a_step_shorter(buffer: int, interval: int, at_end: bool) -> None:
    drawn = tight()
    analysis = drawn.analysis
    intervals = list(analysis.lifetimes.intervals[buffer])
    start, stop = intervals[interval]
    intervals[interval] = Interval(start, stop - 1) if at_end else Interval(start + 1, stop)
    every = list(analysis.lifetimes.intervals)
    every[buffer] = tuple(intervals)
    with pytest.raises(AssertionError, match="lost"):
        Application(drawn, analysis, offsets(analysis), Lifetimes(tuple(every)), random.Random(1)).run(2000)


def test_models_at_one_time_need_more_than_lifetimes() -> None:
    """m3 may run beside m0; without the conflicts of concurrency the one overwrites the other."""
    drawn = tight()
    drawn = replace(drawn, request=replace(drawn.request, concurrent=frozenset({(0, 3)})))
    analysis = drawn.analysis
    Application(drawn, analysis, offsets(analysis), analysis.lifetimes, random.Random(1)).run(2000)
    apart = offsets(replace(drawn, request=replace(drawn.request, concurrent=frozenset())).analysis)
    with pytest.raises(AssertionError, match="lost"):
        Application(drawn, analysis, apart, analysis.lifetimes, random.Random(1)).run(2000)
