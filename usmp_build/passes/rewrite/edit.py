"""An editable subgraph for rewrites: tracks readers and writers, and tells which tensors may be removed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.passes.rewrite.pins import Pins


def in_each_subgraph(model: Model, pins: Pins, step: Callable[[Net], None]) -> Model:
    """Apply `step` to every subgraph, and return the model with the changed operators."""
    subgraphs = []
    for index, graph in enumerate(model.subgraphs):
        net = Net(graph, index, pins)
        step(net)
        subgraphs.append(net.finished())
    return replace(model, subgraphs=tuple(subgraphs))


def renamed(op: Operator, moved: Mapping[int, int]) -> Operator:
    """Return an operator with its inputs replaced as `moved` says: old tensor → new tensor."""
    if not any(tensor in moved for tensor in op.inputs):
        return op
    return replace(op, inputs=tuple(t if t is None else moved.get(t, t) for t in op.inputs))


@dataclass
class Net:
    """The operators of a subgraph while a rewrite changes them; a place is an index into `operators`."""

    graph: Subgraph
    index: int
    """Index of the subgraph."""
    pins: Pins
    operators: list[Operator | None] = field(init=False)
    """None: removed."""
    readers: dict[int, set[int]] = field(init=False)
    """Tensor → places that read it."""
    writers: dict[int, int] = field(init=False)
    """Tensor → the place that writes it."""
    ports: frozenset[int] = field(init=False)
    """Inputs and outputs of the subgraph."""

    def __post_init__(self) -> None:
        """Start with all operators unchanged."""
        self.ports = frozenset((*self.graph.inputs, *self.graph.outputs))
        self.operators = [None] * len(self.graph.operators)
        self.readers, self.writers = defaultdict(set), {}
        for place, op in enumerate(self.graph.operators):
            self.put(place, op)

    def put(self, place: int, op: Operator | None) -> None:
        """Replace or, with None, remove an operator."""
        if (old := self.operators[place]) is not None:
            for tensor in old.inputs:
                if tensor is not None:
                    self.readers[tensor].discard(place)
            for tensor in old.outputs:
                self.writers.pop(tensor, None)
        self.operators[place] = op
        if op is not None:
            for tensor in op.inputs:
                if tensor is not None:
                    self.readers[tensor].add(place)
            self.writers.update(dict.fromkeys(op.outputs, place))

    def add(self, tensor: Tensor) -> int:
        """Add a tensor, and return its index."""
        self.graph = replace(self.graph, tensors=(*self.graph.tensors, tensor))
        return len(self.graph.tensors) - 1

    def add_numbers(self, name: str, numbers: Sequence[int] | Sequence[Sequence[int]]) -> int:
        """Add a constant of int32, and return its index."""
        array = np.array(numbers, "<i4")
        return self.add(Tensor(name, array.shape, DType.INT32, data=array.tobytes()))

    def exchange(self, places: Sequence[int], operators: Sequence[Operator]) -> None:
        """Replace the operators at some places, in order, by others that are no more, at the last of these places."""
        positions = [op.position for op in map(self.operators.__getitem__, places) if op is not None]
        for place in places:
            self.put(place, None)
        for place, position, op in zip(places[::-1], positions[::-1], operators[::-1], strict=False):
            self.put(place, replace(op, position=position))

    def finished(self) -> Subgraph:
        """Return the subgraph with the remaining operators."""
        remaining = tuple(op for op in self.operators if op is not None)
        return self.graph if remaining == self.graph.operators else replace(self.graph, operators=remaining)

    def tensor(self, index: int | None) -> Tensor | None:
        """Return a tensor by index; None for an omitted operand."""
        return None if index is None else self.graph.tensors[index]

    def integers(self, op: Operator, position: int) -> list[int] | None:
        """Return the elements of a constant integer operand; None if it is not one."""
        tensor = self.tensor(op.inputs[position]) if position < len(op.inputs) else None
        if tensor is None or not tensor.is_constant or tensor.is_withheld:
            return None
        return [*map(int, tensor.as_array().ravel())] if tensor.dtype in {DType.INT32, DType.INT64} else None

    def producer(self, tensor: int) -> Operator | None:
        """Return the operator that writes a tensor; None if there is none.

        A variable has none, since its value may be from the previous run.
        """
        if tensor not in self.writers or self.graph.tensors[tensor].is_variable:
            return None
        return self.operators[self.writers[tensor]]

    def may_go(self, tensor: int) -> bool:
        """Tell whether a tensor may be removed once it has no readers."""
        return (
            tensor not in self.ports
            and not self.graph.tensors[tensor].is_variable
            and not self.pins.keeps(self.index, tensor)
        )

    def may_change(self, op: Operator) -> bool:
        """As `Pins.may_change`, for this subgraph."""
        return self.pins.may_change(self.index, op)

    def may_rename(self, tensor: int) -> bool:
        """Tell whether all readers of a tensor may read another one, and the tensor may be removed."""
        readers = (self.operators[place] for place in self.readers[tensor])
        return self.may_go(tensor) and all(self.may_change(op) for op in readers if op)
