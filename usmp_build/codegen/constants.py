"""Groups constants into one struct for each owner and pool: `kws_flash_constants` has those that only kws reads.

In pools of the application the struct is a view of bytes that are not in C; they are assembled here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.c_types import plain_type, value_lines
from usmp_build.ir.graph import DType
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.layout import Summary
from usmp_build.layout.constants import ConstantGroup, ConstantRow, PoolBytes
from usmp_build.naming import c_comment, c_member, constants_object, unique
from usmp_build.planner.memory.plan import Plan

_COLUMNS = 109
"""Most columns of a comment inside a struct."""
_NAMED = 16
"""Most equal constants that a comment names, besides the stored one."""


def constant_groups(
    analysis: Analysis, plan: Plan, summary: Summary
) -> tuple[Mapping[int, str], tuple[ConstantGroup, ...]]:
    """Return C expressions for the constant buffers, by index, and the structs that hold them."""
    buffers = analysis.storage.buffers
    expressions: dict[int, str] = {}
    groups = []
    for (pool, only), members in groupby(
        _in_order(analysis, plan), lambda i: (plan.allocations[i].pool, buffers[i].only_model)
    ):
        indices = list(members)
        readers = tuple(sorted({model for i in indices for model in buffers[i].models}))
        whose = summary.models[only[0]].name if only else f"{summary.project}_shared"
        symbol = constants_object(whose, summary.pools[pool].name)
        names, paddings = _members([buffers[i].name for i in indices])
        rows = tuple(_rows(analysis, indices, names, paddings))
        unit = max(analysis.problem.buffers[i].alignment for i in indices)
        start = plan.allocations[indices[0]].offset
        size = sum(analysis.problem.buffers[i].size for i in indices)
        groups.append(ConstantGroup(symbol, readers, summary.pools[pool], start, size, unit, rows))
        member = f"{symbol}->" if summary.pools[pool].is_passed else f"{symbol}."
        expressions |= {i: member + name for i, name in zip(indices, names, strict=True)}
    return expressions, tuple(groups)


def _in_order(analysis: Analysis, plan: Plan) -> list[int]:
    """Return the constants, without seals, in the order of their places."""
    seals = set(analysis.storage.seals.values())
    buffers = ((i, b) for i, b in enumerate(analysis.storage.buffers) if i not in seals)
    return sorted((i for i, b in buffers if b.kind is Kind.CONSTANT and b.size), key=plan.allocations.__getitem__)


def _members(buffers: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return for each buffer the name of its member in a struct, and that of the padding behind it."""
    preferred = [c_member(name.partition(".")[2]) for name in buffers]
    both = unique([*preferred, *(f"{name}_padding" for name in preferred)])
    return both[: len(preferred)], both[len(preferred) :]


def pool_bytes(analysis: Analysis, plan: Plan, summary: Summary) -> Iterator[PoolBytes]:
    """Yield the bytes of each constant pool of the application."""
    for position, pool in enumerate(summary.pools):
        if pool.is_sealed:
            data = bytearray(pool.size)
            for buffer, allocation in zip(analysis.storage.buffers, plan.allocations, strict=True):
                if allocation.pool == position:
                    data[allocation.offset : allocation.offset + buffer.size] = buffer.data or b""
            yield PoolBytes(pool, bytes(data))


def _row(analysis: Analysis, index: int, member: str) -> ConstantRow:
    buffer = analysis.storage.buffers[index]
    c_type = plain_type(buffer.dtype)
    width = 1 if c_type == "uint8_t" else buffer.dtype.bits // 8
    return ConstantRow(
        member=member,
        c_type=c_type,
        count=buffer.size // width,
        comment=_comment(buffer),
        is_merged=bool(buffer.equals),
        lines=tuple(value_lines(buffer.data or b"", buffer.dtype)),
    )


def _comment(buffer: StorageBuffer) -> tuple[str, ...]:
    """Return a comment: what a constant is, and the equal ones that are stored as it."""
    text = f"{buffer.name}, {buffer.reason}"
    if buffer.equals:
        more = len(buffer.equals) - _NAMED
        text += f"; also {', '.join(buffer.equals[:_NAMED])}{f' and {more} more' if more > 0 else ''}"
    return tuple(wrap(c_comment(text), _COLUMNS, break_long_words=False, break_on_hyphens=False))


def _rows(analysis: Analysis, indices: list[int], names: list[str], paddings: list[str]) -> Iterator[ConstantRow]:
    """Yield members, each with the padding up to the next one, so that the struct has the planned layout everywhere."""
    for index, name, padding in zip(indices, names, paddings, strict=True):
        yield _row(analysis, index, name)
        space = analysis.problem.buffers[index].size - analysis.storage.buffers[index].size
        if space:
            yield ConstantRow(padding, "uint8_t", space, (), False, tuple(value_lines(bytes(space), DType.UINT8)))
