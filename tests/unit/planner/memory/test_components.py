"""Connected components."""

from tests.support.problems import alive, buffer, problem
from usmp_build.planner.memory.components import components, families, restricted


def test_chains_hang_together() -> None:
    stated = problem([buffer(name, 1) for name in "abcde"], [("a", "c"), ("c", "e"), ("b", "d")])
    assert components(stated, range(5)) == [[0, 2, 4], [1, 3]]


def test_only_members_connect() -> None:
    stated = problem([buffer(name, 1) for name in "abc"], [("a", "b"), ("b", "c")])
    assert components(stated, [0, 2]) == [[0], [2]]


def test_models_one_after_the_other() -> None:
    stated = alive({"a1": (0, 2, 1), "a2": (1, 3, 1), "b1": (3, 5, 1)})
    assert components(stated, range(3)) == [[0, 1], [2]]


def test_nothing() -> None:
    assert components(problem([]), []) == []


def test_long_chains() -> None:
    count = 20_000
    stated = problem([buffer(str(i), 1) for i in range(count)], [(str(i), str(i + 1)) for i in range(count - 1)])
    assert [len(component) for component in components(stated, range(count))] == [count]


def test_families_have_no_pool_in_common() -> None:
    buffers = [buffer("a", 1, (0, 1)), buffer("b", 1, (3,)), buffer("c", 1, (2,)), buffer("d", 1, (2, 1))]
    stated = problem(buffers, pools=dict.fromkeys(["p0", "p1", "p2", "p3"]))
    assert families(stated) == [[0, 2, 3], [1]]
    assert families(problem([])) == []


def test_the_problem_of_some_buffers() -> None:
    stated = problem(
        [buffer("a", 1), buffer("b", 2), buffer("c", 3)],
        [("a", "b"), ("a", "c")],
        separations={("a", "c"): 0, ("a", "b"): 1},
    )
    some = restricted(stated, [2, 0])
    assert [buffer.name for buffer in some.buffers] == ["c", "a"]
    assert some.conflicts == ((1,), (0,))
    assert some.separations == {(1, 0): 0}
    assert some.pools == stated.pools
