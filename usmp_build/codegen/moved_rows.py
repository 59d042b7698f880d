"""Makes tables of where rows that move are when they are read, beside those of where they are written.

    kws_t22_rows[25]                row y as it is written
    kws_t22_rows_of_3_0[3][25]      row y as the first, second and third row under the window of operator 3
    kws_t22_rows_of_4_0[50]         what job y of operator 4 reads

Most windows reach a row once as each of their taps.  Those that make an image larger do so in several jobs, between
which it may move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import gcd
from typing import NamedTuple

from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Input, Kernel, Rows
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.ir.axes import RowTable
from usmp_build.ir.graph import OperatorRef, TensorRef, operator_at
from usmp_build.ir.schedule import RowRef, Step, steps
from usmp_build.layout import Summary
from usmp_build.layout.rows import Moves, RowOffsets
from usmp_build.planner.memory.plan import Plan


class Reader(NamedTuple):
    """An input of an operator that runs row by row."""

    operator: OperatorRef
    position: int


class _Read(NamedTuple):
    """A row that a job reads."""

    job: int
    """The number of the row that it makes or takes."""
    tap: int
    """Which one under the window it is."""
    row: int
    place: int
    """The number of its place."""


def read_offsets(
    analysis: Analysis, plan: Plan, summary: Summary, model: int, tables: Mapping[int, RowOffsets]
) -> dict[Reader, RowOffsets]:
    """Return the tables of inputs that read rows elsewhere than where they were written.

    `tables` are those of the rows as they are written, by the first row's buffer.
    """
    found = dict[Reader, RowOffsets]()
    for reader, reads in _reads_of(analysis, model).items():
        first = _first(analysis, reader)
        written = tables[first]
        by, places = _table(reads, len(written.offsets))
        if places != [*range(len(written.offsets))]:
            allocated = [plan.allocations[first + place] for place in places]
            unit = gcd(*(each.offset for each in allocated)) or 1
            op = operator_at(analysis.models, reader.operator)
            found[reader] = replace(
                written,
                symbol=f"{written.symbol}_of_{op.position}_{reader.position}",
                unit=unit,
                offsets=tuple(each.offset // unit for each in allocated),
                pools=tuple(summary.pools[each.pool] for each in allocated),
                comment=f"{written.comment}, for {op.kind} {op.position}",
                by=by,
                taps=1 + max(each.tap for each in reads) if by else 1,
            )
    return found


def _table(reads: Sequence[_Read], rows: int) -> tuple[str, list[int]]:
    """Return by what the entries of a table are chosen besides the row, and the numbers of their places."""
    taps, jobs = (range(1 + max(numbers)) for numbers in ([each.tap for each in reads], [each.job for each in reads]))
    by_row = {each.row: each.place for each in reads}
    if all(by_row[each.row] == each.place for each in reads):
        return "", [by_row.get(row, row) for row in range(rows)]
    by_tap = {(each.tap, each.row): each.place for each in reads}
    if all(by_tap[each.tap, each.row] == each.place for each in reads):
        return "k", [by_tap.get((tap, row), row) for tap, row in product(taps, range(rows))]
    by_job = {(each.job, each.tap): each.place for each in reads}
    return "y", [by_job.get(each, 0) for each in product(jobs, taps)]


def moves(analysis: Analysis, plan: Plan, summary: Summary, model: int, number: int) -> tuple[Moves, ...]:
    """Return the tables of a model's moves, one for each pool; `number` and the next ones stand for them as jobs."""
    by_pool: dict[int, list[tuple[int, int, int]]] = {}
    for step in steps(analysis.schedule.programs[model]):
        if step.move is not None:
            buffers = [analysis.storage.buffers_of(place).start for place in step.move]
            source, target = (plan.allocations[each] for each in buffers)
            entry = source.offset, target.offset, analysis.storage.buffers[buffers[0]].size
            by_pool.setdefault(source.pool, []).append(entry)
    tables = []
    for count, (pool, entries) in enumerate(by_pool.items()):
        unit = gcd(*(each for entry in entries for each in entry)) or 1
        in_units = tuple((source // unit, target // unit, size // unit) for source, target, size in entries)
        symbol = f"{summary.models[model].name}_moves" + (f"_{count}" if len(by_pool) > 1 else "")
        tables.append(Moves(symbol, number + count, unit, in_units, summary.pools[pool]))
    return tuple(tables)


def slot_of(
    analysis: Analysis, plan: Plan, summary: Summary, tables: Sequence[Moves], move: tuple[RowRef, RowRef]
) -> int:
    """Return what stands for a move between two places in tables of jobs; `tables` are those of its model."""
    place = plan.allocations[analysis.storage.buffers_of(move[1]).start]
    return next(each.number for each in tables if each.pool == summary.pools[place.pool])


def _first(analysis: Analysis, reader: Reader) -> int:
    tensor = operator_at(analysis.models, reader.operator).inputs[reader.position]
    assert tensor is not None
    return analysis.storage.tensors[TensorRef(reader.operator.model, 0, tensor)]


def _reads_of(analysis: Analysis, model: int) -> dict[Reader, list[_Read]]:
    """Return what each input in rows reads, if rows move."""
    now = dict[RowRef, int]()
    found = dict[Reader, list[_Read]]()
    tables = analysis.choices.by_rows.tables if analysis.choices.moves.get(model) else {}
    for step in steps(analysis.schedule.programs[model]) if tables else ():
        if step.move is not None:
            tensor, place = step.move[1]
            now[RowRef(tensor, tables[tensor].moved[place - tables[tensor].rows])] = place
        elif step.operator is not None and step.job is not None:
            for reader, tensor, read in _reads(analysis, step, step.operator, tables):
                place = now.get(RowRef(tensor, read.row), read.row)
                found.setdefault(reader, []).append(read._replace(place=place))
    return found


def _root(analysis: Analysis, reader: Reader) -> TensorRef:
    tensor = operator_at(analysis.models, reader.operator).inputs[reader.position]
    main = analysis.models[reader.operator.model].main
    return TensorRef(reader.operator.model, 0, -1 if tensor is None else main.root(tensor))


def _reads(
    analysis: Analysis, step: Step, ref: OperatorRef, tables: Mapping[TensorRef, RowTable]
) -> Iterator[tuple[Reader, TensorRef, _Read]]:
    """Yield the inputs of a job in rows, each with its tensor and a row of that, which it reads where it was written.

    A row of the tensor may be several of the kernel.
    """
    kernel = analysis.kernels[ref]
    assert isinstance(kernel, Kernel)
    jobs = row_jobs(kernel.towards(step.direction))
    assert jobs is not None
    assert step.job is not None
    job = jobs.row_of(step.job)
    form = jobs.calls[0].form
    inputs = [(Reader(ref, operand.position), operand) for operand in jobs.shapes if isinstance(operand, Input)]
    for reader, operand in inputs:
        tensor = _root(analysis, reader)
        at_once = jobs.shapes[operand][0] // tables[tensor].rows if tensor in tables else 0
        for row in jobs.rows_touched(operand, step.job) if at_once else ():
            tap = (row - form.first_row(job)) // form.dilation if isinstance(form, Rows) else 0
            yield reader, tensor, _Read(job, tap, row // at_once, row // at_once)
