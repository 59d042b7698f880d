"""Split a problem into independent parts.

Buffers that no chain of conflicts connects share all memory: models that never run together, mostly.  Buffers that no
chain of pools connects never share a pool: workspace and constants, mostly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from usmp_build.planner.memory.clique import Others, clique_of, cliques
from usmp_build.planner.memory.problem import Problem


def components(problem: Problem, members: Iterable[int]) -> list[list[int]]:
    """Split `members` into the connected components of their conflict graph.

    Each component is ascending, and they are ordered by their first member.
    """
    left = set(members)
    groups = []
    for first in sorted(left):
        if first in left:
            clique = clique_of(problem, first)
            group = _reached(problem, first, left) if clique is None else left.intersection(clique)
            left -= group
            groups.append(sorted(group))
    return groups


def _reached(problem: Problem, first: int, members: set[int]) -> set[int]:
    """Return the members that a chain of conflicts connects with `first`, itself included."""
    walk, left = [first], members - {first}
    for index in walk:  # grows while it is walked
        if not left:
            break
        new = left.intersection(problem.conflicts[index])
        left -= new
        walk += new
    return set(walk)


def families(problem: Problem) -> list[list[int]]:
    """Split all buffers so that no two families may use the same pool.

    Each family is ascending, and families are ordered by their first member.
    """
    family = list(range(len(problem.pools)))  # of each pool
    for pools in sorted({buffer.pools for buffer in problem.buffers}):
        joined = {family[pool] for pool in pools}
        family = [min(joined) if number in joined else number for number in family]
    members: dict[int, list[int]] = {}
    for index, buffer in enumerate(problem.buffers):
        members.setdefault(family[buffer.pools[0]], []).append(index)
    return list(members.values())


def restricted(problem: Problem, kept: Sequence[int]) -> Problem:
    """Return the problem of a subset of buffers in the same pools: its buffer i is buffer `kept[i]` of `problem`."""
    position = {old: new for new, old in enumerate(kept)}
    separations = {
        (position[a], position[b]): distance
        for (a, b), distance in problem.separations.items()
        if a in position and b in position
    }
    new_cliques = {id(clique): _renumbered(clique, position) for clique in cliques(problem)}

    def conflicts(old: int) -> Sequence[int]:
        clique = clique_of(problem, old)
        if clique is not None:
            return Others(new_cliques[id(clique)], position[old])
        return _renumbered(problem.conflicts[old], position)

    return Problem(problem.pools, tuple(problem.buffers[old] for old in kept), tuple(map(conflicts, kept)), separations)


def _renumbered(buffers: Iterable[int], position: Mapping[int, int]) -> tuple[int, ...]:
    try:
        return tuple(sorted(map(position.__getitem__, buffers)))  # mostly, all of them are kept
    except KeyError:
        return tuple(sorted(new for new in map(position.get, buffers) if new is not None))
