"""Turns the rows of one model's tensors in plain memory into tables of offsets."""

from __future__ import annotations

from math import gcd

from usmp_build.codegen.buffers import first_tensors, name_within
from usmp_build.codegen.function_names import function_names, variable
from usmp_build.interfaces.analysis import Analysis
from usmp_build.layout import Summary
from usmp_build.layout.rows import RowOffsets
from usmp_build.naming import c_comment
from usmp_build.planner.memory.plan import Plan


def row_offsets(analysis: Analysis, plan: Plan, summary: Summary, index: int) -> dict[int, RowOffsets]:
    """Return the tables of a model by the first row's buffer."""
    tensors, functions = first_tensors(analysis, index), function_names(analysis.models[index])
    tables = {}
    for first in analysis.storage.rows:
        if first not in tensors or tensors[first] not in analysis.choices.by_rows.tables:
            continue
        stored = analysis.storage.buffers[first]
        places = [plan.allocations[row] for row in analysis.storage.span(first)]
        unit = gcd(*(place.offset for place in places)) or 1
        tables[first] = RowOffsets(
            symbol=f"{summary.models[index].name}_{variable(functions, tensors[first])}_rows",
            unit=unit,
            offsets=tuple(place.offset // unit for place in places),
            pools=tuple(summary.pools[place.pool] for place in places),
            workspaces=summary.models[index].workspaces,
            row_bytes=stored.size,
            comment=c_comment(name_within(stored, index).rpartition("[")[0]),
        )
    return tables
