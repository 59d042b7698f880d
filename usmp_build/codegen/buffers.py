"""Turns the buffers of one model in plain memory into pointers of its `run` function."""

from __future__ import annotations

from usmp_build.codegen.function_names import function_names, variable
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.c_types import pool_type
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.layout import Summary
from usmp_build.layout.code import BufferCode
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
