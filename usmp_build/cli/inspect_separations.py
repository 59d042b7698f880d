"""`inspect separations`: which buffers may share bytes while both are alive, and how close they may come."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.cli.table import columns
from usmp_build.errors import one_line
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import operator_at
from usmp_build.request import Request
from usmp_build.units import show_bytes


def separation_lines(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each pair (below, above): the least distance between their starts, in bytes."""
    names = [buffer.name for buffer in analysis.storage.buffers]
    rows = []
    for (below, above), allowed in analysis.separations.pairs.items():
        if isinstance(allowed.operator, str):
            by = one_line(allowed.operator)
        else:
            op = operator_at(analysis.models, allowed.operator)
            by = f"{analysis.models[allowed.operator.model].name}: {op.kind} {op.position}"
        rows.append((names[below], names[above], show_bytes(allowed.bytes), by, allowed.direction.value))
    yield from columns(("below", "above", "bytes", "operator", "direction"), rows, "<<><<")
