"""Models → Storage: which tensors share a buffer, and which buffers exist beside them.

Only what must coincide is merged: a view with its source, equal constants.  Everything else is a buffer of its own,
scratch and derived constants of the kernels too: one global problem, nothing decided locally.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType, Model, OperatorRef, Subgraph, Tensor, TensorRef, operator_at, tensor_at
from usmp_build.ir.schedule import Schedule, Step, steps
from usmp_build.ir.storage import Kind, Storage, StorageBuffer
from usmp_build.naming import short_name, unique
from usmp_build.passes.select import inputs_read
from usmp_build.request import InputOutput, Request


def storage(request: Request, models: tuple[Model, ...], schedule: Schedule, kernels: Kernels) -> Storage:
    """Give every tensor that runs through the schedule its buffer.

    Raises ModelError for a tensor whose size is not known before it runs, and for an output that nothing computes
    while the caller's array waits for it.
    """
    builder = _Builder(request, models, kernels)
    for step in _distinct(schedule):
        builder.add(step)
    return builder.storage()


def _distinct(schedule: Schedule) -> Iterator[Step]:
    """Each step once: a body that is called often appears often on the timeline."""
    return iter({id(step): step for step in steps(schedule.root)}.values())


@dataclass
class _Builder:
    request: Request
    models: tuple[Model, ...]
    kernels: Kernels
    buffers: list[StorageBuffer] = field(default_factory=list)
    tensors: dict[TensorRef, int] = field(default_factory=dict)
    scratch: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict)
    derived: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict)
    arguments: dict[TensorRef, TensorRef] = field(default_factory=dict)
    constants: dict[tuple[DType, bytes, tuple[int, ...]], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = [_tensor_names(model) for model in self.models]
        self.roots = [[_view_roots(graph) for graph in model.subgraphs] for model in self.models]
        for index, request in enumerate(self.request.models):
            if request.io is InputOutput.APPLICATION:
                self._add_arguments(index)

    def storage(self) -> Storage:
        for model, graphs in enumerate(self.roots):
            for subgraph, roots in enumerate(graphs):
                for view, root in roots.items():
                    self._share(TensorRef(model, subgraph, view), TensorRef(model, subgraph, root))
        names = unique(buffer.name for buffer in self.buffers)
        buffers = tuple(replace(buffer, name=name) for buffer, name in zip(self.buffers, names, strict=True))
        return Storage(buffers, self.tensors, self.scratch, self.derived, self.arguments)

    def add(self, step: Step) -> None:
        """Make buffers for all that a step touches, in access order."""
        alignment, needed = 1, None
        if step.operator is not None:
            kernel = self.kernels[step.operator]
            op = operator_at(self.models, step.operator)
            positions = inputs_read(kernel, len(op.inputs))
            needed = {op.inputs[position] for position in positions}
            alignment = kernel.alignment if isinstance(kernel, Kernel) else 1
        for ref in (*step.reads, *step.writes):
            tensor = tensor_at(self.models, ref)
            if not tensor.is_constant:
                self._activation(ref, step, alignment)
            elif needed is None or ref.tensor in needed:
                self._constant(ref, tensor, alignment)
        if step.operator is not None:
            self._kernel_buffers(step.operator)

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

    def _activation(self, ref: TensorRef, step: Step, alignment: int) -> None:
        root = ref._replace(tensor=self.roots[ref.model][ref.subgraph].get(ref.tensor, ref.tensor))
        if root in self.arguments:
            self.arguments[ref] = self.arguments[root]
            return
        if root not in self.tensors:
            self.tensors[root] = len(self.buffers)
            self.buffers.append(self._new_activation(root, step))
        self._share(ref, root)
        self._align(self.tensors[ref], max(alignment, tensor_at(self.models, ref).dtype.alignment))

    def _new_activation(self, ref: TensorRef, step: Step) -> StorageBuffer:
        tensor = tensor_at(self.models, ref)
        if not tensor.dtype.bits:
            message = f'the size of tensor "{tensor.name}" ({tensor.dtype.name}) is not known before it runs'
            place = self.request.models[ref.model].path
            raise ModelError(Diagnostic("P303", message, place, "keep such operators out of the firmware's model"))
        kind, reason = self._kind(ref, tensor), step.name.partition(": ")[2]
        return StorageBuffer(
            name=self.names[ref.model][ref.subgraph, ref.tensor],
            kind=kind,
            models=(ref.model,),
            size=tensor.size,
            alignment=tensor.dtype.alignment,
            dtype=tensor.dtype,
            reason={Kind.INPUT: "input", Kind.VARIABLE: "kept between runs"}.get(kind, f"written by {reason}"),
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
        self.tensors[ref] = self._constant_buffer(ref.model, name, tensor.dtype, tensor.data or b"", "of the model")
        self._align(self.tensors[ref], alignment)

    def _constant_buffer(self, model: int, name: str, dtype: DType, data: bytes, reason: str) -> int:
        """Equal constants that may stand in the same pools are one buffer."""
        key = (dtype, data, self.request.models[model].constant_pools)
        index = self.constants.setdefault(key, len(self.buffers))
        if index == len(self.buffers):
            buffer = StorageBuffer(name, Kind.CONSTANT, (model,), len(data), dtype.alignment, dtype, reason, data)
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
            self.scratch[operator] = (*self.scratch.get(operator, ()), len(self.buffers))
            self.buffers.append(
                StorageBuffer(name, Kind.SCRATCH, (operator.model,), request.size, alignment, request.dtype, reason)
            )
        self.derived[operator] = tuple(
            self._constant_buffer(operator.model, f"{owner}.{c.name}", c.dtype, c.data, f"derived for {whose}")
            for c in kernel.constants
        )

    def _share(self, view: TensorRef, root: TensorRef) -> None:
        if root in self.tensors:
            self.tensors[view] = self.tensors[root]
        elif root in self.arguments:
            self.arguments[view] = self.arguments[root]

    def _align(self, index: int, alignment: int) -> None:
        buffer = self.buffers[index]
        self.buffers[index] = replace(buffer, alignment=max(buffer.alignment, alignment))


def _tensor_names(model: Model) -> dict[tuple[int, int], str]:
    """(subgraph, tensor) → `<model>.<name>`, short and unique.

    Converters name a bias like the activation behind it: activations come first, so that they keep the name.
    """
    places = [(s, t) for s, graph in enumerate(model.subgraphs) for t in range(len(graph.tensors))]
    places.sort(key=lambda place: model.subgraphs[place[0]].tensors[place[1]].is_constant)
    shorts = (short_name(model.subgraphs[s].tensors[t].name) or f"t{t}" for s, t in places)
    return dict(zip(places, unique(f"{model.name}.{short}" for short in shorts), strict=True))


def _view_roots(graph: Subgraph) -> dict[int, int]:
    """View → the tensor whose bytes it shows in the end."""
    roots: dict[int, int] = {}
    for op in graph.operators:
        if op.kind == "VIEW" and op.inputs[0] is not None:
            roots[op.outputs[0]] = roots.get(op.inputs[0], op.inputs[0])
    return roots
