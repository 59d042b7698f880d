"""Finds the scopes of every value by unification over sets of scopes, without knowing a graph.

A *domain* is a value, or a port: the demand of an operator for one operand.  It has a set of allowed scopes.

    value ═══ value     a tie: one set for both, or it is an error (a view and its source)
    value ─── port      an edge: one set for both if the sets intersect, else a copy

United domains share the intersection from then on, so demands propagate both ways, from an operator to the value, to
its producer, and on to its other users.  Earlier decisions win, unless another home of a value needs fewer copies:

    ties · homes · plain edges, in order · free edges, in order · defaults · pinned edges, in order · copies

Sets only shrink, so an edge that fails once needs a copy for good.  Uses share as few copies as possible (`fewest`).
"""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.frozen import frozen
from usmp_build.passes.scopes.fewest import groups, homes
from usmp_build.passes.scopes.question import Allowed, Edge, Freedom, PoolQuestion


@frozen
class Copy:
    """A second home of a value, shared by the uses at `edges`, which are positions in `PoolQuestion.edges`."""

    value: int
    allowed: Allowed
    edges: tuple[int, ...]


@frozen
class PoolAnswer:
    """The solution of a question."""

    allowed: tuple[Allowed, ...]
    """For each domain its remaining scopes, at least one."""
    copies: tuple[Copy, ...]
    """In the order of their first edges."""


class TieConflict(Exception):
    """Two domains must have the same scope, but their sets do not intersect."""

    def __init__(self, tie: int, sides: tuple[Allowed, Allowed]) -> None:
        super().__init__(f"tie {tie}: {sorted(sides[0])} and {sorted(sides[1])}")
        self.tie = tie
        self.sides = sides


class NoRoom(Exception):
    """A use needs a copy, but no scope is possible for it."""

    def __init__(self, edge: int, value: Allowed, port: Allowed) -> None:
        super().__init__(f"edge {edge}: {sorted(value)} and {sorted(port)}")
        self.edge = edge
        self.value = value
        self.port = port


def unify(question: PoolQuestion) -> PoolAnswer:
    """Solve a question.  Raises TieConflict and NoRoom; no set of the question may be empty."""
    domains = _Domains(question.allowed)
    edges = question.edges
    for index, (left, right) in enumerate(question.ties):
        if not domains.unite(left, right):
            raise TieConflict(index, (domains.allowed(left), domains.allowed(right)))
    classes = domains.classes()
    for value, best in homes(question, classes, list(map(domains.allowed, classes))):
        domains.narrow(value, best)
    apart = _unite(domains, edges, Freedom.PLAIN) + _unite(domains, edges, Freedom.FREE)
    if question.preferred:
        for domain in question.defaults:
            domains.narrow(domain, question.preferred)
    apart += _unite(domains, edges, Freedom.PINNED)
    groups = _groups(domains, edges, sorted(apart))
    copies = (Copy(edges[g[0]].value, domains.allowed(edges[g[0]].port), tuple(g)) for g in groups)
    return PoolAnswer(tuple(map(domains.allowed, range(len(question.allowed)))), tuple(copies))


def _unite(domains: _Domains, edges: Sequence[Edge], freedom: Freedom) -> list[int]:
    """Unite the ends of each edge of one freedom if their sets intersect; return the other edges."""
    return [i for i, e in enumerate(edges) if e.freedom is freedom and not domains.unite(e.value, e.port)]


def _groups(domains: _Domains, edges: Sequence[Edge], apart: Sequence[int]) -> list[list[int]]:
    """Group the uses that need a copy so that there are as few copies as possible; return the edges of each group.

    The port of a group's first edge stands for the copy.
    """
    of_value: dict[int, list[int]] = {}
    for index in apart:
        edge = edges[index]
        sides = ((edge.value, edge.sources), (edge.port, edge.copies))
        if not all(domains.narrow(domain, able) for domain, able in sides if able is not None):
            raise NoRoom(index, domains.allowed(edge.value), domains.allowed(edge.port))
        of_value.setdefault(edge.value, []).append(index)
    copies = []
    for value_edges in of_value.values():
        for group in groups([domains.allowed(edges[index].port) for index in value_edges]):
            copies.append([value_edges[position] for position in group])
            for index in copies[-1]:
                domains.unite(edges[copies[-1][0]].port, edges[index].port)
    return sorted(copies)


class _Domains:
    """Sets of domains that share their scopes: union-find, without recursion."""

    def __init__(self, allowed: Sequence[Allowed]) -> None:
        self._parent = list(range(len(allowed)))
        self._size = [1] * len(allowed)
        self._allowed = list(allowed)

    def allowed(self, domain: int) -> Allowed:
        return self._allowed[self._find(domain)]

    def classes(self) -> list[int]:
        return list(map(self._find, range(len(self._parent))))

    def unite(self, left: int, right: int) -> bool:
        """Let two domains share their scopes; change nothing and return False if they have none in common."""
        left, right = self._find(left), self._find(right)
        both = self._allowed[left] & self._allowed[right]
        if not both:
            return False
        if left != right:
            if self._size[left] < self._size[right]:
                left, right = right, left
            self._parent[right] = left
            self._size[left] += self._size[right]
            self._allowed[left] = both
        return True

    def narrow(self, domain: int, allowed: Allowed) -> bool:
        """Keep only these scopes; change nothing and return False if the domain has none of them."""
        root = self._find(domain)
        both = self._allowed[root] & allowed
        if both:
            self._allowed[root] = both
        return bool(both)

    def _find(self, domain: int) -> int:
        parent = self._parent
        while parent[domain] != domain:
            parent[domain] = parent[parent[domain]]
            domain = parent[domain]
        return domain
