"""`inspect`: tables of stages.

scopes         where each tensor may live, between which targets it goes, who restricts it; and the copies
connections    what models hand on
survivors      buffers whose bytes must outlive a run
costs          what a place costs
kernels        the C functions that run each operator, and what keeps faster ones away
"""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.cli.table import columns
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import OperatorRef, Subgraph, TensorRef, operator_at
from usmp_build.ir.labels import short_label
from usmp_build.ir.scopes import COPY
from usmp_build.passes.select import inputs_read
from usmp_build.report.operator_support import form_of, functions_of
from usmp_build.request import Request
from usmp_build.units import show_bytes


def scope_lines(request: Request, analysis: Analysis) -> Iterator[str]:
    """Yield two tables: tensors with planned bytes, by number, then the copies among them."""
    rows: list[tuple[str, ...]] = []
    copies: list[tuple[str, ...]] = []
    for m, model in enumerate(analysis.models):
        for s, graph in enumerate(model.subgraphs):
            shown = _Graph(request, analysis, (m, s), graph)
            rows += shown.rows()
            copies += shown.copies()
    yield from columns(("tensor", "pools", "from", "to", "why"), rows, "<<<<<")
    if copies:
        yield ""
        yield from columns(("copy", "of", "bytes", "by"), copies, "<<><")


class _Graph:
    """One subgraph."""

    def __init__(self, request: Request, analysis: Analysis, place: tuple[int, int], graph: Subgraph) -> None:
        self._request = request
        self._analysis = analysis
        self._place = place
        self._graph = graph
        self._writer: dict[int, str] = {}
        self._readers: dict[int, dict[str, None]] = {}
        for index in range(len(graph.operators)):
            self._add(OperatorRef(*place, index))

    def _add(self, ref: OperatorRef) -> None:
        op = self._graph.operators[ref.operator]
        target = self._request.targets[self._analysis.scopes.targets[ref]].name
        kernel = self._analysis.kernels.get(ref, NoKernel(""))
        if not op.runs:
            self._writer.update(dict.fromkeys(op.outputs, "its parts" if op.kind == "JOIN" else "a view"))
            return
        self._writer.update(dict.fromkeys(op.outputs, target))
        for position in sorted(inputs_read(kernel, len(op.inputs))):
            tensor = op.inputs[position]
            if tensor is not None:
                self._readers.setdefault(tensor, {})[target] = None

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Describe the tensors that have planned bytes, or are in the caller's arrays."""
        scopes, storage = self._analysis.scopes, self._analysis.storage
        for index in range(len(self._graph.tensors)):
            ref = TensorRef(*self._place, index)
            if ref in storage.arguments:
                pools = "the caller's array"
            elif ref in storage.tensors:
                pools = " ".join(self._request.pools[pool].name for pool in scopes.pools[ref])
            else:
                continue
            readers = " ".join(self._readers.get(index, ())) or "-"
            yield self._name(index), pools, self._writer.get(index, "-"), readers, scopes.reasons.get(ref, "")

    def copies(self) -> Iterator[tuple[str, ...]]:
        for index, op in enumerate(self._graph.operators):
            if op.kind == COPY and op.inputs[0] is not None:
                kernel = self._analysis.kernels[OperatorRef(*self._place, index)]
                by = ", ".join(call.function for call in kernel.calls) if isinstance(kernel, Kernel) else "-"
                size = self._graph.tensors[op.outputs[0]].size
                yield self._name(op.outputs[0]), self._name(op.inputs[0]), f"{size:,}", by

    def _name(self, tensor: int) -> str:
        model, subgraph = self._place
        number = f"{subgraph}:%{tensor}" if subgraph else f"%{tensor}"
        return f"{self._request.models[model].name} {number} {short_label(self._graph.tensors[tensor].name, tensor)}"


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


def kernel_lines(_: Request, analysis: Analysis) -> Iterator[str]:
    """Yield a line for each operator that runs: its library, its functions, and why not by faster ones."""
    rows = [(*_operator(analysis, ref), *_shown(kernel)) for ref, kernel in analysis.kernels.items()]
    yield from columns(("model", "operator", "library", "form", "functions", ""), rows, "<<<<<<")


def kernel_records(analysis: Analysis) -> list[dict[str, object]]:
    """Return the same for programs."""
    return [
        {
            "model": analysis.models[ref.model].name,
            "subgraph": ref.subgraph,
            "operator": operator_at(analysis.models, ref).position,
            "kind": operator_at(analysis.models, ref).kind,
            "library": kernel.library if isinstance(kernel, Kernel) else None,
            "functions": functions_of(kernel),
            "declined": kernel.declined if isinstance(kernel, Kernel) else (),
            "without_kernel": kernel.reason if isinstance(kernel, NoKernel) else None,
        }
        for ref, kernel in analysis.kernels.items()
    ]


def _operator(analysis: Analysis, ref: OperatorRef) -> tuple[str, str]:
    operator = operator_at(analysis.models, ref)
    subgraph = f"{ref.subgraph}:" if ref.subgraph else ""
    return analysis.models[ref.model].name, f"{operator.kind} {subgraph}{operator.position}"


def _shown(kernel: Kernel | NoKernel) -> tuple[str, str, str, str]:
    """Return library, form and functions, and what is to be said about them."""
    if isinstance(kernel, NoKernel):
        return "-", "-", "-", f"no kernel: {kernel.reason}"
    remark = "; ".join(f"not {reason}" for reason in kernel.declined)
    return kernel.library, form_of(kernel), " ".join(functions_of(kernel)), remark
