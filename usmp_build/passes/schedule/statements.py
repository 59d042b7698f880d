"""Schedules programs: inlines calls, and replaces parameters by their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from usmp_build.ir.graph import Model, Subgraph, TensorRef
from usmp_build.ir.schedule import Branch, Call, Node, Repeat, Scope, Sequence, Step
from usmp_build.ir.statements import Access, Allocate, For, If, Invoke, Provider, Statement
from usmp_build.passes.schedule.leaves import Leaves


class _Bytes(NamedTuple):
    """What a tensor of a function refers to: all or the start of an allocation, constant or parameter of main."""

    root: TensorRef
    is_whole: bool


Arguments: TypeAlias = "tuple[_Bytes | None, ...]"
"""What each parameter refers to; None: nothing that is scheduled."""


class InlinedFunctions:
    """Schedules one program.  A function is inlined once for each list of arguments, and counted at every call."""

    def __init__(self, leaves: Leaves, model: Model) -> None:
        self._leaves = leaves
        self._model = model
        self._bodies: dict[tuple[int, Arguments], tuple[Node, int]] = {}

    def main(self) -> tuple[Node, ...]:
        """Return the nodes of main; its parameters are tensors themselves."""
        ports = tuple(_Bytes(TensorRef(self._leaves.model, 0, t), True) for t in range(self._model.main.parameters))
        return _Unfolding(self, 0, ports).nodes(self._model.main.body)

    def _body(self, function: int, arguments: Arguments) -> Node:
        key = (function, arguments)
        if key in self._bodies:
            body, leaves = self._bodies[key]
            self._leaves.repeat(leaves)
            return body
        before = self._leaves.count
        body = _Unfolding(self, function, arguments).sequence(self._model.subgraphs[function].body)
        self._bodies[key] = (body, self._leaves.count - before)
        return body

    def graph(self, function: int) -> Subgraph:
        """Return a function of the program."""
        return self._model.subgraphs[function]

    def call(self, function: int, arguments: Arguments) -> Node:
        """Return the call of a function."""
        return Call(self.graph(function).name, self._body(function, arguments))

    def step(
        self,
        name: str,
        reads: tuple[TensorRef, ...],
        written: tuple[_Bytes, ...],
        replaces: bool,
        elementwise: tuple[tuple[TensorRef, TensorRef, int], ...],
    ) -> Step:
        """Make a step; a write that `replaces` its tensor only updates it if the argument is not all of it."""
        writes = tuple(each.root for each in written if replaces and each.is_whole)
        updates = tuple(each.root for each in written if not (replaces and each.is_whole))
        return self._leaves.step(name, reads, writes, updates=updates, elementwise=elementwise)

    def local(self, function: int, tensor: int) -> TensorRef:
        """Return the reference of an allocation or constant: the same one in every call."""
        return TensorRef(self._leaves.model, function, tensor)

    def is_all_of(self, function: int, parameter: int, argument: _Bytes) -> bool:
        """Tell whether a parameter covers all bytes of its argument, and the argument all bytes of its tensor."""
        inside = self.graph(function).tensors[parameter]
        outside = self._model.subgraphs[argument.root.subgraph].tensors[argument.root.tensor]
        if not inside.dtype.bits:
            return argument.is_whole
        return inside.size == outside.size and outside.size > 0


class _Unfolding:
    """Inlines one function, called with these arguments."""

    def __init__(self, functions: InlinedFunctions, function: int, arguments: Arguments) -> None:
        self._functions = functions
        self._function = function
        self._arguments = arguments
        self._graph = functions.graph(function)

    def nodes(self, body: tuple[Statement, ...]) -> tuple[Node, ...]:
        return tuple(self._node(statement) for statement in body)

    def sequence(self, body: tuple[Statement, ...]) -> Node:
        nodes = self.nodes(body)
        return nodes[0] if len(nodes) == 1 else Sequence(nodes)

    def _node(self, statement: Statement) -> Node:
        match statement:
            case Allocate(tensor, body, provider):
                inner = self.sequence(body)
                is_ours = provider is Provider.PLAN
                return Scope((self._functions.local(self._function, tensor),), inner) if is_ours else inner
            case For(kind, extent, body, workers):
                inner = self.sequence(body)
                return inner if extent == 1 else Repeat(inner, extent, kind.is_parallel, workers)
            case If(condition, then, other):
                name = f"{self._graph.name}: if {self._graph.tensors[condition].name}"
                test = self._functions.step(name, self._roots((condition,)), (), False, ())
                return Sequence((test, Branch((self.sequence(then), self.sequence(other)))))
            case Invoke(function, arguments):
                return self._functions.call(function, self._passed(function, arguments))
            case Access():
                return self._step(statement)

    def _step(self, access: Access) -> Step:
        reads = self._roots(access.reads)
        written = ", ".join(self._graph.tensors[tensor].name for tensor in access.writes)
        name = f"{self._graph.name}: {access.name} {written}".rstrip()
        return self._functions.step(
            name, reads, self._resolved(access.writes), access.whole, tuple(self._elementwise(access))
        )

    def _elementwise(self, access: Access) -> Iterator[tuple[TensorRef, TensorRef, int]]:
        """Yield what is written with each tensor that is read element by element, and the bytes between their starts.

        An element must not reach into later ones of the other tensor, which matters where it is larger than these.  A
        tensor that another parameter stands for, too, is not read element by element only.
        """
        others = {*self._roots(tuple({*access.reads} - {*access.elementwise}))}
        for tensor in access.elementwise:
            read, written = self._bytes(tensor), self._bytes(access.writes[0])
            if read and written and read.root not in others and read.root != written.root:
                wide, narrow = (self._graph.tensors[t] for t in (access.writes[0], tensor))
                count = wide.size * 8 // wide.dtype.bits
                excess = max(0, wide.dtype.bits - narrow.dtype.bits) // 8
                yield written.root, read.root, max(0, count - 1) * excess

    def _passed(self, function: int, arguments: tuple[int | None, ...]) -> Arguments:
        resolved = (None if tensor is None else self._bytes(tensor) for tensor in arguments)
        return tuple(
            each and _Bytes(each.root, self._functions.is_all_of(function, parameter, each))
            for parameter, each in enumerate(resolved)
        )

    def _roots(self, tensors: tuple[int, ...]) -> tuple[TensorRef, ...]:
        return tuple(each.root for each in self._resolved(tensors))

    def _resolved(self, tensors: tuple[int, ...]) -> tuple[_Bytes, ...]:
        return tuple(each for tensor in dict.fromkeys(tensors) if (each := self._bytes(tensor)))

    def _bytes(self, tensor: int) -> _Bytes | None:
        if tensor < self._graph.parameters:
            return self._arguments[tensor]
        return _Bytes(self._functions.local(self._function, tensor), True)
