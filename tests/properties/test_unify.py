"""What always holds of unification, whatever is asked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.passes.test_unify import with_copies
from usmp_build.passes.scopes.unify import Answer, Edge, Freedom, Question, TieConflict, unify

SETS = st.frozensets(st.integers(0, 4), min_size=1)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Values, and for each of their uses a port; ties between any of them."""
    values = draw(st.lists(SETS, min_size=1, max_size=5))
    uses = draw(st.lists(st.tuples(st.integers(0, len(values) - 1), st.sampled_from(Freedom), SETS), max_size=10))
    edges = [Edge(value, len(values) + index, freedom) for index, (value, freedom, _) in enumerate(uses)]
    allowed = [*values, *(port for _, _, port in uses)]
    domains = st.integers(0, len(allowed) - 1)
    ties = draw(st.lists(st.tuples(domains, domains), max_size=3))
    preferred = draw(st.frozensets(st.integers(0, 4)))
    return Question(allowed, ties, edges, preferred, draw(st.permutations(range(len(allowed)))))


@given(questions())
def test_everybody_has_a_scope_that_he_allows(question: Question) -> None:
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
def test_an_answer_asked_again_is_itself(question: Question) -> None:
    try:
        answer = unify(question)
    except TieConflict:
        return
    assert unify(question) == answer
    again = with_copies(question, answer)
    assert unify(again) == Answer(tuple(again.allowed), ())
