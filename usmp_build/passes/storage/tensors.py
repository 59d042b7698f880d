"""Derives the name, kind, models and pools of every tensor's buffer, before the steps are walked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.frozen import frozen
from usmp_build.ir.connections import Connection
from usmp_build.ir.graph import Model, Operator, OperatorRef, TensorRef, tensor_at
from usmp_build.ir.labels import short_label
from usmp_build.ir.scopes import Scopes
from usmp_build.ir.storage import Kind, StorageBuffer
from usmp_build.naming import unique
from usmp_build.passes.connect import common_pools
from usmp_build.passes.storage.calls import shared_with_callers
from usmp_build.passes.storage.program_facts import ProgramFacts
from usmp_build.request import Request


@frozen
class TensorFacts:
    """Facts about tensors that follow from the models, their connections and scopes."""

    request: Request
    models: tuple[Model, ...]
    scopes: Scopes
    connections: tuple[Connection, ...]
    programs: ProgramFacts

    @cached_property
    def connected(self) -> Mapping[TensorRef, TensorRef]:
        """Connected input → the tensor of another model that it shares its bytes with."""
        return {connection.consumer: connection.producer for connection in self.connections}

    @cached_property
    def _names(self) -> list[dict[tuple[int, int], str]]:
        """For each model: (subgraph, tensor) → name."""
        return [_tensor_names(model) for model in self.models]

    @cached_property
    def _roots(self) -> list[list[Mapping[int, int]]]:
        """For each subgraph of each model: view → its root, the tensor whose bytes it shows."""
        return [[graph.roots for graph in model.subgraphs] for model in self.models]

    @cached_property
    def _callers(self) -> Mapping[TensorRef, TensorRef]:
        """Tensor of a called subgraph → the tensor of its caller that it shares its bytes with."""
        pairs = (pair for number, model in enumerate(self.models) for pair in shared_with_callers(number, model))
        return {inside: outside for inside, outside in pairs if self._are_alike(inside, outside)}

    def _are_alike(self, inside: TensorRef, outside: TensorRef) -> bool:
        """Tell whether two tensors may be in the same pools, none of which has pages."""
        pools = self.scopes.pools
        return pools[inside] == pools[outside] and not any(self.request.pools[p].page for p in pools[inside])

    def name(self, ref: TensorRef) -> str:
        """Return `<model>.<name>`."""
        return self._names[ref.model][ref.subgraph, ref.tensor]

    def name_prefix(self, ref: OperatorRef, op: Operator) -> str:
        """Return the prefix for names of an operator's scratch and derived buffers: the name of its first output."""
        first = next((tensor for tensor in (*op.outputs, *op.inputs) if tensor is not None), None)
        return op.kind if first is None else self.name(TensorRef(ref.model, ref.subgraph, first))

    def root(self, ref: TensorRef) -> TensorRef:
        """Return the tensor whose bytes a view shows, perhaps of a caller; one that is not a view is its own root."""
        root = ref._replace(tensor=self._roots[ref.model][ref.subgraph].get(ref.tensor, ref.tensor))
        return self.root(self._callers[root]) if root in self._callers else root

    def views(self) -> Iterator[tuple[TensorRef, TensorRef]]:
        """Yield every view and its root."""
        for model, graphs in enumerate(self._roots):
            for subgraph, roots in enumerate(graphs):
                for view, root in roots.items():
                    yield TensorRef(model, subgraph, view), TensorRef(model, subgraph, root)

    def offsets(self) -> dict[TensorRef, int]:
        """Return the tensors that do not begin where their root does, each with its offset in the root in bytes."""
        return {
            TensorRef(m, s, tensor): home.offset
            for m, model in enumerate(self.models)
            for s, graph in enumerate(model.subgraphs)
            for tensor, home in graph.homes.items()
            if home.offset
        }

    def pitches(self) -> dict[TensorRef, int]:
        """Return the tensors that are channels of another one, each with its pixel stride in bytes."""
        return {
            TensorRef(m, s, tensor): pitch
            for m, model in enumerate(self.models)
            for s, graph in enumerate(model.subgraphs)
            for tensor, pitch in graph.pitches.items()
        }

    def new_activation(self, ref: TensorRef, reason: str) -> StorageBuffer:
        """Return the buffer of a tensor that is not constant.  Raises ModelError when its size is unknown."""
        tensor = tensor_at(self.models, ref)
        if not tensor.dtype.bits:
            raise ModelError(self._size_unknown(ref))
        kind = self._kind(ref)
        feeds = [connection for connection in self.connections if connection.producer == ref]
        reasons = {
            Kind.INPUT: "input",
            Kind.VARIABLE: "kept between runs",
            Kind.CONNECTION: " and ".join(f"feeds {connection.consumer_name}" for connection in feeds),
        }
        return StorageBuffer(
            name=self.name(ref),
            kind=kind,
            models=tuple(dict.fromkeys((ref.model, *(connection.consumer.model for connection in feeds)))),
            size=tensor.size,
            alignment=tensor.dtype.alignment,
            dtype=tensor.dtype,
            pools=common_pools(self.scopes.pools[end] for end in (ref, *(c.consumer for c in feeds))),
            reason=reasons.get(kind, reason),
            copies=self.programs.copies.get(ref, 1),
        )

    def new_constant(self, ref: TensorRef) -> StorageBuffer:
        """Return the buffer of a constant in the model."""
        tensor, is_written = tensor_at(self.models, ref), ref in self.programs.written
        data = tensor.data or b""
        return StorageBuffer(
            name=self.name(ref),
            kind=Kind.CONSTANT,
            models=(ref.model,),
            size=len(data),
            alignment=tensor.dtype.alignment,
            dtype=tensor.dtype,
            pools=self.scopes.pools[ref],
            reason="of the model, which writes to it" if is_written else "of the model",
            data=data,
            stays_apart=is_written or tensor.is_withheld,
        )

    def _kind(self, ref: TensorRef) -> Kind:
        main, roots = self.models[ref.model].main, self._roots[ref.model][0]
        if tensor_at(self.models, ref).is_variable:
            return Kind.VARIABLE
        if ref in self.connected.values():
            return Kind.CONNECTION
        if ref.subgraph == 0 and ref.tensor in main.inputs:
            return Kind.INPUT
        if ref.subgraph == 0 and any(roots.get(t, t) == ref.tensor for t in main.outputs):
            return Kind.OUTPUT
        return Kind.INTERMEDIATE

    def _size_unknown(self, ref: TensorRef) -> Diagnostic:
        tensor = tensor_at(self.models, ref)
        message = f'the size of tensor "{tensor.name}" ({tensor.dtype.name}) is not known before it runs'
        help_ = "keep such operators out of the firmware's model"
        if ref.tensor < self.models[ref.model].main.parameters:
            help_ = 'give the parameter a dtype and extents, or write io = "application"'
        return Diagnostic("P303", message, self.request.models[ref.model].path, help_)


def _tensor_names(model: Model) -> dict[tuple[int, int], str]:
    """(subgraph, tensor) → `<model>.<name>`, short and unique.

    Converters name a bias like the activation after it: activations come first, so that they keep the name; and
    parameters of functions, which have no storage of their own, last.
    """
    keys = [(s, t) for s, graph in enumerate(model.subgraphs) for t in range(len(graph.tensors))]
    keys.sort(key=lambda p: (p[0] > 0 and p[1] < model.subgraphs[p[0]].parameters, _is_constant(model, *p)))
    shorts = (short_label(model.subgraphs[s].tensors[t].name, t) for s, t in keys)
    return dict(zip(keys, unique(f"{model.name}.{short}" for short in shorts), strict=True))


def _is_constant(model: Model, subgraph: int, tensor: int) -> bool:
    return model.subgraphs[subgraph].tensors[tensor].is_constant
