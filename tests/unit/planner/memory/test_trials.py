"""Runs of an algorithm within a budget."""

import pytest

from tests.support.problems import buffer, problem
from usmp_build import effort
from usmp_build.planner.algorithms.greedy import GreedyBySize
from usmp_build.planner.memory.trials import Trials


def test_a_large_problem_counts_as_several_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four buffers that all conflict are 16 visits: with one more trial for each 8 of them, three."""
    monkeypatch.setattr(effort, "REFUSAL_VISITS", 8)
    large, small = (problem([buffer(name, 8) for name in names]) for names in ("abcd", "a"))
    trials = Trials(GreedyBySize(), 7)
    assert (trials.left(large), trials.left(small)) == (2, 7)
    assert trials.plan(large) is not None
    assert (trials.left(large), trials.left(small)) == (1, 4)
