"""Writes problems as CSV that `csv_form` reads, and offsets as MiniMalloc does."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic, ProblemError
from usmp_build.planner.memory.alive import conflicts
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Buffer, Problem
from usmp_build.planner.memory.timeline import Timeline
from usmp_build.planner.problems.statement import Statement


def problem_csv(problem: Problem) -> str:
    """Write a problem; it reads back as the same problem.

    Raises ProblemError when CSV cannot hold it: conflicts that no interval shows, or names with line breaks.
    """
    if problem.conflicts != conflicts([buffer.intervals for buffer in problem.buffers]) or not _alive(problem):
        message = "conflicts of this problem do not follow from intervals"
        raise ProblemError(Diagnostic("Q114", message, help="write JSON, which states each conflict"))
    names = [_fitting(buffer.name) for buffer in problem.buffers]
    pools = [_fitting(pool.name, " |:") for pool in problem.pools]
    tables: list[list[Sequence[object]]] = [
        [("id", "lower", "upper", "size", "alignment", "pools", "offset"), *_buffers(problem, pools)],
        [("pool", "limit"), *((name, _empty(p.limit)) for name, p in zip(pools, problem.pools, strict=True))],
    ]
    if problem.separations:
        pairs = [(names[low], names[high], distance) for (low, high), distance in problem.separations.items()]
        tables.append([("below", "above", "separation"), *pairs])
    return "\n".join(map(_text, tables))


def offsets_csv(statement: Statement, plan: Plan) -> str:
    """Write a plan as MiniMalloc does: the columns of the problem, then the offset; with several pools, the pool too.

    A buffer has a row for each interval; one without intervals has one, with empty steps.
    """
    stated = statement.problem
    left_out = set()
    if not _has_alignment(stated):
        left_out.add(4)
    if len(statement.pools) <= 1:
        left_out.add(5)
    rows: list[Sequence[object]] = [("id", "lower", "upper", "size", "alignment", "pool", "offset")]
    rows_of_buffers = zip(statement.names, _facts(stated), plan.allocations, strict=True)
    for name, (intervals, size, alignment), place in rows_of_buffers:
        tail = (size, alignment, statement.pools[place.pool].name, place.offset)
        rows += [(_fitting(name), lower, upper, *tail) for lower, upper in intervals or (("", ""),)]
    return _text([[value for column, value in enumerate(row) if column not in left_out] for row in rows])


def _facts(stated: Problem | Timeline) -> Iterator[tuple[Sequence[tuple[object, object]], int, int]]:
    if isinstance(stated, Problem):
        yield from ((buffer.intervals, buffer.size, buffer.alignment) for buffer in stated.buffers)
        return
    columns = (stated.lower, stated.upper, stated.size, stated.alignment)
    for lower, upper, size, alignment in zip(*(column.tolist() for column in columns), strict=True):
        yield ((lower, upper),), size, alignment


def _has_alignment(stated: Problem | Timeline) -> bool:
    if isinstance(stated, Problem):
        return any(buffer.alignment != 1 for buffer in stated.buffers)
    return bool((stated.alignment != 1).any())


def _alive(problem: Problem) -> bool:
    return all(buffer.intervals for buffer in problem.buffers)


def _buffers(problem: Problem, pools: Sequence[str]) -> Iterator[Sequence[object]]:
    for buffer in problem.buffers:
        facts = (buffer.size, buffer.alignment, _candidates(buffer, pools), _empty(buffer.offset))
        yield from ((buffer.name, lower, upper, *facts) for lower, upper in buffer.intervals)


def _candidates(buffer: Buffer, pools: Sequence[str]) -> str:
    """Write pools with their costs: `tcm:0|sram:5`."""
    stated = buffer.costs or [0] * len(buffer.pools)
    costs = [f":{cost}" for cost in stated] if len(stated) > 1 or any(stated) else [""]
    return "|".join(pools[pool] + cost for pool, cost in zip(buffer.pools, costs, strict=True))


def _empty(value: int | None) -> object:
    return "" if value is None else value


def _fitting(name: str, without: str = "") -> str:
    """Return a name that reads back; raise ProblemError when it would not."""
    if not name or not name.isprintable() or name != name.strip() or name[0] == "#" or set(without) & set(name):
        message = f"the name {quoted(name)} cannot be written as CSV"
        raise ProblemError(Diagnostic("Q114", message, help="write JSON, which holds any name"))
    return name


def _text(rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
