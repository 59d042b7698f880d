"""Models → Storage: which tensors share a buffer, and which buffers exist beside them.

Only what must coincide is merged: a view with its source, equal constants.  Everything else is a buffer of its own,
scratch and derived constants of the kernels too: one global problem, nothing decided locally.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import lcm

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.axes import Axes
from usmp_build.ir.graph import DType, Model, Operator, OperatorRef, Tensor, TensorRef, operator_at, tensor_at
from usmp_build.ir.labels import short_label
from usmp_build.ir.schedule import Schedule, Step, steps
from usmp_build.ir.scopes import COPY, Scopes
from usmp_build.ir.statements import Provider
from usmp_build.ir.storage import Kind, Storage, StorageBuffer
from usmp_build.ir.uses import alignments
from usmp_build.naming import unique
from usmp_build.passes.allocations import copies, provided, written_constants
from usmp_build.passes.operands import buffer_behind, ruled_alignments
from usmp_build.passes.select import inputs_read
from usmp_build.passes.shapes import in_copies, in_rows, row_count
from usmp_build.request import InputOutput, Request


def storage(
    request: Request, models: tuple[Model, ...], schedule: Schedule, kernels: Kernels, scopes: Scopes, axes: Axes
) -> Storage:
    """Give every tensor that runs through the schedule its buffer.

    Raises ModelError for a tensor whose size is not known before it runs, and for an output that nothing computes
    while the caller's array waits for it.
    """
    builder = _Builder(request, models, schedule, kernels, scopes, axes)
    for step in _distinct(schedule):
        builder.add(step)
    builder.add_untouched()
    return builder.storage()


def _distinct(schedule: Schedule) -> Iterator[Step]:
    """Each step once: a body that is called often appears often on the timeline."""
    return iter({id(step): step for step in steps(schedule.root)}.values())


@dataclass
class _Builder:
    request: Request
    models: tuple[Model, ...]
    schedule: Schedule
    kernels: Kernels
    scopes: Scopes
    axes: Axes
    buffers: list[StorageBuffer] = field(default_factory=list, init=False)
    tensors: dict[TensorRef, int] = field(default_factory=dict, init=False)
    scratch: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict, init=False)
    derived: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict, init=False)
    arguments: dict[TensorRef, TensorRef] = field(default_factory=dict, init=False)
    rows: dict[int, int] = field(default_factory=dict, init=False)
    constants: dict[tuple[DType, bytes, tuple[int, ...], str], int] = field(default_factory=dict, init=False)
    copies: Mapping[TensorRef, int] = field(init=False)
    written: frozenset[TensorRef] = field(init=False)
    on_demand: tuple[TensorRef, ...] = field(init=False)
    elsewhere: frozenset[TensorRef] = field(init=False)
    alignments: list[Mapping[tuple[int, int], int]] = field(init=False)
    names: list[dict[tuple[int, int], str]] = field(init=False)
    """For each model: (subgraph, tensor) → name."""
    roots: list[list[Mapping[int, int]]] = field(init=False)
    """For each subgraph of each model: view → the tensor whose bytes it shows."""

    def __post_init__(self) -> None:
        """Gather what programs and views say before any step is looked at."""
        self.copies = copies(self.request, self.models, self.schedule)
        self.written = written_constants(self.models, self.schedule)
        self.on_demand = provided(self.models, Provider.APPLICATION)
        self.elsewhere = frozenset({*self.on_demand, *provided(self.models, Provider.FUNCTION)})
        self.alignments = [alignments(model) if model.is_program else {} for model in self.models]
        self.names = [_tensor_names(model) for model in self.models]
        self.roots = [[graph.roots for graph in model.subgraphs] for model in self.models]
        for index, request in enumerate(self.request.models):
            if request.io is InputOutput.APPLICATION:
                self._add_arguments(index)

    def storage(self) -> Storage:
        for model, graphs in enumerate(self.roots):
            for subgraph, roots in enumerate(graphs):
                for view, root in roots.items():
                    self._share(TensorRef(model, subgraph, view), TensorRef(model, subgraph, root))
        names = unique(buffer.name for buffer in self.buffers)
        pairs = zip(self.buffers, names, strict=True)
        buffers = tuple(in_copies(replace(b, name=name), self._path(b)) for b, name in pairs)
        return Storage(buffers, self.tensors, self.scratch, self.derived, self.arguments, self.rows, self.on_demand)

    def add_untouched(self) -> None:
        """Make buffers for allocations that no step touches."""
        for ref in self.copies:
            self._activation(ref, "never touched", 1)

    def add(self, step: Step) -> None:
        """Make buffers for all that a step touches, in access order."""
        alignment, needed, why = 1, None, f"written by {step.name.partition(': ')[2]}"
        copied = step.operator is not None and operator_at(self.models, step.operator).kind == COPY
        if step.operator is not None:
            kernel = self.kernels[step.operator]
            op = operator_at(self.models, step.operator)
            positions = inputs_read(kernel, len(op.inputs))
            needed = {op.inputs[position] for position in positions}
            alignment = kernel.alignment if isinstance(kernel, Kernel) else 1
        for ref in step.tensors:
            tensor = tensor_at(self.models, ref)
            if not tensor.is_constant:
                self._activation(ref, self.scopes.reasons[ref] if copied and ref in step.writes else why, alignment)
            elif needed is None or ref.tensor in needed:
                self._constant(ref, tensor, alignment)
        if step.operator is not None:
            self._kernel_buffers(step.operator)
            self._obey_rules(step.operator, op)

    def _add_arguments(self, index: int) -> None:
        """Inputs and outputs in the caller's arrays: they, and their views, have no planned bytes."""
        main = self.models[index].main
        roots = self.roots[index][0]
        for port in (*main.inputs, *main.outputs):
            root = TensorRef(index, 0, roots.get(port, port))
            source = tensor_at(self.models, root)
            unwritten = source.is_constant or source.is_variable or root in self.arguments
            if port in main.outputs and unwritten:
                raise ModelError(self._nothing_computes(index, port))
            self.arguments[root] = TensorRef(index, 0, port)

    def _nothing_computes(self, index: int, port: int) -> Diagnostic:
        name = self.models[index].main.tensors[port].name
        message = f'nothing computes output "{name}": it is an input, a constant or another output of the model'
        hint = f'write io = "pool" for model "{self.models[index].name}": its outputs then may share bytes'
        return Diagnostic("P302", message, self.request.models[index].path, hint)

    def _activation(self, ref: TensorRef, reason: str, alignment: int) -> None:
        if ref in self.elsewhere:
            return
        root = ref._replace(tensor=self.roots[ref.model][ref.subgraph].get(ref.tensor, ref.tensor))
        if root in self.arguments:
            self.arguments[ref] = self.arguments[root]
            return
        if root not in self.tensors:
            self.tensors[root] = len(self.buffers)
            self._add_activation(root, self._new_activation(root, reason))
        self._share(ref, root)
        own = tensor_at(self.models, ref).dtype.alignment
        self._align(self.tensors[ref], max(alignment, own, self._demanded(ref)))

    def _demanded(self, ref: TensorRef) -> int:
        """Return what functions demand that take a tensor as a parameter."""
        return self.alignments[ref.model].get((ref.subgraph, ref.tensor), 1)

    def _add_activation(self, root: TensorRef, whole: StorageBuffer) -> None:
        """Add the buffer of a tensor; in memory of pages, one for each row."""
        table = self.axes.get(root)
        if table is None:
            self.buffers.append(whole)
            return
        count = row_count(whole, table, sum(self.rows.values()), self._path(whole))
        self.rows[len(self.buffers)] = count
        self.buffers += in_rows(whole, table, count)

    def _path(self, buffer: StorageBuffer) -> str:
        return self.request.models[buffer.models[0]].path

    def _new_activation(self, ref: TensorRef, reason: str) -> StorageBuffer:
        tensor = tensor_at(self.models, ref)
        if not tensor.dtype.bits:
            message = f'the size of tensor "{tensor.name}" ({tensor.dtype.name}) is not known before it runs'
            hint = "keep such operators out of the firmware's model"
            if self.models[ref.model].is_program:
                hint = 'give the parameter a dtype and extents, or write io = "application"'
            raise ModelError(Diagnostic("P303", message, self.request.models[ref.model].path, hint))
        kind = self._kind(ref, tensor)
        return StorageBuffer(
            pools=self.scopes.pools[ref],
            name=self.names[ref.model][ref.subgraph, ref.tensor],
            kind=kind,
            models=(ref.model,),
            size=tensor.size,
            alignment=tensor.dtype.alignment,
            dtype=tensor.dtype,
            reason={Kind.INPUT: "input", Kind.VARIABLE: "kept between runs"}.get(kind, reason),
            copies=self.copies.get(ref, 1),
        )

    def _kind(self, root: TensorRef, tensor: Tensor) -> Kind:
        main = self.models[root.model].main
        roots = self.roots[root.model][0]
        if tensor.is_variable:
            return Kind.VARIABLE
        if root.subgraph == 0 and root.tensor in main.inputs:
            return Kind.INPUT
        if root.subgraph == 0 and any(roots.get(t, t) == root.tensor for t in main.outputs):
            return Kind.OUTPUT
        return Kind.INTERMEDIATE

    def _constant(self, ref: TensorRef, tensor: Tensor, alignment: int) -> None:
        name = self.names[ref.model][ref.subgraph, ref.tensor]
        pools, data = self.scopes.pools[ref], tensor.data or b""
        is_written = ref in self.written
        owner = name if tensor.is_withheld or is_written else ""
        reason = "of the model, which writes to it" if is_written else "of the model"
        self.tensors[ref] = self._constant_buffer(ref.model, pools, name, tensor.dtype, data, reason, owner)
        self._align(self.tensors[ref], max(alignment, self._demanded(ref)))

    def _constant_buffer(
        self, model: int, pools: tuple[int, ...], name: str, dtype: DType, data: bytes, reason: str, owner: str = ""
    ) -> int:
        """Equal constants that may stand in the same pools are one buffer, unless they have owners of their own."""
        key = (dtype, data, pools, owner)
        index = self.constants.setdefault(key, len(self.buffers))
        if index == len(self.buffers):
            buffer = StorageBuffer(
                name, Kind.CONSTANT, (model,), len(data), dtype.alignment, dtype, pools, reason, data
            )
            self.buffers.append(buffer)
        elif model not in self.buffers[index].models:
            self.buffers[index] = replace(self.buffers[index], models=(*self.buffers[index].models, model))
        return index

    def _kernel_buffers(self, operator: OperatorRef) -> None:
        kernel = self.kernels[operator]
        if not isinstance(kernel, Kernel):
            return
        op = operator_at(self.models, operator)
        owner = self.names[operator.model][operator.subgraph, op.outputs[0]]
        whose = f"{op.kind} {op.position}"
        for request in kernel.scratch:
            name, reason = f"{owner}.{request.name}", f"scratch of {whose}"
            alignment = max(request.dtype.alignment, kernel.alignment)
            pools = self.scopes.scratch[operator]
            self.scratch[operator] = (*self.scratch.get(operator, ()), len(self.buffers))
            self.buffers.append(
                StorageBuffer(
                    name, Kind.SCRATCH, (operator.model,), request.size, alignment, request.dtype, pools, reason
                )
            )
        self.derived[operator] = tuple(
            self._constant_buffer(
                operator.model,
                self.scopes.derived[operator],
                f"{owner}.{c.name}",
                c.dtype,
                c.data,
                f"derived for {whose}",
            )
            for c in kernel.constants
        )

    def _obey_rules(self, operator: OperatorRef, op: Operator) -> None:
        """Align what rules of the operator's target speak of."""
        graph = self.models[operator.model].subgraphs[operator.subgraph]
        rules = self.request.targets[self.scopes.targets[operator]].rules
        for operand, alignment in ruled_alignments(rules, op, graph, self.kernels[operator]):
            buffer = buffer_behind(operand, operator, op, self)
            if buffer is not None:
                self._align(buffer, alignment)

    def _share(self, view: TensorRef, root: TensorRef) -> None:
        if root in self.tensors:
            self.tensors[view] = self.tensors[root]
        elif root in self.arguments:
            self.arguments[view] = self.arguments[root]

    def _align(self, index: int, alignment: int) -> None:
        """Align a buffer, or all rows of a tensor, which begin at multiples of a page, too."""
        for row in range(index, index + self.rows.get(index, 1)):
            buffer = self.buffers[row]
            self.buffers[row] = replace(buffer, alignment=lcm(buffer.alignment, alignment))


def _tensor_names(model: Model) -> dict[tuple[int, int], str]:
    """(subgraph, tensor) → `<model>.<name>`, short and unique.

    Converters name a bias like the activation behind it: activations come first, so that they keep the name; and
    parameters of functions, which are no storage of their own, last.
    """
    places = [(s, t) for s, graph in enumerate(model.subgraphs) for t in range(len(graph.tensors))]
    places.sort(key=lambda p: (p[0] > 0 and p[1] < model.subgraphs[p[0]].parameters, _is_constant(model, *p)))
    shorts = (short_label(model.subgraphs[s].tensors[t].name, t) for s, t in places)
    return dict(zip(places, unique(f"{model.name}.{short}" for short in shorts), strict=True))


def _is_constant(model: Model, subgraph: int, tensor: int) -> bool:
    return model.subgraphs[subgraph].tensors[tensor].is_constant
