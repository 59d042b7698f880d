"""Who may not overlap whom: what is alive together, and what models use that may run at the same time."""

from dataclasses import replace

from tests.support.road import analyze_as, model, request
from tests.support.small_models import CHAIN
from usmp_build.interfaces.analysis import Analysis


def conflicts(analysis: Analysis) -> set[tuple[str, str]]:
    names = [buffer.name for buffer in analysis.storage.buffers]
    return {(names[a], names[b]) for a, others in enumerate(analysis.problem.conflicts) for b in others}


def analysis(*pairs: tuple[int, int]) -> Analysis:
    asked = replace(request("a", "b", "c"), concurrent=frozenset(pairs))
    return analyze_as(asked, *(model(CHAIN, name) for name in "abc"))


def test_exclusive_models_conflict_in_nothing() -> None:
    assert all(one[0] == other[0] for one, other in conflicts(analysis()))


def test_neighbors_in_a_chain_conflict_with_each_other() -> None:
    pairs = {pair for pair in conflicts(analysis()) if pair[0][0] == "a"}
    chain = [("a.x", "a.a"), ("a.a", "a.b"), ("a.b", "a.y")]
    assert pairs == {*chain, *((above, below) for below, above in chain)}


def test_models_at_the_same_time_conflict_in_everything_and_it_goes_no_further() -> None:
    """a may meet b, and b may meet c; a and c share."""
    pairs = conflicts(analysis((0, 1), (1, 2)))
    between = {(one[0], other[0]) for one, other in pairs if one[0] != other[0]}
    assert between == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}
    for pair in ("ab", "bc"):
        assert sum(one[0] == pair[0] and other[0] == pair[1] for one, other in pairs) == 16


def test_within_a_model_nothing_changes() -> None:
    within = [
        {pair for pair in conflicts(variant) if pair[0][0] == pair[1][0]} for variant in (analysis(), analysis((0, 2)))
    ]
    assert within[0] == within[1]
