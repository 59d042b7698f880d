"""As few copies as possible: which uses of a value share one, and which home of the value leaves the fewest.

    value {a, b, c}, read in {a, b}, {a, c}, {b}, {c}

    first come, first served    the value in a; copies in b and c
    fewest                      the value in b; one copy, in c, for the second and the fourth

It is the problem of hitting sets: choose as few scopes as possible such that every use has one of them.  Sets of scopes
are tried by size, up to a limit of work; beyond it, first come, first served is the answer.  It also is where it is as
good: of two uses that cannot both have their way, the first one has.  Scopes are preferred in their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import comb, inf

from usmp_build.passes.scopes.question import Allowed, Edge, Question

_TRIED = 20_000
"""Maximum number of sets of scopes that are tried for one value in one home."""


def groups(wanted: Sequence[Allowed]) -> list[list[int]]:
    """Group uses, as few groups as there can be, such that the sets of each group have a scope in common.

    Groups are lists of positions in `wanted`, by their first.
    """
    first_served = _in_order(wanted)
    chosen = _hitting(wanted, len(first_served) - 1)
    if chosen is None:
        return first_served
    made: dict[int, list[int]] = {}
    for position, allowed in enumerate(wanted):
        made.setdefault(next(scope for scope in chosen if scope in allowed), []).append(position)
    return list(made.values())


def _in_order(wanted: Sequence[Allowed]) -> list[list[int]]:
    made: list[tuple[Allowed, list[int]]] = []
    for position, allowed in enumerate(wanted):
        for number, (common, group) in enumerate(made):
            if common & allowed:
                made[number] = (common & allowed, [*group, position])
                break
        else:
            made.append((allowed, [position]))
    return [group for _, group in made]


def _hitting(wanted: Sequence[Allowed], most: int) -> tuple[int, ...] | None:
    """Return the first smallest set of at most `most` scopes of which every use has one; None: there is none."""
    distinct = set(wanted)
    least = {one for one in distinct if not any(other < one for other in distinct)}
    scopes, tried = sorted(frozenset[int]().union(*least)), 0
    for size in range(max(1, _apart(least)), most + 1):
        tried += comb(len(scopes), size)
        if tried > _TRIED:
            return None
        for chosen in combinations(scopes, size):
            if all(not one.isdisjoint(chosen) for one in least):
                return chosen
    return None


def _apart(wanted: Iterable[Allowed]) -> int:
    """Return how many of the sets have no scope in common with each other, of the smallest first: a lower bound."""
    taken: set[int] = set()
    count = 0
    for one in sorted(wanted, key=lambda each: (len(each), sorted(each))):
        if taken.isdisjoint(one):
            taken |= one
            count += 1
    return count


def homes(question: Question, classes: Sequence[int], allowed: Sequence[Allowed]) -> Iterator[tuple[int, Allowed]]:
    """Yield values for which the first users would cost a copy too many, each with the homes that cost the fewest.

    `classes` says of each domain which one stands for those that share their scopes, `allowed` what is left to it.
    Looked at are values whose uses demand something by themselves: nothing else depends on these ports.
    """
    mentions = Counter(domain for tie in question.ties for domain in set(tie))
    mentions.update(domain for edge in question.edges for domain in (edge.value, edge.port))
    of_class: dict[int, list[Edge]] = {}
    for edge in sorted(question.edges, key=lambda edge: edge.freedom.order):
        of_class.setdefault(classes[edge.value], []).append(edge)
    for home, edges in of_class.items():
        first_served = allowed[home]
        for edge in edges:
            first_served = first_served & question.allowed[edge.port] or first_served
        is_one_home = all(first_served & question.allowed[edge.port] for edge in edges)
        if is_one_home or len(allowed[home]) == 1 or any(mentions[edge.port] > 1 for edge in edges):
            continue
        costs = {scope: _copies(question, edges, scope) for scope in sorted(allowed[home])}
        fewest = min(costs.values())
        best = frozenset(scope for scope, cost in costs.items() if cost == fewest)
        if fewest < inf and not best & first_served:
            yield home, best


def _copies(question: Question, edges: Sequence[Edge], home: int) -> float:
    """Count the copies of values in one home; infinite where one cannot be made."""
    wanted: dict[int, list[Allowed]] = {}
    for edge in edges:
        port = question.allowed[edge.port]
        if home not in port:
            room = port if edge.copies is None else port & edge.copies
            if not room or (edge.sources is not None and home not in edge.sources):
                return inf
            wanted.setdefault(edge.value, []).append(room)
    return sum(len(groups(each)) for each in wanted.values())
