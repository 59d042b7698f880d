"""Turns tensors of one model in memory of pages into tables of pointers to their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from usmp_build.codegen.buffers import first_tensors, lives, name_within
from usmp_build.codegen.function_names import function_names, variable
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.c_types import pool_type
from usmp_build.layout import Summary
from usmp_build.layout.code import TableCode
from usmp_build.naming import c_comment
from usmp_build.planner.memory.plan import Plan

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
