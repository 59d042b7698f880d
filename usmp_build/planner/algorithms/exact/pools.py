"""Plans all pools of a problem: the cheapest plan, and among equals the one with the least sum of peaks.

A problem is split twice, and its parts are solved by themselves:

    families    buffers that no chain of pools connects never share a pool: workspace and constants, mostly
    areas       buffers that no chain of conflicts connects share all memory: models that never run together, mostly

Costs add up over all of them.  A peak is the highest of all areas, so peaks are lowered for all areas together.

    pool    |  area of one model   |  area of another  |
    slow    |        a b           |         f         |   1. least cost      (areas apart)
    fast    |       c d e          |        g h        |   2. least sum of peaks, then those of slow  (over all areas)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from usmp_build.planner.algorithms.exact.choices import within_reach
from usmp_build.planner.algorithms.exact.one_pool import ends, pack
from usmp_build.planner.algorithms.exact.packings import Packings
from usmp_build.planner.algorithms.exact.verdict import Verdict
from usmp_build.planner.memory.clique import is_clique
from usmp_build.planner.memory.components import families, restricted
from usmp_build.planner.memory.plan import Allocation, Plan, rank
from usmp_build.planner.memory.problem import Problem
from usmp_build.planner.memory.verify import violations

Known: TypeAlias = "dict[object, tuple[int, Verdict]]"
"""What was found for families that conflict throughout: the constants are the same in most problems of a firmware."""


def plan_pools(
    problem: Problem, nodes: int, start: Plan | None = None, minimize: bool = True, known: Known | None = None
) -> Plan | None:
    """Return the best plan found, with proofs; it may be `start`.  None when there is no plan, or none was found.

    At most `nodes` nodes are visited.  Without `minimize`, the first plan found will do.  Pools that `known` has
    are not searched again; it gets what is found of others.
    """
    valid = None if start is None or violations(problem, start) else start
    if valid is not None and not minimize:
        return valid
    verdict = judge(problem, nodes, valid, minimize, known)
    if verdict.places is None:
        return None
    allocations = tuple(verdict.places[index] for index in range(len(problem.buffers)))
    claims = tuple(verdict.claims.get(pool, 0) for pool in range(len(problem.pools)))
    bound = verdict.bound(len(problem.pools))
    if valid is not None and valid.allocations == allocations:
        return replace(valid, claims=claims, work=verdict.nodes, bound=bound)
    return Plan("exact", allocations, claims, verdict.nodes, bound)


def judge(
    problem: Problem, nodes: int, start: Plan | None = None, minimize: bool = True, known: Known | None = None
) -> Verdict:
    """Return the best plan and all proofs found within `nodes` nodes; `start` is a valid plan, or None."""
    reached = within_reach(problem)
    if not all(buffer.pools for buffer in reached.buffers):
        return Verdict(None, impossible=True)
    verdict = Verdict({})
    families_ = _in_order(reached)
    for number, kept in enumerate(families_):
        start_of_family = {new: start.allocations[old] for new, old in enumerate(kept)} if start is not None else None
        share = (nodes - verdict.nodes) // (len(families_) - number)
        verdict.include(kept, _family(restricted(reached, kept), share, start_of_family, minimize, known))
        if verdict.impossible:
            break
    if start is not None and verdict.places is not None:
        start_places = dict(enumerate(start.allocations))
        if rank(problem, start_places) <= rank(problem, verdict.places):
            verdict.keep(start_places)
    return verdict


def _in_order(problem: Problem) -> list[list[int]]:
    """Return families, and the buffers of each, in a canonical order: it does not depend on the given order, nor on
    names, unless buffers are equal otherwise.  All results follow that order.
    """

    def identity(index: int) -> tuple[object, ...]:
        buffer = problem.buffers[index]
        place = -1 if buffer.offset is None else buffer.offset
        return (buffer.intervals, -buffer.size, -buffer.alignment, place, buffer.pools, buffer.costs, buffer.name)

    several = [sorted(kept, key=identity) for kept in families(problem)]
    return sorted(several, key=lambda kept: identity(kept[0]))


def _family(
    problem: Problem, nodes: int, start: dict[int, Allocation] | None, minimize: bool, known: Known | None
) -> Verdict:
    pools = sorted({pool for buffer in problem.buffers for pool in buffer.pools})
    if len(pools) == 1:
        return _one_pool(problem, pools[0], nodes, start, minimize)
    from usmp_build.planner.algorithms.exact.several_pools import plan_areas  # only now: most workspaces are one pool

    if known is None or not is_clique(problem, range(len(problem.buffers))):
        return plan_areas(problem, pools, nodes, start)
    key = _throughout(problem), tuple(sorted(start.items())) if start else None
    searched, verdict = known.get(key, (0, None))
    if verdict is None or nodes > 2 * searched:  # twice the work finds little more
        verdict = plan_areas(problem, pools, nodes, start)
        known[key] = nodes, verdict
        return verdict
    return replace(verdict, nodes=0)


def _throughout(problem: Problem) -> object:
    """Return what decides the plans of buffers that all conflict: when they are alive is of no account."""
    buffers = (replace(buffer, name="", intervals=()) for buffer in problem.buffers)
    return problem.limits, tuple(buffers), tuple(sorted(problem.separations.items()))


def _one_pool(problem: Problem, pool: int, nodes: int, start: dict[int, Allocation] | None, minimize: bool) -> Verdict:
    limit = problem.pools[pool].limit
    members = range(len(problem.buffers))
    packings = Packings(problem, members)
    if packings.no_goods:
        return Verdict(None, impossible=True)
    offsets = {index: place.offset for index, place in start.items()} if start is not None else None
    if offsets is None and (limit is None or is_clique(problem, members)):  # first fit is best there but for alignment
        loose = packings.loose(members)
        offsets = loose if limit is None or ends(problem, loose, members) <= limit else None
    packed = pack(problem, members, limit, nodes, offsets, 0 if minimize else limit or 0)
    cost = sum(buffer.cost_in(pool) for buffer in problem.buffers)
    impossible = limit is not None and packed.bound > limit
    if packed.offsets is None:
        return Verdict(None, impossible, cost, nodes=packed.nodes)
    places = {index: Allocation(pool, at) for index, at in packed.offsets.items()}
    return Verdict(
        places, impossible, cost, packed.bound, {pool: packed.bound}, claims={pool: packed.bound}, nodes=packed.nodes
    )
