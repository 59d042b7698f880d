"""Connected components."""

from __future__ import annotations

from tests.support.problems import alive, buffer, problem
from usmp_build.memory.parts import parts


def test_chains_hang_together() -> None:
    stated = problem([buffer(name, 1) for name in "abcde"], [("a", "c"), ("c", "e"), ("b", "d")])
    assert parts(stated, range(5)) == [[0, 2, 4], [1, 3]]


def test_only_members_connect() -> None:
    stated = problem([buffer(name, 1) for name in "abc"], [("a", "b"), ("b", "c")])
    assert parts(stated, [0, 2]) == [[0], [2]]


def test_models_one_after_the_other() -> None:
    stated = alive({"a1": (0, 2, 1), "a2": (1, 3, 1), "b1": (3, 5, 1)})
    assert parts(stated, range(3)) == [[0, 1], [2]]


def test_nothing() -> None:
    assert parts(problem([]), []) == []


def test_long_chains() -> None:
    count = 20_000
    stated = problem([buffer(str(i), 1) for i in range(count)], [(str(i), str(i + 1)) for i in range(count - 1)])
    assert [len(part) for part in parts(stated, range(count))] == [count]
