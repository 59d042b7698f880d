"""Schedules operators: control flow keeps its structure, subgraph calls are inlined."""

from __future__ import annotations

from collections.abc import Iterable

from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir import options as o
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.ir.schedule import Branch, Call, Direction, Loop, Node, Scope, ScratchRef, Sequence
from usmp_build.passes.rows.schedule import RowSteps
from usmp_build.passes.schedule.leaves import Leaves


class Operators:
    """Schedules one model of operators."""

    def __init__(self, leaves: Leaves, model: Model, kernels: Kernels, choices: Choices) -> None:
        self._leaves = leaves
        self._model = model
        self._kernels = kernels
        self._choices = choices
        self._bodies: dict[int, tuple[Sequence, int]] = {}
        self._rows = RowSteps(leaves, model, kernels, choices)

    def main(self) -> tuple[Node, ...]:
        """Return the nodes of the main subgraph."""
        return self._body(0).body

    def _body(self, subgraph: int) -> Sequence:
        """Return the nodes of a subgraph: built once, but counted at every call."""
        if subgraph in self._bodies:
            body, leaves = self._bodies[subgraph]
            self._leaves.repeat(leaves)
            return body
        before = self._leaves.count
        graph = self._model.subgraphs[subgraph]
        order = enumerate(self._order(graph, subgraph))
        body = Sequence(tuple(self._operator(graph, subgraph, i, position) for position, i in order))
        self._bodies[subgraph] = (body, self._leaves.count - before)
        return body

    def _order(self, graph: Subgraph, subgraph: int) -> Iterable[int]:
        if subgraph == 0:
            return self._choices.order(self._leaves.model, self._model)
        return (i for i, op in enumerate(graph.operators) if op.runs)

    def _operator(self, graph: Subgraph, subgraph: int, index: int, position: int) -> Node:
        op = graph.operators[index]
        match op.options:
            case o.If():
                return self._if(op, op.options, subgraph)
            case o.While():
                return self._while(op, op.options, subgraph)
            case o.Call() if op.kind == "CALL_ONCE" and op.inputs:
                return self._once(op, op.options, subgraph)
            case o.Call():
                arguments = self._refs(subgraph, op.inputs)
                return self._call(op.options.subgraph, arguments, self._refs(subgraph, op.outputs))
        ref = OperatorRef(self._leaves.model, subgraph, index)
        return self._rows.next(ref, position) if ref in self._choices.by_rows.jobs else self._leaf(op, ref)

    def _leaf(self, op: Operator, ref: OperatorRef) -> Node:
        """Return the node of an operator with a kernel; scratch is alive only within its call."""
        name = f"{op.kind} {op.position}"
        parts = self._model.subgraphs[ref.subgraph].parts
        reads = self._refs(ref.subgraph, op.inputs)
        writes = self._refs(ref.subgraph, (tensor for tensor in op.outputs if tensor not in parts))
        updates = self._refs(ref.subgraph, (tensor for tensor in op.outputs if tensor in parts))
        kernel = self._kernels.get(ref)
        scratch = tuple(ScratchRef(ref, i) for i in range(len(kernel.scratch))) if isinstance(kernel, Kernel) else ()
        is_reversible = isinstance(kernel, Kernel) and kernel.backward is not None
        direction = self._choices.direction(ref) if is_reversible else Direction.FORWARD
        step = self._leaves.step(name, reads, writes, ref, updates, scratch, direction=direction)
        return Call(name, Scope(scratch, step)) if scratch else step

    def _if(self, op: Operator, arms: o.If, subgraph: int) -> Node:
        condition, *arguments = self._refs(subgraph, op.inputs)
        results = self._refs(subgraph, op.outputs)
        test = self._leaves.step(f"IF {op.position}", reads=(condition,))
        bodies = (arms.then_subgraph, arms.else_subgraph)
        return Sequence((test, Branch(tuple(self._call(body, tuple(arguments), results) for body in bodies))))

    def _while(self, op: Operator, loop: o.While, subgraph: int) -> Node:
        """Return a loop with its state in the outputs: they start as the inputs, and every round replaces them."""
        state = self._refs(subgraph, op.outputs)
        cond = self._model.subgraphs[loop.cond_subgraph]
        verdict = self._refs(loop.cond_subgraph, cond.outputs)
        start = self._leaves.step(f"WHILE {op.position}", self._refs(subgraph, op.inputs), state)
        test = self._call(loop.cond_subgraph, state, ())
        decide = self._leaves.step(f"WHILE {op.position} test", reads=verdict)
        body = self._call(loop.body_subgraph, state, state)
        return Sequence((start, Loop(Sequence((test, decide)), body)))

    def _once(self, op: Operator, once: o.Call, subgraph: int) -> Node:
        """Return a branch that calls a subgraph unless the operator's variable, its input, says that it has run."""
        flag = self._refs(subgraph, op.inputs)
        test = self._leaves.step(f"CALL_ONCE {op.position}", reads=flag)
        call = self._call(once.subgraph, (), self._refs(subgraph, op.outputs))
        done = self._leaves.step(f"CALL_ONCE {op.position} done", writes=flag)
        return Sequence((test, Branch((Sequence((call, done)), Sequence(())))))

    def _call(self, subgraph: int, arguments: tuple[TensorRef, ...], results: tuple[TensorRef, ...]) -> Call:
        """Return the call of a subgraph: copy arguments in, run, copy results out."""
        graph = self._model.subgraphs[subgraph]
        copy_in = self._leaves.step("copy in", arguments, self._refs(subgraph, graph.inputs))
        body = self._body(subgraph)
        copy_out = self._leaves.step("copy out", self._refs(subgraph, graph.outputs), results)
        return Call(graph.name, Sequence((copy_in, *body.body, copy_out)))

    def _refs(self, subgraph: int, tensors: Iterable[int | None]) -> tuple[TensorRef, ...]:
        return tuple(TensorRef(self._leaves.model, subgraph, t) for t in tensors if t is not None)
