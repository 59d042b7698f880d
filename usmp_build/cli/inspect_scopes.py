"""`inspect scopes`: where each tensor may live, between which targets it goes, who restricts it; and the copies."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.cli.table import columns
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import OperatorRef, Subgraph, TensorRef
from usmp_build.ir.labels import short_label
from usmp_build.ir.scopes import COPY
from usmp_build.passes.select import inputs_read
from usmp_build.request import Request


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
