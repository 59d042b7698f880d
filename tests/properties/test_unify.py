"""What always holds of unification, whatever is asked."""

from itertools import product
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from tests.support.scopes import with_copies
from usmp_build.passes.scopes.question import Edge, Freedom, PoolQuestion
from usmp_build.passes.scopes.unify import NoRoom, PoolAnswer, TieConflict, unify

SETS = st.frozensets(st.integers(0, 4), min_size=1)


@st.composite
def questions(draw: st.DrawFn) -> PoolQuestion:
    """Values, and for each of their uses a port; ties between any of them."""
    values = draw(st.lists(SETS, min_size=1, max_size=5))
    uses = draw(st.lists(st.tuples(st.integers(0, len(values) - 1), st.sampled_from(Freedom), SETS), max_size=10))
    edges = [Edge(value, len(values) + index, freedom) for index, (value, freedom, _) in enumerate(uses)]
    allowed = [*values, *(port for _, _, port in uses)]
    domains = st.integers(0, len(allowed) - 1)
    ties = draw(st.lists(st.tuples(domains, domains), max_size=3))
    preferred = draw(st.frozensets(st.integers(0, 4)))
    return PoolQuestion(allowed, ties, edges, preferred, draw(st.permutations(range(len(allowed)))))


@given(questions())
def test_everybody_has_a_scope_that_he_allows(question: PoolQuestion) -> None:
    try:
        answer = unify(question)
    except TieConflict:
        return
    assert all(left and left <= asked for left, asked in zip(answer.allowed, question.allowed, strict=True))
    assert all(answer.allowed[a] == answer.allowed[b] for a, b in question.ties)
    copied = {edge: copy for copy in answer.copies for edge in copy.edges}
    for index, edge in enumerate(question.edges):
        home = copied[index].allowed if index in copied else answer.allowed[edge.value]
        assert home == answer.allowed[edge.port]
        assert index not in copied or not home & answer.allowed[edge.value]  # a copy that nobody needs
    for one in answer.copies:
        others = [copy for copy in answer.copies if copy.value == one.value and copy is not one]
        assert not any(one.allowed & other.allowed for other in others)  # two copies that could be one


@given(questions())
def test_an_answer_asked_again_is_itself(question: PoolQuestion) -> None:
    try:
        answer = unify(question)
    except TieConflict:
        return
    assert unify(question) == answer
    again = with_copies(question, answer)
    assert unify(again) == PoolAnswer(tuple(again.allowed), ())


FEW = st.frozensets(st.integers(0, 3), min_size=1)


@st.composite
def graphs(draw: st.DrawFn) -> PoolQuestion:
    """A value, perhaps a view of it, and what reads them; copies go and come only where somebody reaches."""
    values = [draw(FEW)] * draw(st.integers(1, 2))
    reach = st.none() | FEW
    uses = draw(st.lists(st.tuples(st.integers(0, len(values) - 1), st.sampled_from(Freedom), FEW, reach, reach)))
    edges = [Edge(value, len(values) + i, freedom, *able) for i, (value, freedom, _, *able) in enumerate(uses[:6])]
    ties = [(0, 1)] if len(values) == 2 else []
    return PoolQuestion([*values, *(port for _, _, port, *_ in uses[:6])], ties, edges)


def fewest_copies(question: PoolQuestion) -> float:
    """Count by trying every home of the values, and for every use every scope that it may read in."""
    values = {0} | {value for tie in question.ties for value in tie}
    best: float = inf
    for home in question.allowed[0]:
        scopes = [_scopes(question, edge, home) for edge in question.edges]
        for chosen in product(*scopes):
            homes = {(edge.value, scope) for edge, scope in zip(question.edges, chosen, strict=True)}
            best = min(best, len(homes - {(value, home) for value in values}))
    return best


def _scopes(question: PoolQuestion, edge: Edge, home: int) -> list[int]:
    port = question.allowed[edge.port]
    if home in port:
        return [home]
    if edge.sources is not None and home not in edge.sources:
        return []
    return [scope for scope in port if edge.copies is None or scope in edge.copies]


@given(graphs())
def test_no_answer_has_fewer_copies(question: PoolQuestion) -> None:
    fewest = fewest_copies(question)
    try:
        assert len(unify(question).copies) == fewest
    except NoRoom:
        assert fewest == inf
