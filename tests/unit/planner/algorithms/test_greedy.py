"""The two greedy algorithms: their orders, and that nothing but these matters."""

from tests.support.problems import CASES, buffer, load, offsets, problem
from usmp_build.planner.algorithms.greedy import GreedyByConflicts, GreedyBySize, by_conflicts, by_size
from usmp_build.planner.memory.plan import peaks

CROWD = problem(
    [buffer("small", 1), buffer("crowded", 5), buffer("large", 9), buffer("b", 5), buffer("a", 5)],
    [("crowded", "small"), ("crowded", "large"), ("crowded", "a"), ("small", "b")],
)


def test_by_size_then_conflicts_then_name() -> None:
    names = [CROWD.buffers[index].name for index in by_size(CROWD, range(5))]
    assert names == ["large", "crowded", "a", "b", "small"]


def test_by_conflicts_then_size_then_name() -> None:
    names = [CROWD.buffers[index].name for index in by_conflicts(CROWD, range(5))]
    assert names == ["crowded", "small", "large", "a", "b"]


def test_equal_buffers_go_by_name() -> None:
    stated = problem([buffer("b", 10), buffer("c", 10), buffer("a", 10)])
    for algorithm in (GreedyBySize(), GreedyByConflicts()):
        assert offsets(stated, algorithm(stated)) == {"a": 0, "b": 10, "c": 20}


def test_a_full_pool_is_not_brought_back_by_a_lower_neighbor() -> None:
    stated, _ = load(next(path for path in CASES if path.stem == "readmitted_pool"))
    plan = GreedyBySize()(stated)
    assert plan is not None
    assert peaks(stated, plan) == (230, 100)


def test_a_gap_in_a_full_pool_is_used() -> None:
    stated, _ = load(next(path for path in CASES if path.stem == "bounded_gap"))
    assert offsets(stated, GreedyBySize()(stated)) == {"P": 0, "Q": 60, "R": 0}


def test_none_when_nothing_fits() -> None:
    stated, _ = load(next(path for path in CASES if path.stem == "tvm_no_room"))
    assert GreedyBySize()(stated) is None
    assert GreedyByConflicts()(stated) is None


def test_fixed_buffers_are_where_they_must_be() -> None:
    stated = problem([buffer("large", 20), buffer("small", 5), buffer("fixed", 1, offset=7)])
    for algorithm in (GreedyBySize(), GreedyByConflicts()):
        assert offsets(stated, algorithm(stated)) == {"large": 8, "small": 0, "fixed": 7}
    crossed = problem([buffer("a", 5, offset=0), buffer("b", 5, offset=4)])
    assert GreedyBySize()(crossed) is None
    assert GreedyByConflicts()(crossed) is None
