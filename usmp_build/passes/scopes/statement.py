"""States the scopes of one subgraph as a question for `unify`: allowed pools of tensors, and uses that restrict them.

    value   the model's pools ∩ the pools it is pinned to ∩ its writer's demand
    port    a reader's demand; only readers that exclude a pool become ports

Who reads a view reads the tensor whose bytes it shows: so these are copied once, however many views there are.
The demand of a value's writer cannot be relaxed; readers may get copies.  Variables are never copied: their readers
change them in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Input, Output
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.passes.assign import CALLER, Assignment, Spot
from usmp_build.passes.rows.ports import caller_ports
from usmp_build.passes.scopes.copies import MEMCPY, Copier, copier
from usmp_build.passes.scopes.demands import Demands, Limit, PoolDemand
from usmp_build.passes.scopes.names import GraphNames
from usmp_build.passes.scopes.pinned import writer
from usmp_build.passes.scopes.question import Edge, Freedom, PoolQuestion
from usmp_build.passes.select import inputs_read
from usmp_build.request import ModelRequest, Request


class Use(NamedTuple):
    """A read of a tensor, which a copy may serve."""

    tensor: int
    reader: int | None
    """Index of the operator; None: the caller, who reads the subgraph's outputs."""
    position: int
    """Among the operator's inputs, or the subgraph's outputs."""
    copier: Copier
    """Who would make the copy."""
    label: str
    """The reader's name in messages."""
    demand: PoolDemand


@dataclass
class PoolStatement:
    """A subgraph as a question, and what the domains and edges stand for."""

    request: Request
    assignment: Assignment
    demands: Demands
    kernels: Kernels
    place: tuple[int, int]
    """Model, subgraph."""
    graph: Subgraph
    uses: list[Use] = field(default_factory=list, init=False)
    """One for each edge of the question."""
    edges: list[Edge] = field(default_factory=list, init=False)
    whys: list[list[Limit]] = field(default_factory=list, init=False)
    """For each tensor the limits that restrict it, for messages."""

    def __post_init__(self) -> None:
        self.names = GraphNames(self.request, self.assignment, self.place, self.graph)
        self.whys = [[] for _ in self.graph.tensors]
        self.allowed = [frozenset(self.preference(tensor)) for tensor in range(len(self.graph.tensors))]
        self._arrays_of_the_caller()
        self._ends()
        self._pins()
        self._operators()
        self._results()

    @property
    def settings(self) -> ModelRequest:
        """The model in the request."""
        return self.request.models[self.place[0]]

    @cached_property
    def in_arrays(self) -> frozenset[int]:
        """The inputs and outputs that are in arrays of the caller."""
        return caller_ports(self.settings, self.graph) if self.place[1] == 0 else frozenset()

    def question(self) -> PoolQuestion:
        """Return the question; domains are tensors, then the ports of `uses`."""
        ties = [(op.inputs[0], op.outputs[0]) for op in self.views()]
        return PoolQuestion(self.allowed, [(a, b) for a, b in ties if a is not None], self.edges)

    def views(self) -> list[Operator]:
        """Return the views, which run nothing."""
        return [op for op in self.graph.operators if op.kind == "VIEW"]

    def preference(self, tensor: int) -> tuple[int, ...]:
        """Return the pools that the model allows for a tensor; indices beyond the graph's are copies."""
        constant = tensor < len(self.graph.tensors) and self.graph.tensors[tensor].is_constant
        return self.settings.constant_pools if constant else self.settings.workspace_pools

    def _arrays_of_the_caller(self) -> None:
        """Allow outputs and their sources the caller's arrays; inputs and their views must be there."""
        output_bytes = self.in_arrays.intersection(self.graph.outputs)
        input_bytes = self.in_arrays.intersection(self.graph.inputs)
        for op in reversed(self.views()):
            if op.outputs[0] in output_bytes and op.inputs[0] is not None:
                output_bytes |= {op.inputs[0]}
        for op in self.views():
            if op.inputs[0] in input_bytes:
                input_bytes |= {op.outputs[0]}
        for tensor in output_bytes | input_bytes:
            array = frozenset({CALLER})
            self.allowed[tensor] = array if tensor in input_bytes else self.allowed[tensor] | array

    def _ends(self) -> None:
        """Narrow inputs, variables and tensors of programs: target 0 fills, resets and runs them."""
        cpu = f'target "{self.request.targets[0].name}"'
        filled = self.demands.of_target_0(writes=True, plain=True)
        for tensor in (each for each in self.graph.inputs if each not in self.in_arrays):
            self._narrow(tensor, filled, "the input", f"{cpu} fills it")
        for tensor in (t for t, each in enumerate(self.graph.tensors) if each.is_variable):
            self._narrow(tensor, filled, "the variable", f"{cpu} resets it")
        touched = self.demands.of_target_0(writes=True, plain=False)
        if self.graph.body:
            for tensor in range(len(self.graph.tensors)):
                self._narrow(tensor, touched, "what the function touches", f"{cpu} runs the function")

    def _pins(self) -> None:
        for tensor in range(len(self.graph.tensors)):
            pin = self.assignment.tensors.get(TensorRef(*self.place, tensor))
            if pin is not None:
                who = f"a rule of place pins it to {self.demands.names(pin.pools)}"
                limit = Limit(pin.pools, who, "drop the rule of place, or name other pools", pin.span)
                self._narrow(tensor, PoolDemand(pin.pools, (limit,)), "the tensor", "place pins it")

    def _operators(self) -> None:
        """Narrow tensors by their writers, then add uses: demands of writers must be known before those of readers."""
        running = [(i, op) for i, op in enumerate(self.graph.operators) if op.kind != "VIEW"]
        for index, op in running:
            for position, tensor in enumerate(op.outputs):
                who = f"output {position} of {self.names.operator(op)}"
                self._narrow(tensor, self._demand(index, Output(position)), who, f"{self.names.short(op)} writes it")
        reads = [(index, op, position) for index, op in running for position in self._read(index, op)]
        for index, op, position in reads:
            read = op.inputs[position]
            if read is not None and self.graph.tensors[read].is_variable:
                who = f"input {position} of {self.names.operator(op)}"
                self._narrow(read, self._demand(index, Input(position)), who, f"{self.names.short(op)} keeps it")
            elif read is not None:
                demand = self._demand(index, Input(position))
                self._use(read, index, position, demand, self.assignment.target_of(self.place, op), Freedom.PLAIN)

    def _read(self, index: int, op: Operator) -> list[int]:
        """Return the positions of the inputs whose bytes an operator reads when it runs."""
        kernel = self.kernels.get(OperatorRef(*self.place, index))
        return list(range(len(op.inputs))) if kernel is None else sorted(inputs_read(kernel, len(op.inputs)))

    def _demand(self, index: int, operand: Input | Output) -> PoolDemand:
        op = self.graph.operators[index]
        tensor = op.inputs[operand.position] if isinstance(operand, Input) else None
        constant = tensor is not None and self.graph.tensors[tensor].is_constant
        kernel = self.kernels.get(OperatorRef(*self.place, index))
        return self.demands.of(Spot(*self.place, op.position), op, kernel, operand, constant)

    def _results(self) -> None:
        """Add uses for outputs: target 0 reads them, for the application or the caller of the subgraph.

        An output that no operator computes is not copied: it must be in a pool that target 0 reads.
        """
        reader = f'target "{self.request.targets[0].name}" reads it'
        from_pools = self.demands.of_target_0(writes=False, plain=True)
        array = frozenset({CALLER})
        from_array = PoolDemand(array, (Limit(array, f"{reader} in the caller's arrays", "list another pool"),))
        for position, tensor in enumerate(self.graph.outputs):
            demand = from_array if tensor in self.in_arrays else from_pools
            if tensor in self.graph.producers:
                self._use(tensor, None, position, demand, 0, Freedom.FREE)
            elif tensor not in self.in_arrays:
                self._narrow(tensor, demand, "the output", reader)

    def _narrow(self, tensor: int, demand: PoolDemand, who: str, short: str) -> None:
        """Restrict a tensor by a demand that no copy can serve.  Raises ManifestError if no pool is left."""
        remaining = self.allowed[tensor] & demand.pools
        if not remaining:
            raise ManifestError(self._no_pool_left(tensor, who, demand))
        if remaining != self.allowed[tensor]:
            span = next((limit.span for limit in reversed(demand.limits) if limit.span), "")
            way_out = next((limit.way_out for limit in reversed(demand.limits) if limit.span), "")
            self.whys[tensor].append(Limit(demand.pools, short, way_out, span))
        self.allowed[tensor] = remaining

    def _use(
        self, tensor: int, reader: int | None, position: int, demand: PoolDemand, target: int, freedom: Freedom
    ) -> None:
        """Add an edge for a reader, unless it accepts all pools that the tensor may be in."""
        if self.allowed[tensor] <= demand.pools:
            return
        label = self.names.short(self.graph.operators[reader]) if reader is not None else "the application"
        copies = frozenset(self.settings.workspace_pools)
        if tensor in self.in_arrays and tensor in self.graph.outputs:
            copies |= {CALLER}
        port = demand.pools & (copies | self.allowed[tensor])
        if not port:
            raise ManifestError(self._no_pool_left(tensor, self.names.reader(reader, position), demand))
        root = self.graph.roots.get(tensor, tensor)
        by = copier(self.request, writer(self.assignment, self.place, self.graph, root), target)
        reach = self.demands.reach(0, writes=True) if by == MEMCPY else copies
        sources = self.demands.reach(0, writes=False) if by == MEMCPY else None
        pinned = TensorRef(*self.place, tensor) in self.assignment.tensors
        value = tensor if tensor in self.in_arrays else root
        self.edges.append(
            Edge(value, len(self.allowed), Freedom.PINNED if pinned else freedom, copies & reach, sources)
        )
        self.uses.append(Use(tensor, reader, position, by, label, demand))
        self.allowed.append(port)

    def _no_pool_left(self, tensor: int, who: str, demand: PoolDemand) -> Diagnostic:
        word = "constant_pools" if self.graph.tensors[tensor].is_constant else "workspace_pools"
        left = self.demands.names(self.allowed[tensor])
        who = f"{who}, {self.names.tensor(tensor)},"
        return self.demands.no_pool_left(self.settings, who, demand, left, word, self.whys[tensor])
