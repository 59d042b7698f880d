"""Buffers as planned: what keeps their data, and which of them share bytes while both are alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from usmp_build.errors import one_line
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Traffic
from usmp_build.ir.graph import TensorRef, operator_at
from usmp_build.ir.schedule import Direction
from usmp_build.ir.separations import Separation
from usmp_build.ir.storage import Kind
from usmp_build.layout import BufferRow, OverlapRow
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Inputs, Outputs, Request


def buffer_rows(
    request: Request, analysis: Analysis, plan: Plan, moved: Sequence[Mapping[int, Traffic]]
) -> tuple[BufferRow, ...]:
    """By pool, then offset, then name; `moved[m]` is what model m moves to and from each buffer."""
    rows = []
    scopes: dict[int, str] = {}
    kept = _kept_for(request, analysis)
    shared = _overlaps(analysis, plan)
    for ref, buffer_of in analysis.storage.tensors.items():
        scopes.setdefault(buffer_of, analysis.scopes.reasons.get(ref, ""))
    facts = zip(analysis.storage.buffers, analysis.lifetimes.intervals, plan.allocations, strict=True)
    for index, (buffer, intervals, place) in enumerate(facts):
        traffic = sum((moved[model].get(index, Traffic()) for model in buffer.models), Traffic())
        row = BufferRow(
            name=buffer.name,
            kind=buffer.kind.value,
            model=request.models[buffer.models[0]].name,
            shared_with=tuple(request.models[m].name for m in buffer.models[1:]),
            pool=request.pools[place.pool].name,
            offset=place.offset,
            size=buffer.size,
            alignment=buffer.alignment,
            intervals=tuple((i.start, i.stop) for i in intervals),
            read=traffic.read,
            written=traffic.written,
            reason=buffer.reason,
            scope=scopes.get(index, ""),
            kept=kept.get(index, ()),
            cache_line=buffer.cache_line,
            overlaps=shared.get(index, ()),
            row=analysis.row_numbers.get(index),
            moved=analysis.moved_rows.get(index),
        )
        rows.append((place, row))
    return tuple(row for _, row in sorted(rows, key=lambda item: (item[0], item[1].name)))


def _overlaps(analysis: Analysis, plan: Plan) -> Mapping[int, tuple[OverlapRow, ...]]:
    """Return for each buffer those that it shares bytes with at some step, in the order of buffers.

    Both places of a row that moves are not among them.
    """
    rows_by_buffer: dict[int, dict[int, OverlapRow]] = {}
    for (below, above), allowed in analysis.separations.pairs.items():
        if isinstance(allowed.operator, str) and not analysis.moved_rows.keys().isdisjoint((below, above)):
            continue
        shared = _shared(analysis, plan, below, above)
        distance = plan.allocations[above].offset - plan.allocations[below].offset
        if shared <= 0 or distance < allowed.bytes:
            continue  # they are apart, or it is the other one that lies lower
        assert allowed.direction is not Direction.EITHER  # the chosen analysis has every direction decided
        for one, other in ((below, above), (above, below)):
            rows_by_buffer.setdefault(one, {})[other] = OverlapRow(
                buffer=analysis.storage.buffers[other].name,
                bytes=shared,
                operator=_label(analysis, allowed),
                direction=allowed.direction.value,
                is_lower=one == below,
                separation=allowed.bytes,
                distance=distance,
            )
    return {one: tuple(row for _, row in sorted(others.items())) for one, others in rows_by_buffer.items()}


def _label(analysis: Analysis, allowed: Separation) -> str:
    if isinstance(allowed.operator, str):
        return one_line(allowed.operator)
    op = operator_at(analysis.models, allowed.operator)
    return f"{op.kind} {op.position}"


def _shared(analysis: Analysis, plan: Plan, one: int, other: int) -> int:
    """Return how many bytes are of both buffers, in the plan."""
    places, sizes = zip(*((plan.allocations[b], analysis.storage.buffers[b].size) for b in (one, other)), strict=True)
    if places[0].pool != places[1].pool:
        return 0
    ends = (place.offset + size for place, size in zip(places, sizes, strict=True))
    return int(min(ends) - max(place.offset for place in places))


def _kept_for(request: Request, analysis: Analysis) -> Mapping[int, tuple[str, ...]]:
    """Return buffer → what keeps it, in a few words each; buffers that nothing keeps are not there."""
    words_by_buffer: dict[int, dict[str, None]] = {}
    for tensor, words in _reasons(request, analysis):
        buffer = analysis.storage.tensors.get(tensor)
        for row in analysis.storage.span(buffer) if buffer is not None else ():
            words_by_buffer.setdefault(row, {})[words] = None
    for index, buffer_ in enumerate(analysis.storage.buffers):
        if buffer_.kind is Kind.VARIABLE:
            words_by_buffer.setdefault(index, {})["between runs: a variable"] = None
    return {buffer: tuple(words) for buffer, words in words_by_buffer.items()}


def _reasons(request: Request, analysis: Analysis) -> Iterator[tuple[TensorRef, str]]:
    for connection in analysis.connections:
        yield connection.producer, f"for {connection.consumer_name}"
    for m, (settings, model) in enumerate(zip(request.models, analysis.models, strict=True)):
        if settings.inputs is not Inputs.CONSUMED:
            yield from _of_model(
                m, model.main.inputs, f'by inputs = "{settings.inputs.value}" of model "{settings.name}"'
            )
        if settings.outputs is Outputs.RESERVED:
            yield from _of_model(m, model.main.outputs, f'by outputs = "reserved" of model "{settings.name}"')


def _of_model(model: int, tensors: Iterable[int], words: str) -> Iterator[tuple[TensorRef, str]]:
    for tensor in tensors:
        yield TensorRef(model, 0, tensor), words
