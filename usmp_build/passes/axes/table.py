"""Collects the rows of all tensors in memory of pages, subgraph by subgraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import gcd

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Kernel, KernelCall, Libraries, NoKernel, Pieces
from usmp_build.ir.axes import RowTable
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.ir.labels import short_label, tensor_label
from usmp_build.ir.scopes import COPY, Scopes
from usmp_build.passes.assign import Assignment
from usmp_build.passes.axes.homes import at_home
from usmp_build.passes.axes.keeping import Kept
from usmp_build.passes.axes.question import PageQuestion, Reading
from usmp_build.passes.axes.rows import RowCut
from usmp_build.passes.copies import Inserted, NewCopy, carried, insert
from usmp_build.passes.scopes import Scoped
from usmp_build.passes.scopes.copies import MEMCPY, copier
from usmp_build.passes.scopes.unify import unify
from usmp_build.passes.select import ask
from usmp_build.request import Request


def page_of(request: Request, pool: int) -> int:
    """Return the bytes of a page; 0 for plain memory, including the caller's arrays."""
    return request.pools[pool].page if pool >= 0 else 0


def kind_of(request: Request, pool: int) -> tuple[int, int]:
    """Return the kind of a pool's memory: the bytes of a page, and the number of axes."""
    return page_of(request, pool), _dims_of(request, pool)


def _dims_of(request: Request, pool: int) -> int:
    return request.pools[pool].dims if pool >= 0 else 1


@dataclass
class AxisTable:
    """Tables of tensors and operators; keys are the indices that operators have after copies were inserted."""

    request: Request
    assignment: Assignment
    libraries: Libraries
    before: Scoped
    pools: dict[TensorRef, tuple[int, ...]]
    kernels: dict[OperatorRef, Kernel | NoKernel] = field(default_factory=dict)
    targets: dict[OperatorRef, int] = field(default_factory=dict)
    scratch: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict)
    derived: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict)
    reasons: dict[TensorRef, str] = field(default_factory=dict)
    axes: dict[TensorRef, RowTable] = field(default_factory=dict)

    def scopes(self) -> Scopes:
        """Return the scopes of all models."""
        reasons = {**self.before.scopes.reasons, **self.reasons}
        return Scopes(self.targets, self.pools, self.scratch, self.derived, reasons)

    def subgraph(self, place: tuple[int, int], graph: Subgraph) -> Subgraph:
        """Choose the rows of a subgraph, and return it with its copies.  Raises ManifestError as `axes` does."""
        rows = self._question(place, graph)
        answer = unify(rows.question())
        copies = tuple(
            _RowCopy(rows.tensors[copy.value], min(copy.allowed), tuple(rows.readings[edge] for edge in copy.edges))
            for copy in answer.copies
        )
        if copies and not self.request.layout_copies:
            raise rows.refusal(copies[0].readings[0])
        inserted = insert(graph, [copy.wanted(graph) for copy in copies])
        for tensor, cut in _cuts(rows, dict(zip(rows.tensors, answer.allowed, strict=False))).items():
            self._lay(place, inserted.graph, tensor, cut)
        self._keep(place, inserted)
        self._add(place, inserted, copies)
        self._split_copies(place, inserted.graph)
        return inserted.graph if copies else graph

    def _question(self, place: tuple[int, int], graph: Subgraph) -> PageQuestion:
        paged = tuple(t for t in range(len(graph.tensors)) if t not in graph.roots and self._page(place, t))
        rules = {ref.tensor: rule for ref, rule in self.assignment.separators.items() if ref[:2] == place}
        shown = {*paged, *(view for view, root in graph.roots.items() if root in paged)}
        marks, path = at_home(graph, rules, shown), self.request.models[place[0]].path

        def dims(tensor: int) -> int:
            return _dims_of(self.request, self.pools[TensorRef(*place, tensor)][0])

        return PageQuestion(place, graph, self.before.kernels, paged, marks, path, dims)

    def _page(self, place: tuple[int, int], tensor: int) -> int:
        allowed = self.pools.get(TensorRef(*place, tensor))
        return page_of(self.request, allowed[0]) if allowed else 0

    def _lay(self, place: tuple[int, int], graph: Subgraph, tensor: int, cut: RowCut) -> None:
        rows = max(1, graph.tensors[tensor].elements // cut.elements)
        table = RowTable(rows, cut.elements, self._page(place, tensor), cut.outer, why=cut.why)
        self.axes[TensorRef(*place, tensor)] = table

    def _keep(self, place: tuple[int, int], inserted: Inserted) -> None:
        scopes = self.before.scopes
        self.kernels |= carried(self.before.kernels, place, inserted)
        self.targets |= carried(scopes.targets, place, inserted)
        self.scratch |= carried(scopes.scratch, place, inserted)
        self.derived |= carried(scopes.derived, place, inserted)

    def _add(self, place: tuple[int, int], inserted: Inserted, copies: Sequence[_RowCopy]) -> None:
        """Add the copies between rows: the targets that run them, and their pools, which are those of the source."""
        graph = inserted.graph
        for inserted_copy, copy in zip(inserted.copies, copies, strict=True):
            reader = self.targets[OperatorRef(*place, inserted.moved[copy.readings[0].operator])]
            by = copier(self.request, self._writer(place, graph, copy.tensor), reader)
            runs = OperatorRef(*place, inserted_copy.operator)
            if by == MEMCPY:
                self._refuse_out_of_reach(place, graph, copy)
            self.targets[runs] = by.target
            self.kernels[runs] = ask(self.libraries, by, graph.operators[inserted_copy.operator], graph)
            ref = TensorRef(*place, inserted_copy.written)
            self.pools[ref] = self.pools[TensorRef(*place, copy.tensor)]
            name = short_label(graph.tensors[copy.tensor].name, copy.tensor)
            self.reasons[ref] = f"copy of {name} in rows of {copy.row} elements"
            readers = " and ".join(graph.operators[inserted.moved[each.operator]].kind for each in copy.readings)
            self._lay(place, graph, inserted_copy.written, RowCut(copy.row, why=f"{readers}, which reads it"))

    def _refuse_out_of_reach(self, place: tuple[int, int], graph: Subgraph, copy: _RowCopy) -> None:
        """Raise ManifestError unless target 0, which copies, reads and writes all pools of the tensor."""
        for pool in (self.request.pools[index] for index in self.pools[TensorRef(*place, copy.tensor)]):
            if 0 not in pool.readers & pool.writers:
                label = tensor_label(place[1], copy.tensor, graph.tensors[copy.tensor].name)
                message = f'{label} needs a copy in rows of {copy.row} elements, and target "{self._cpu}", which would '
                message += f'make it, does not reach pool "{pool.name}"'
                way = f'write copies = "extern" for the target that reads it, or let "{self._cpu}" reach the pool'
                raise ManifestError(Diagnostic("P315", message, pool.span, way))

    @property
    def _cpu(self) -> str:
        return self.request.targets[0].name

    def _writer(self, place: tuple[int, int], graph: Subgraph, tensor: int) -> int:
        producer = graph.producers.get(tensor)
        return 0 if producer is None else self.targets.get(OperatorRef(*place, producer), 0)

    def _split_copies(self, place: tuple[int, int], graph: Subgraph) -> None:
        """Replace kernels of copies in memory of pages by kernels that run piece by piece."""
        for index, op in enumerate(graph.operators):
            touched = (graph.roots.get(t, t) for t in (*op.inputs, *op.outputs) if t is not None)
            tables = [self.axes[ref] for t in touched if (ref := TensorRef(*place, t)) in self.axes]
            runs = OperatorRef(*place, index)
            whole = self.kernels.get(runs)
            if op.kind == COPY and tables and isinstance(whole, Kernel):
                elements = reduce(gcd, (table.elements for table in tables))
                count = max(1, graph.tensors[op.outputs[0]].elements // elements)
                runner = (self.targets[runs], whole.library)
                kernel = ask(self.libraries, runner, op, _piece_of(graph, op, elements))
                self.kernels[runs] = in_pieces(kernel, count, elements) if isinstance(kernel, Kernel) else kernel


def _cuts(rows: PageQuestion, allowed: Mapping[int, frozenset[int]]) -> dict[int, RowCut]:
    """Choose the rows of each tensor: those of its own separators, or of inherited ones, else the shortest."""

    def cut(tensor: int, separators: tuple[int, ...]) -> RowCut | str:
        result = rows.cut(tensor, separators)
        if isinstance(result, RowCut) and result.elements not in allowed[tensor]:
            return f"for rows of {result.elements} elements do not suit the kernels that touch what it makes"
        return result if isinstance(result, RowCut) else f"for of what it makes, {result}"

    kept = Kept(rows.graph, cut, allowed)
    said = {tensor: rows.separators(tensor) for tensor in range(len(rows.graph.tensors))}
    kept.walk({tensor: separators for tensor, separators in said.items() if separators is not None})
    chosen = {}
    for position, (tensor, possible) in enumerate(allowed.items()):
        is_written_so = min(possible) == min(rows.allowed[position])
        decider = rows.deciders[position] if is_written_so else "the operators that read it"
        separators = said[tensor]
        named = None if separators is None else rows.cut(tensor, separators)
        choice = named if isinstance(named, RowCut) else kept.cuts.get(tensor, RowCut(min(possible)))
        ends = "".join(f"; they end at {end}" for end in kept.ends.get(tensor, ()))
        chosen[tensor] = replace(choice, why=f"{choice.why or decider}{ends}")
    return chosen


@frozen
class _RowCopy:
    """A copy of a tensor with rows of another length, for some of its readers."""

    tensor: int
    row: int
    """Elements of a row."""
    readings: tuple[Reading, ...]

    def wanted(self, graph: Subgraph) -> NewCopy:
        """Return the copy to be inserted; its name gives the length of its rows."""
        source = graph.tensors[self.tensor]
        name = f"{short_label(source.name, self.tensor)}.in_rows_of_{self.row}"
        readers = tuple((reading.operator, reading.position) for reading in self.readings)
        return NewCopy(self.tensor, replace(source, name=name, axis_separators=None), readers)


def _piece_of(graph: Subgraph, op: Operator, elements: int) -> Subgraph:
    """Return a subgraph in which a COPY moves only `elements`, to query a kernel for one piece."""
    tensors = list(graph.tensors)
    for tensor in (*op.inputs, *op.outputs):
        if tensor is not None:
            tensors[tensor] = replace(tensors[tensor], shape=(elements,), quantization=None)
    return replace(graph, tensors=tuple(tensors))


def in_pieces(kernel: Kernel, count: int, elements: int) -> Kernel:
    """Return a kernel that runs the kernel of one piece `count` times, in both directions."""

    def repeated(call: KernelCall) -> KernelCall:
        return replace(call, form=Pieces(count, (elements,) * len(call.operands)))

    backward = kernel.backward and in_pieces(kernel.backward, count, elements)
    return replace(kernel, calls=tuple(map(repeated, kernel.calls)), backward=backward)
