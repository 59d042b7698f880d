"""Cliques: buffers that all conflict with each other and with no others, in less memory than a list for each.

Constants are alive all the time, and no pool takes both them and other buffers.  A model may have thousands, and these
have millions of pairs:

    conflicts of a   b c d
    conflicts of b   a   c d        clique  a b c d
    conflicts of c   a b   d
    conflicts of d   a b c

`Others` stands for such a list.  Algorithms may take it as one; those that would go through all pairs ask for the
clique.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload

from usmp_build.planner.memory.problem import Problem

Clique: TypeAlias = tuple[int, ...]
"""Indices of buffers, ascending.  Each of them has its `Others` as conflicts, and no separations."""


@dataclass(frozen=True, slots=True, eq=False)
class Others(Sequence[int]):
    """What a member of a clique conflicts with: all other members, ascending."""

    clique: Clique
    member: int

    def __len__(self) -> int:
        return len(self.clique) - 1

    def __iter__(self) -> Iterator[int]:
        return (index for index in self.clique if index != self.member)

    def __contains__(self, index: object) -> bool:
        if not isinstance(index, int) or index == self.member:
            return False
        position = bisect_left(self.clique, index)
        return self.clique[position : position + 1] == (index,)

    @overload
    def __getitem__(self, position: int) -> int: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[int, ...]: ...
    def __getitem__(self, position: int | slice) -> int | tuple[int, ...]:
        return tuple(self)[position]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Others):
            return self.member == other.member and self.clique == other.clique
        return tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


def clique_of(problem: Problem, index: int) -> Clique | None:
    """Return the clique of a buffer; None where its conflicts are listed."""
    others = problem.conflicts[index]
    return others.clique if isinstance(others, Others) else None


def cliques(problem: Problem) -> list[Clique]:
    """Return all cliques of a problem, by their first member."""
    return list({id(o.clique): o.clique for o in problem.conflicts if isinstance(o, Others)}.values())


def is_clique(problem: Problem, members: Iterable[int]) -> bool:
    """Whether these buffers are members of one clique."""
    distinct = {id(clique): clique for clique in (clique_of(problem, index) for index in members)}
    return len(distinct) == 1 and None not in distinct.values()
