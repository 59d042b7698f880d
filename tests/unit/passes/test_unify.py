"""Unification over sets of scopes, against the published cases of PlanDevices and in cases of our own."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.scopes import with_copies
from usmp_build.passes.scopes.question import Edge, Freedom, PoolQuestion
from usmp_build.passes.scopes.unify import Copy, NoRoom, PoolAnswer, TieConflict, unify

CASES = json.loads((Path(__file__).parents[2] / "cases" / "scopes" / "plan_devices.json").read_text("utf-8"))

SHARED = {
    "sharing": {"n0 at n1[0] n1[1]: CPU -> GPU"},
    "redundant_annotation": {"n0 at n1[0] n2[1]: CPU -> GPU"},
    "propogation": {"n0 at n1[0] n2[0]: CPU -> GPU", "n3 at n4[0]: GPU -> CPU"},
}
"""Where we differ from PlanDevices: two uses of one value on one device share a copy, there each has its own."""


class Case:
    """A case as a question; `names` are the domains."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        words = set(re.findall(r"CPU/scope[AB]|[CG]PU(?!/)", json.dumps(case)))
        self.scopes = sorted(words - {"CPU"} if "CPU/scopeA" in words else words | {"GPU"})
        self.names: list[str] = []
        self.allowed: list[frozenset[int]] = []
        self.ties: list[tuple[int, int]] = []
        self.edges: list[Edge] = []
        for name, scope in case["params"].items():
            self.domain(name, scope)
        for node in case["nodes"]:
            parts = re.fullmatch(r"(\w+) = (\w+)\((.*)\)(?: : (.*) -> (.*))?", node)
            assert parts
            self.node(*parts.groups())
        self.use(case["result"], self.domain("result", case.get("result_placement")))

    def node(self, name: str, kind: str, arguments: str, ports: str | None, result: str | None) -> None:
        value = self.domain(name, result)
        scopes: list[str | None] = [*ports.split()] if ports else [None] * len(arguments.split(", "))
        for index, (argument, scope) in enumerate(zip(arguments.split(", "), scopes, strict=True)):
            if kind == "proj":
                self.ties.append((self.names.index(argument), value))
                continue
            port = self.domain(f"{name}[{index}]", scope)
            if kind == "prim":
                self.ties.append((value, port))
            self.use(argument, port)

    def use(self, argument: str, port: int) -> None:
        match = re.fullmatch(r"(\w+)(?:@([\w/]+))?(\??)", argument)
        assert match
        value, free = self.names.index(match[1]), bool(match[3])
        if match[2]:
            self.allowed[value] &= self.set(match[2])
        freedom = Freedom.FREE if free else Freedom.PINNED if match[2] else Freedom.PLAIN
        self.edges.append(Edge(value, port, freedom))

    def domain(self, name: str, scope: str | None) -> int:
        self.names.append(name)
        self.allowed.append(self.set(scope))
        return len(self.names) - 1

    def set(self, scope: str | None) -> frozenset[int]:
        whole = [i for i, name in enumerate(self.scopes) if scope in {None, name, name.partition("/")[0]}]
        return frozenset(whole or range(len(self.scopes)))

    def question(self) -> PoolQuestion:
        values = [*self.case["params"], *(node.partition(" ")[0] for node in self.case["nodes"])]
        order = ["result", *values, *self.names]
        defaults = [self.names.index(name) for name in order]
        return PoolQuestion(self.allowed, self.ties, self.edges, self.set(self.case["default"]), defaults)

    def scope(self, allowed: frozenset[int]) -> str:
        return "|".join(self.scopes[i] for i in sorted(allowed))

    def copy(self, copy: Copy, answer: PoolAnswer) -> str:
        users = " ".join(self.names[self.edges[i].port] for i in copy.edges)
        source = self.scope(answer.allowed[copy.value])
        return f"{self.names[copy.value]} at {users}: {source} -> {self.scope(copy.allowed)}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["test"]))
def test_placements_and_copies_are_those_of_plan_devices(case: dict[str, Any]) -> None:
    stated = Case(case)
    answer = unify(stated.question())
    placed = {name: stated.scope(answer.allowed[i]) for i, name in enumerate(stated.names)}
    assert {name: placed[name] for name in case["placement"]} == case["placement"]
    assert [placed[f"n0[{i}]"] for i in range(len(case.get("ports", ())))] == case.get("ports", [])
    expected = SHARED.get(case["test"], set(case["copies"]))
    assert {stated.copy(copy, answer) for copy in answer.copies} == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["test"]))
def test_the_answer_with_its_copies_asks_for_no_more(case: dict[str, Any]) -> None:
    question = Case(case).question()
    answer = unify(question)
    assert unify(question) == answer
    again = with_copies(question, answer)
    assert unify(again) == PoolAnswer(tuple(again.allowed), ())


def sets(*allowed: str) -> list[frozenset[int]]:
    return [frozenset(map(int, one)) for one in allowed]


def test_what_is_allowed_shrinks_to_what_all_users_allow() -> None:
    answer = unify(PoolQuestion(sets("012", "01", "12"), edges=[Edge(0, 1), Edge(0, 2)]))
    assert answer == PoolAnswer(tuple(sets("1", "1", "1")), ())


def test_the_first_user_wins_and_the_others_share_copies() -> None:
    """Uses 0 and 3 agree on scope 2, use 2 needs a copy of its own; a free edge comes after all plain ones."""
    edges = [Edge(0, 1, Freedom.FREE), Edge(0, 2), Edge(0, 3), Edge(0, 4)]
    answer = unify(PoolQuestion(sets("0123", "12", "0", "3", "23"), edges=edges))
    assert answer.allowed[0] == {0}
    assert answer.copies == (Copy(0, frozenset({2}), (0, 3)), Copy(0, frozenset({3}), (2,)))
    edges[0] = Edge(0, 1)
    assert unify(PoolQuestion(sets("0123", "12", "0", "3", "23"), edges=edges)).allowed[0] == {2}


def test_a_pinned_edge_leaves_the_other_side_free() -> None:
    """Of two uses of a pinned value the default moves both away; united at once, they would have stayed."""
    question = PoolQuestion(
        sets("0", "01"), edges=[Edge(0, 1, Freedom.PINNED)], preferred=frozenset({1}), defaults=[0, 1]
    )
    assert unify(question).copies == (Copy(0, frozenset({1}), (0,)),)
    assert unify(replace(question, edges=[Edge(0, 1)])).copies == ()
    assert unify(replace(question, preferred=frozenset())).allowed == tuple(sets("0", "0"))


def test_a_home_that_needs_fewer_copies_wins_over_the_first_user() -> None:
    """Served in order, the value would be in 0, and copies in 1 and in 2."""
    edges = [Edge(0, port) for port in range(1, 5)]
    answer = unify(PoolQuestion(sets("012", "01", "02", "1", "2"), edges=edges))
    assert answer.allowed[0] == {1}
    assert answer.copies == (Copy(0, frozenset({2}), (1, 3)),)


def test_copies_are_shared_by_all_who_can() -> None:
    """The value is elsewhere: of {1, 2}, {1, 3}, {2}, {3} the first two would share one, and the others have two."""
    edges = [Edge(0, port) for port in range(1, 5)]
    answer = unify(PoolQuestion(sets("0", "12", "13", "2", "3"), edges=edges))
    assert answer.copies == (Copy(0, frozenset({2}), (0, 2)), Copy(0, frozenset({3}), (1, 3)))


@pytest.mark.parametrize(("times", "copies"), [(1, 2), (3, 6), (4, 12)])
def test_where_sets_are_too_many_to_be_tried_uses_are_served_in_order(times: int, copies: int) -> None:
    """Of each four uses {1, 2}, {1, 3}, {2, 4}, {3, 5} the first two share a copy, but 2 and 3 are fewer."""
    fours = [[5 * n + scope for scope in pair] for n in range(times) for pair in ((1, 2), (1, 3), (2, 4), (3, 5))]
    ports = list(map(frozenset, fours))
    answer = unify(PoolQuestion([frozenset({0}), *ports], edges=[Edge(0, 1 + port) for port in range(len(ports))]))
    assert len(answer.copies) == copies
    assert all(copy.allowed <= ports[edge] for copy in answer.copies for edge in copy.edges)
    assert sorted(edge for copy in answer.copies for edge in copy.edges) == list(range(len(ports)))


def test_copies_go_only_where_they_may() -> None:
    edges = [Edge(0, 1, copies=frozenset({2})), Edge(0, 2, copies=frozenset({1}))]
    answer = unify(PoolQuestion(sets("0", "12", "12"), edges=edges))
    assert [copy.allowed for copy in answer.copies] == [{2}, {1}]
    with pytest.raises(NoRoom) as caught:
        unify(PoolQuestion(sets("0", "1"), edges=[Edge(0, 1, copies=frozenset({0}))]))
    assert (caught.value.edge, caught.value.port) == (0, {1})


def test_a_tie_that_cannot_be_is_an_error() -> None:
    with pytest.raises(TieConflict) as caught:
        unify(PoolQuestion(sets("01", "12", "0"), ties=[(0, 1), (1, 2)]))
    assert (caught.value.tie, caught.value.sides) == (1, ({1}, {0}))


@pytest.mark.parametrize("tied", [False, True])
def test_five_thousand_in_a_chain(tied: bool) -> None:
    """The last one decides; a stack of that depth would overflow."""
    links = [(i, i + 1) for i in range(5000)]
    allowed = sets(*["01"] * 5000, "1")
    question = PoolQuestion(allowed, links) if tied else PoolQuestion(allowed, edges=[Edge(a, b) for a, b in links])
    assert set(unify(question).allowed) == {frozenset({1})}
