"""Constants → one struct for each owner and pool: `kws_flash_constants` holds what only kws reads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from usmp_build.arrange.c_types import plain_type, value_lines
from usmp_build.arrange.group import owner
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.storage import Kind
from usmp_build.layout import ConstantGroup, ConstantRow, Summary
from usmp_build.memory.plan import Plan
from usmp_build.naming import c_comment, c_identifier, unique


def constant_groups(
    analysis: Analysis, plan: Plan, summary: Summary
) -> tuple[Mapping[int, str], tuple[ConstantGroup, ...]]:
    """Return C expressions for the constant buffers, by index, and the structs that hold them."""
    buffers = analysis.storage.buffers
    order = [i for i, b in enumerate(buffers) if b.kind is Kind.CONSTANT and b.size]
    order.sort(key=lambda i: plan.allocations[i])
    expressions: dict[int, str] = {}
    groups = []
    for (pool, only), members in groupby(order, lambda i: (plan.allocations[i].pool, owner(buffers[i]))):
        indices = list(members)
        readers = tuple(sorted({model for i in indices for model in buffers[i].models}))
        whose = summary.models[only[0]].name if only else f"{summary.project}_shared"
        symbol = f"{whose}_{summary.pools[pool].name}_constants"
        names = unique(c_identifier(buffers[i].name.partition(".")[2]) for i in indices)
        rows = tuple(_row(analysis, i, name) for i, name in zip(indices, names, strict=True))
        unit = max(analysis.problem.buffers[i].alignment for i in indices)
        groups.append(ConstantGroup(symbol, readers, summary.pools[pool], unit, _pad(analysis, indices, rows)))
        expressions |= {i: f"{symbol}.{name}" for i, name in zip(indices, names, strict=True)}
    return expressions, tuple(groups)


def _row(analysis: Analysis, index: int, member: str) -> ConstantRow:
    buffer = analysis.storage.buffers[index]
    c_type = plain_type(buffer.dtype)
    width = 1 if c_type == "uint8_t" else buffer.dtype.bits // 8
    return ConstantRow(
        member=member,
        c_type=c_type,
        count=buffer.size // width,
        comment=c_comment(f"{buffer.name}, {buffer.reason}"),
        lines=tuple(value_lines(buffer.data or b"", buffer.dtype)),
    )


def _pad(analysis: Analysis, indices: list[int], rows: tuple[ConstantRow, ...]) -> tuple[ConstantRow, ...]:
    """Fill the space behind each member up to the next one, so that the struct is the plan on any compiler."""
    padded: list[ConstantRow] = []
    for index, row in zip(indices, rows, strict=True):
        padded.append(row)
        space = analysis.problem.buffers[index].size - analysis.storage.buffers[index].size
        if space:
            zeros = ", ".join(["0"] * space) + ","
            padded.append(ConstantRow(f"{row.member}_padding", "uint8_t", space, "", (zeros,)))
    return tuple(padded)
