"""Minimizes copies: groups the uses of a value that share one, and chooses the home of the value that needs fewest.

    value {a, b, c}, read in {a, b}, {a, c}, {b}, {c}

    first come, first served    the value in a; copies in b and c
    fewest                      the value in b; one copy, in c, for the second and the fourth

This is the hitting set problem: choose as few scopes as possible such that every use accepts one of them.  Sets of
scopes are tried by size, up to a limit of work; beyond it, the answer is first come, first served.  So it is if that
needs as few copies: of two uses in conflict, the first one has priority.  Scopes are preferred in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from math import comb, inf

from usmp_build.passes.scopes.question import Allowed, Edge, PoolQuestion

_TRIED = 20_000
"""Maximum number of sets of scopes that are tried for one value in one home."""


def groups(wanted: Sequence[Allowed]) -> list[list[int]]:
    """Partition uses into as few groups as possible, such that the sets of each group have a scope in common.

    Groups are lists of positions in `wanted`, ordered by their first.
    """
    first_served = _in_order(wanted)
    chosen = _hitting(wanted, len(first_served) - 1)
    if chosen is None:
        return first_served
    by_scope: dict[int, list[int]] = {}
    for position, allowed in enumerate(wanted):
        by_scope.setdefault(next(scope for scope in chosen if scope in allowed), []).append(position)
    return list(by_scope.values())


def _in_order(wanted: Sequence[Allowed]) -> list[list[int]]:
    served: list[tuple[Allowed, list[int]]] = []
    for position, allowed in enumerate(wanted):
        for number, (common, group) in enumerate(served):
            if common & allowed:
                served[number] = (common & allowed, [*group, position])
                break
        else:
            served.append((allowed, [position]))
    return [group for _, group in served]


def _hitting(wanted: Sequence[Allowed], most: int) -> tuple[int, ...] | None:
    """Return the first smallest hitting set of at most `most` scopes; None if there is none."""
    distinct = set(wanted)
    minimal = {scope_set for scope_set in distinct if not any(other < scope_set for other in distinct)}
    scopes, tried = sorted(frozenset[int]().union(*minimal)), 0
    for size in range(max(1, _apart(minimal)), most + 1):
        tried += comb(len(scopes), size)
        if tried > _TRIED:
            return None
        for chosen in combinations(scopes, size):
            if all(not scope_set.isdisjoint(chosen) for scope_set in minimal):
                return chosen
    return None


def _apart(wanted: Iterable[Allowed]) -> int:
    """Return the number of pairwise disjoint sets, chosen smallest first: a lower bound on the hitting set."""
    taken: set[int] = set()
    count = 0
    for scope_set in sorted(wanted, key=lambda each: (len(each), sorted(each))):
        if taken.isdisjoint(scope_set):
            taken |= scope_set
            count += 1
    return count


def homes(question: PoolQuestion, classes: Sequence[int], allowed: Sequence[Allowed]) -> Iterator[tuple[int, Allowed]]:
    """Yield values for which first come, first served would need an extra copy, each with the homes that need fewest.

    `classes` is the representative of each domain, `allowed` are its remaining scopes.  Only values are considered
    whose ports have no other edge or tie.
    """
    mentions = Counter(chain.from_iterable(map(set, question.ties)))
    mentions.update(chain.from_iterable((edge.value, edge.port) for edge in question.edges))
    for home, edges in _edges_by_class(question, classes).items():
        first_served = _first_served(question, edges, allowed[home])
        is_one_home = all(first_served & question.allowed[edge.port] for edge in edges)
        if is_one_home or len(allowed[home]) == 1 or any(mentions[edge.port] > 1 for edge in edges):
            continue
        costs = {scope: _copies(question, edges, scope) for scope in sorted(allowed[home])}
        fewest = min(costs.values())
        best = frozenset(scope for scope, cost in costs.items() if cost == fewest)
        if fewest < inf and not best & first_served:
            yield home, best


def _first_served(question: PoolQuestion, edges: Sequence[Edge], allowed: Allowed) -> Allowed:
    """Return the homes that are left when each edge that can be met narrows them, in turn."""
    for edge in edges:
        allowed = allowed & question.allowed[edge.port] or allowed
    return allowed


def _edges_by_class(question: PoolQuestion, classes: Sequence[int]) -> dict[int, list[Edge]]:
    """Return the edges of each class of values, in the order in which they are served."""
    edges: dict[int, list[Edge]] = {}
    for edge in sorted(question.edges, key=lambda edge: edge.freedom.order):
        edges.setdefault(classes[edge.value], []).append(edge)
    return edges


def _copies(question: PoolQuestion, edges: Sequence[Edge], home: int) -> float:
    """Return the number of copies that values in one home need; infinite if one cannot be made."""
    wanted: dict[int, list[Allowed]] = {}
    for edge in edges:
        port = question.allowed[edge.port]
        if home not in port:
            targets = port if edge.copies is None else port & edge.copies
            if not targets or (edge.sources is not None and home not in edge.sources):
                return inf
            wanted.setdefault(edge.value, []).append(targets)
    return sum(len(groups(each)) for each in wanted.values())
