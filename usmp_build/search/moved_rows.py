"""Lets rows move while a model runs, where a plan of fixed places needs more than what is alive at its fullest step.

The order of jobs stays.  Each move is a step of its own, before a job that runs row by row; what is read later is read
from the new place.  A moved row is another buffer, so that all that holds for plans holds for these, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from usmp_build import effort
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.by_rows import RowMove
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.schedule import steps
from usmp_build.ir.storage import Storage
from usmp_build.passes.order import workspace_always
from usmp_build.planner.algorithms.auto import Auto
from usmp_build.planner.algorithms.moving import Movement, Relocation, moving
from usmp_build.planner.memory.components import restricted
from usmp_build.planner.memory.plan import Allocation, Plan
from usmp_build.planner.memory.verify import violations
from usmp_build.request import Goal
from usmp_build.search.incumbent import workspace
from usmp_build.search.operator_order import BestCandidate
from usmp_build.search.replanner import Replanner


class _Places(NamedTuple):
    """Where the buffers of a workspace are born, in its order, and the moves in the order of steps."""

    offsets: tuple[int, ...]
    moves: tuple[Relocation, ...]
    bytes: int
    """What all moves move."""


class _Before(NamedTuple):
    """A step before which rows may move."""

    model: int
    position: int
    arrivals: int


def with_moves(replanner: Replanner, best: BestCandidate) -> BestCandidate:
    """Return a plan in which rows move, if that needs less workspace; else the same one.

    Where there is one pool, all candidates in rows are tried: with moves, another one may need least.
    """
    candidates = [each for each in (best.analysis, *best.in_rows) if each.choices.by_rows.tables]
    if best.plan is None or not candidates or not _may_move(replanner):
        return best
    pools = {best.plan.allocations[index].pool for index in best.analysis.storage.workspace}
    size = workspace(best.analysis, best.plan)
    fixed, least, price = best, Fraction(size), _price(best.analysis, size)
    for analysis in candidates if len(pools) == 1 else candidates[:1]:
        moved = _with_moves(replanner, fixed, analysis, least, price)
        if moved is not None and moved[1] < least:
            best, least = moved
    return best


_SAVED_FOR_MOVES = Fraction(1, 10)
"""Per cent of the workspace that moves must save where they add a per cent to the bytes that operators move."""


def _price(analysis: Analysis, size: int) -> Fraction:
    """Return the bytes of workspace that each byte that moves must save."""
    workspace_ = {*analysis.storage.workspace}
    moved = (each for traffic in analysis.traffic.values() for buffer, each in traffic.items() if buffer in workspace_)
    total = sum(each.read + each.written for each in moved)
    return _SAVED_FOR_MOVES * size * 2 / max(1, total)


def _with_moves(
    replanner: Replanner, fixed: BestCandidate, analysis: Analysis, most: Fraction, price: Fraction
) -> tuple[BestCandidate, Fraction] | None:
    """Return a candidate with moves, and its workspace with their price, if it can be less than `most`.

    Constants are where those of the plan without moves are; None if it has others.
    """
    assert fixed.plan is not None
    plan = fixed.plan if analysis is fixed.analysis else None
    only = fixed.plan.allocations[fixed.analysis.storage.workspace[0]].pool
    pools = {index: only if plan is None else plan.allocations[index].pool for index in analysis.storage.workspace}
    movement = _in_pools(analysis, pools, ceil(most), price, plan)
    if movement is None or not 0 < len(movement.moves) <= effort.ROWS - sum(analysis.storage.rows.values()):
        return None
    moved = replanner.retime(analysis, _choices(analysis, movement.moves))
    constants = _constants(fixed.plan, fixed.analysis.storage, moved.storage)
    if constants is None:
        return None
    new = Plan("auto: moves", _allocations(analysis, moved, movement, pools, constants))
    if violations(moved.problem, new):
        return None
    size, bound = workspace(moved, new), fixed.bound
    if size < bound:  # as in `row_by_row`: with rows in some layers only, less may do
        bound = workspace_always(analysis)
    best = BestCandidate(moved, new, bound, other_buffers=fixed.other_buffers, others=fixed.others, ways=fixed.ways)
    return best, size + price * movement.bytes


def _in_pools(
    analysis: Analysis, places: Mapping[int, int], top: int, price: Fraction, plan: Plan | None
) -> _Places | None:
    """Return places of all workspace, with moves of rows, that are better than those of the plan in some pools.

    `places` are the pools of buffers, which are numbered as in the analysis.  Without a plan, what is in the only pool
    must end below `top`.
    """
    offsets = {index: plan.allocations[index].offset for index in places} if plan else {}
    moves: list[Relocation] = []
    bytes_ = 0
    for pool in sorted({*places.values()}):
        members = [index for index in places if places[index] == pool]
        ends = [offsets[index] + analysis.storage.buffers[index].extent for index in members if index in offsets]
        movement = _moved(analysis, members, max(ends, default=top), price)
        if movement is not None:
            offsets |= dict(zip(members, movement.offsets, strict=True))
            moves += movement.moves
            bytes_ += movement.bytes
    if offsets.keys() != places.keys():
        return None
    in_order = tuple(sorted(moves, key=lambda move: move.step))
    return _Places(tuple(offsets[index] for index in places), in_order, bytes_)


def _moved(analysis: Analysis, members: Sequence[int], top: int, price: Fraction) -> Movement | None:
    """Return places of buffers in one pool below `top`, with moves of rows; None if there are none."""
    rows, free = _rows(analysis), dict(_free(analysis))
    problem = restricted(analysis.problem, members)
    movable = {
        at
        for at, index in enumerate(members)
        if index in rows and len(problem.buffers[at].intervals) == 1 and not analysis.storage.buffers[index].cache_line
    }
    if not movable or any(buffer.offset is not None or not buffer.intervals for buffer in problem.buffers):
        return None
    movement = moving(problem, movable, [step in free for step in range(analysis.schedule.length)], top, price)
    return movement and replace(
        movement, moves=tuple(move._replace(buffer=members[move.buffer]) for move in movement.moves)
    )


def _may_move(replanner: Replanner) -> bool:
    """Tell whether RAM is worth some moves, and no algorithm is asked for that knows of none."""
    request = replanner.request
    is_plain = isinstance(replanner.algorithm, Auto) and not replanner.takes_first and not request.concurrent
    return is_plain and all(model.goal is Goal.RAM for model in request.models)


def _rows(analysis: Analysis) -> dict[int, tuple[TensorRef, int]]:
    """Return buffer → the tensor whose row it is, and the number of that."""
    return {
        buffer: (tensor, number)
        for tensor in analysis.choices.by_rows.tables
        for number, buffer in enumerate(analysis.storage.buffers_of(tensor))
    }


def _free(analysis: Analysis) -> Iterator[tuple[int, _Before]]:
    """Yield the steps of jobs, and those in which a row arrives for one."""
    for index, program in enumerate(analysis.schedule.programs):
        at = analysis.schedule.starts[index]
        enter, *nodes, _ = program.body
        at += sum(1 for _ in steps(enter))
        order = analysis.choices.order(index, analysis.models[index])
        for position, node in enumerate(nodes):
            in_node = [*steps(node)]
            is_job = position < len(order) and in_node[-1:] and in_node[-1].job is not None
            for arrivals in range(len(in_node)):
                if is_job:
                    yield at + arrivals, _Before(index, position, arrivals)
            at += len(in_node)


def _choices(analysis: Analysis, moves: Sequence[Relocation]) -> Choices:
    """Return the choices with these moves."""
    rows, free = _rows(analysis), dict(_free(analysis))
    by_model: dict[int, list[RowMove]] = {}
    tables = dict(analysis.choices.by_rows.tables)
    for move in moves:
        (tensor, row), before = rows[move.buffer], free[move.step]
        by_model.setdefault(before.model, []).append(RowMove(before.position, before.arrivals, tensor, row))
        tables[tensor] = replace(tables[tensor], moved=(*tables[tensor].moved, row))
    by_rows = replace(analysis.choices.by_rows, tables=tables)
    return replace(analysis.choices, by_rows=by_rows, moves={model: tuple(each) for model, each in by_model.items()})


def _constants(plan: Plan, before: Storage, after: Storage) -> dict[int, Allocation] | None:
    """Return the places of constants, which may have the names of others that are equal; None if one is new."""
    places = {
        name: plan.allocations[index]
        for index in before.constants
        for name in (before.buffers[index].name, *before.buffers[index].equals)
    }
    names = {index: after.buffers[index].name for index in after.constants}
    return None if names.values() - places.keys() else {index: places[name] for index, name in names.items()}


def _allocations(
    analysis: Analysis,
    moved: Analysis,
    movement: _Places,
    pools: Mapping[int, int],
    constants: Mapping[int, Allocation],
) -> tuple[Allocation, ...]:
    """Return the places in the analysis with moves: those of rows that have moved are behind those of their tensor."""
    before, after = analysis.storage, moved.storage
    born = zip(before.workspace, movement.offsets, strict=True)
    places = {after.buffers[index].name: index for index in range(len(after.buffers))}
    of_workspace = {places[before.buffers[index].name]: Allocation(pools[index], offset) for index, offset in born}
    found = {**constants, **of_workspace}
    rows, count = _rows(analysis), dict[TensorRef, int]()
    for move in movement.moves:
        tensor, _ = rows[move.buffer]
        table = analysis.choices.by_rows.tables[tensor]
        number = table.rows + count.get(tensor, 0)
        count[tensor] = count.get(tensor, 0) + 1
        found[after.buffers_of(tensor)[number]] = Allocation(pools[move.buffer], move.offset)
    return tuple(found[index] for index in range(len(after.buffers)))
