"""Programs run in one arena at planned offsets, and every byte that they read is the one that they wrote."""

import random
from contextlib import nullcontext
from dataclasses import replace

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.interpreter import Interpreter
from tests.support.programs import programs
from tests.support.road import analyze, model, offsets
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.check import check
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.lifetimes import Interval, Lifetimes
from usmp_build.textual.text import read, write


@pytest.mark.long
@pytest.mark.drawn("seed")
@pytest.mark.parametrize("seed", range(5))
def test_lifetimes_agree_with_an_interpreter(seed: int) -> None:
    @hypothesis.seed(seed)
    @settings(max_examples=200, database=None)
    @given(programs(), st.integers(0, 1 << 32))
    def agree(program: Model, first: int) -> None:
        assert check(program) is None
        analysis = analyze(program)
        places = offsets(analysis)
        for run in range(3):
            Interpreter(analysis, places, analysis.lifetimes, random.Random(first + run)).run()

    agree()


@settings(max_examples=150, derandomize=True)
@given(programs())
def test_text_says_all_of_a_program(program: Model) -> None:
    text = write(program)
    assert read(text) == program
    assert write(read(text)) == text


# What each line of this program needs is needed by the next ones, to the last byte of the last round.
TIGHT = """
subgraph 0 "main"
  %0 "x" int8[4]
  %1 "y" int8[4]
  %2 "sum" int8[4]
  %3 "part" int8[4]
  parameters 2
  inputs %0
  outputs %1
  allocate %2 {
    store %2 = _
    for serial 3 {
      allocate %3 {
        call 1(%0, %3)
        store %2 = %2, %3
      }
    }
    for parallel 4 workers=2 {
      call 1(%2, %1)
    }
  }
subgraph 1 "scale"
  %0 "from" int8[4]
  %1 "to" int8[4]
  %2 "wide" int32[4]
  parameters 2
  inputs
  outputs
  allocate %2 {
    store %2 = %0
    store %1 += %2
  }
"""


def cuts() -> list[tuple[int, int, bool]]:
    analysis = analyze(model(TIGHT)).lifetimes.intervals
    return [(b, i, end) for b, intervals in enumerate(analysis) for i in range(len(intervals)) for end in (False, True)]


@pytest.mark.parametrize(("buffer", "interval", "at_end"), cuts())
def test_no_lifetime_can_be_a_step_shorter(buffer: int, interval: int, at_end: bool) -> None:
    analysis = analyze(model(TIGHT))
    intervals = list(analysis.lifetimes.intervals[buffer])
    start, stop = intervals[interval]
    intervals[interval] = Interval(start, stop - 1) if at_end else Interval(start + 1, stop)
    every = list(analysis.lifetimes.intervals)
    every[buffer] = tuple(intervals)
    with pytest.raises(AssertionError, match="lost"):
        run_often(analysis, Lifetimes(tuple(every)))


def test_a_fault_in_the_plan_alone_is_detected() -> None:
    """Without conflicts, all is at offset 0: then the arena itself loses what is read."""
    analysis = analyze(model(TIGHT))
    apart = replace(analysis.problem, conflicts=((),) * len(analysis.problem.buffers))
    whole = tuple((Interval(0, analysis.schedule.length),) for _ in analysis.problem.buffers)
    run_often(analysis, Lifetimes(whole))
    with pytest.raises(AssertionError, match="lost"):
        run_often(replace(analysis, problem=apart), Lifetimes(whole))


def run_often(analysis: Analysis, lifetimes: Lifetimes) -> None:
    for seed in range(20):
        Interpreter(analysis, offsets(analysis), lifetimes, random.Random(seed)).run()


WIDENED = """
  %0 "x" int8[4]
  %1 "y" int8[4]
  %2 "narrow" int8[4]
  %3 "wide" int32[4]
  parameters 2
  inputs %0
  outputs %1
  allocate %2 {
    allocate %3 {
      store %2 = %0
      store %3 = %2 elementwise %2
      store %1 = %3
    }
  }
"""


@pytest.mark.parametrize("closer", [0, 1])
def test_an_element_wise_store_may_come_as_close_as_it_says_and_no_closer(closer: int) -> None:
    analysis = analyze(model(WIDENED))
    narrow, wide = (analysis.storage.tensors[TensorRef(0, 0, tensor)] for tensor in (2, 3))
    distance = analysis.separations.pairs[wide, narrow].bytes
    assert distance == 9
    places = [100 * buffer for buffer in range(len(analysis.problem.buffers))]
    places[wide], places[narrow] = 1000, 1000 + distance - closer
    interpreter = Interpreter(analysis, places, analysis.lifetimes, random.Random(1))
    with pytest.raises(AssertionError, match="lost") if closer else nullcontext():
        interpreter.run()
