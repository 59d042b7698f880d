"""Turns buffers of one model into pointers of its `run` function, and in memory of pages into tables of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from usmp_build.codegen.function_names import function_names, variable
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.c_types import pool_type
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.layout import Summary
from usmp_build.layout.code import BufferCode, TableCode
from usmp_build.naming import c_comment
from usmp_build.planner.memory.plan import Plan


def buffer_codes(analysis: Analysis, plan: Plan, summary: Summary, index: int) -> dict[int, BufferCode]:
    """Return the planned buffers of a model in plain memory, in the order in which they are first touched."""
    rows = {row.name: row for row in summary.buffers}
    tensors = first_tensors(analysis, index)
    functions = function_names(analysis.models[index])
    in_pages = {row for first in analysis.storage.rows for row in analysis.storage.span(first)}
    scratches = 0
    codes = {}
    for number, stored in enumerate(analysis.storage.buffers):
        if index not in stored.models or stored.kind is Kind.CONSTANT or not stored.size or number in in_pages:
            continue
        if number in tensors:
            name = variable(functions, tensors[number])
        else:
            name = f"s{scratches}"
            scratches += 1
        codes[number] = BufferCode(
            variable=name,
            c_type=pool_type(stored.dtype),
            macro=f"{summary.models[index].macro}_{name.upper()}",
            row=rows[stored.name],
            pool=summary.pools[plan.allocations[number].pool],
            comment=c_comment(name_within(stored, index)),
            lives=lives(analysis, index, number),
            is_used=False,
        )
    return codes


def first_tensors(analysis: Analysis, index: int) -> dict[int, TensorRef]:
    """Return for each buffer of a model the first tensor in it, which gives it its name in C."""
    tensors: dict[int, TensorRef] = {}
    for ref, buffer in analysis.storage.tensors.items():
        if ref.model == index:
            tensors.setdefault(buffer, ref)
    return tensors


def name_within(stored: StorageBuffer, index: int) -> str:
    """Return the name of a buffer within a model; the full name when it is another model's."""
    return stored.name.partition(".")[2] if stored.models[0] == index else stored.name


def lives(analysis: Analysis, index: int, buffer: int) -> str:
    """Return a buffer's steps in a run of the model as text, counted from its first one: regardless of other models."""
    first, end = analysis.schedule.starts[index : index + 2]
    clipped = ((max(i.start, first), min(i.stop, end)) for i in analysis.lifetimes.intervals[buffer])
    return " ".join(f"[{start - first}, {stop - first})" for start, stop in clipped if start < stop)


_WORD = 32
"""Pages in a mask; the sum of any number of masks fits 64 bits."""


def tables_of(analysis: Analysis, plan: Plan, summary: Summary, index: int) -> dict[int, TableCode]:
    """Return the tables of a model by the first row's buffer."""
    tables = {}
    tensors = first_tensors(analysis, index)
    functions = function_names(analysis.models[index])
    for first in analysis.storage.rows:
        stored = analysis.storage.buffers[first]
        if index not in stored.models or tensors[first] not in analysis.axes:
            continue
        table = analysis.axes[tensors[first]]
        allocations = [plan.allocations[number] for number in analysis.storage.span(first)]
        name = f"{variable(functions, tensors[first])}_rows"
        tables[first] = TableCode(
            symbol=f"{summary.models[index].name}_{name}",
            macro=f"{summary.models[index].macro}_{name}".upper(),
            c_type=pool_type(stored.dtype),
            elements=table.elements,
            rows=tuple((each.pool, each.offset // table.page) for each in allocations),
            pages=stored.size // table.page,
            page=table.page,
            comment=c_comment(name_within(stored, index).rpartition("[")[0]),
            lives=lives(analysis, index, first),
        )
    return tables


def table_checks(
    analysis: Analysis, summary: Summary, index: int, tables: Mapping[int, TableCode]
) -> Iterator[tuple[str, str]]:
    """Yield conditions for the C compiler: every row is inside its pool, and no two live rows share a page."""
    for table in tables.values():
        for pool in sorted({pool for pool, _ in table.rows}):
            size = f"{summary.models[index].macro}_{summary.pools[pool].name.upper()}_WORKSPACE_POOL_SIZE"
            inside = f"1 {table.macro}(USMP_INSIDE, {pool}, {size} / {table.page})"
            yield inside, f"{table.symbol}_{pool}_are_inside"
        for pool, word in sorted(_words(table)):
            both = (f"(0 {table.macro}({operation}, {pool}, {word}))" for operation in ("USMP_OR", "USMP_ADD"))
            yield " == ".join(both), f"{table.symbol}_{pool}_{word}_are_apart"
    for (a, one), (b, two) in combinations(tables.items(), 2):
        if b in analysis.problem.conflicts[a]:
            for pool, word in sorted(_words(one) & _words(two)):
                both = (f"(0 {table.macro}(USMP_OR, {pool}, {word}))" for table in (one, two))
                yield f"({' & '.join(both)}) == 0", f"{one.symbol}_{pool}_{word}_and_{two.symbol}"


def _words(table: TableCode) -> set[tuple[int, int]]:
    """Return the pools, and the masks of each, in which a table has pages."""
    return {(pool, each // _WORD) for pool, page in table.rows for each in range(page, page + table.pages)}
