"""`inspect connections`, `survivors` and `costs`: what models hand on, what outlives runs, what a place costs."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.cli.table import columns
from usmp_build.interfaces.analysis import Analysis
from usmp_build.request import Request
from usmp_build.units import show_bytes


def connection_lines(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each output that is an input of another model, with the buffer that both are in."""
    rows = []
    for connection in analysis.connections:
        buffer = analysis.storage.buffers[analysis.storage.tensors[connection.producer]]
        rows.append((connection.producer_name, connection.consumer_name, buffer.name, show_bytes(buffer.size)))
    yield from columns(("from", "to", "buffer", "size"), rows, "<<<>")


def survivor_lines(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each persistent buffer: the models at whose start or end it may, or must, hold data."""
    survivors, rows = analysis.survivors, []
    for index, buffer in enumerate(analysis.storage.buffers):
        if index in survivors.always:
            rows.append((buffer.name, "always", "always"))
            continue
        before, after = (
            " ".join(model.name for model, alive in zip(analysis.models, sets, strict=True) if index in alive)
            for sets in (survivors.before, survivors.after)
        )
        if before or after:
            rows.append((buffer.name, before or "-", after or "-"))
    yield from columns(("buffer", "before runs of", "after runs of"), rows, "<<<")


def place_cost_lines(request: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each buffer and candidate pool: its cost there in one run of every model."""
    costs, rows = analysis.costs, []
    for buffer, costs_of_buffer in zip(analysis.storage.buffers, costs.values, strict=True):
        for pool, cost in zip(buffer.pools, costs_of_buffer, strict=True):
            rows.append((buffer.name, request.pools[pool].name, f"{float(costs.in_reports(cost)):,.1f}"))
    yield from columns(("buffer", "pool", costs.unit.label), rows, "<<>")
    names = ", ".join(request.pools[pool].name for pool in costs.unknown)
    if names:
        yield f"the bandwidth of {names} is not known: buffers there are placed by the order of pools"
