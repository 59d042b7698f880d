"""A sample has a fifth of the machines and a half of what takes long, and in time everything has its turn."""

from __future__ import annotations

import pytest

from tests.support.sample import of_long_ones, of_parameters
from tests.support.tree import ROOT

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.parametrize("board", range(10))
@pytest.mark.parametrize("word", ["a", "b"])
def test_on_boards(word, board): ...

@pytest.mark.drawn("net")
@pytest.mark.parametrize("net", range(3))
def test_of_nets(net): ...

@pytest.mark.parametrize("word", ["a", "b"])
def test_of_words(word): ...

def test_alone(): ...
"""


@pytest.fixture
def items(pytester: pytest.Pytester) -> list[pytest.Item]:
    return pytester.getitems(TESTS)


def test_a_fifth_of_the_machines_is_kept(items: list[pytest.Item]) -> None:
    kept = [item.name for item in items if item not in of_parameters(items, "seed")]
    assert [len([name for name in kept if name.startswith(f"test_on_boards[{word}-")]) for word in "ab"] == [2, 2]
    assert len([name for name in kept if name.startswith("test_of_nets")]) == 1
    assert {"test_of_words[a]", "test_of_words[b]", "test_alone"} <= {*kept}


def test_seeds_draw_others_whatever_the_order(items: list[pytest.Item]) -> None:
    samples = [of_parameters(items, str(seed)) for seed in range(40)]
    assert samples == [of_parameters(reversed(items), str(seed)) for seed in range(40)]
    assert not set.intersection(*samples)


def test_a_half_of_what_takes_long_is_kept(items: list[pytest.Item]) -> None:
    samples = [{item.name for item in of_long_ones(items, str(seed))} for seed in range(40)]
    assert set.union(*samples) == {"test_of_words[a]", "test_of_words[b]", "test_alone"}
    assert not set.intersection(*samples)


UNNAMED = """
import pytest

@pytest.mark.drawn("values")
@pytest.mark.parametrize("values", [{f"{word}{letter}" for letter in "abcd"} for word in "xyz"])
def test_of_sets(values): ...

@pytest.mark.drawn("make")
@pytest.mark.parametrize("make", [lambda: 1, lambda: 2, lambda: 3])
def test_of_functions(make): ...
"""
SAMPLES = """
from tests.support.sample import of_parameters

def pytest_collection_modifyitems(items):
    for seed in range(20):
        print("left out:", *sorted(item.name for item in of_parameters(items, str(seed))))
"""


def test_processes_draw_the_same(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or pytest-xdist refuses to run: no draw depends on addresses or hashes, which differ between processes."""
    pytester.makeconftest(SAMPLES)
    pytester.makepyfile(UNNAMED)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    samples = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        run = pytester.runpytest_subprocess("--collect-only", "-q", "-p", "no:cacheprovider")
        samples.append([line for line in run.outlines if line.startswith("left out:")])
    assert samples[0] == samples[1]
    assert len(samples[0]) == 20
