"""A sample has an eighth of the machines and some of what takes long, and in time everything has its turn."""

import pytest

from tests.support.sample import of_long_ones, of_parameters
from tests.support.tree import ROOT

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.parametrize("board", range(16))
@pytest.mark.parametrize("word", ["a", "b"])
def test_on_boards(word, board): ...

@pytest.mark.drawn("net")
@pytest.mark.parametrize("net", range(3))
def test_of_nets(net): ...

@pytest.mark.parametrize("word", list("abcdefghijkl"))
def test_of_words(word): ...

def test_alone(): ...
"""


@pytest.fixture
def items(pytester: pytest.Pytester) -> list[pytest.Item]:
    return pytester.getitems(TESTS)


SEEDS = [str(seed) for seed in range(100)]


def test_every_seed_keeps_an_eighth_of_the_machines(items: list[pytest.Item]) -> None:
    samples = [{item.name for item in items if item not in of_parameters(items, seed)} for seed in SEEDS]
    always = set.intersection(*samples)
    assert [len([name for name in always if name.startswith(f"test_on_boards[{word}-")]) for word in "ab"] == [2, 2]
    assert len([name for name in always if name.startswith("test_of_nets")]) == 1
    assert {"test_of_words[a]", "test_of_words[l]", "test_alone"} <= always
    assert len(set.union(*samples)) > len(items) * 3 // 4  # in time, all have their turn


def test_the_order_does_not_matter(items: list[pytest.Item]) -> None:
    assert all(of_parameters(items, seed) == of_parameters(reversed(items), seed) for seed in SEEDS[:40])


def test_every_seed_keeps_a_third_of_what_takes_long(items: list[pytest.Item]) -> None:
    left_out = [{item.name for item in of_long_ones(dict.fromkeys(items, 3), seed)} for seed in SEEDS]
    assert all(name.startswith(("test_of_words[", "test_alone")) for name in set.union(*left_out))
    assert 6 <= len(set.union(*left_out)) <= 11
    assert len(set.intersection(*left_out)) <= 1


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
