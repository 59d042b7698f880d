"""Models → Schedule: one program for the whole firmware.

Every model becomes

    enter · operator · operator · ... · leave

where `enter` writes all inputs (the caller filled them before the first step) and `leave` reads all outputs (the
caller reads them after the last): lifetimes then need no special case for inputs and outputs.  Views run nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.ir import options as o
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.ir.schedule import Branch, Call, Loop, Node, Schedule, Sequence, Step

MOST_STEPS = 1_000_000
"""A model may call subgraphs that call subgraphs; a few hundred bytes could ask for more steps than atoms."""


def schedule(models: tuple[Model, ...]) -> Schedule:
    """Order all operators of all models.  Raises ModelError when calls unfold to more than `MOST_STEPS`."""
    unfoldings = [_Unfolding(index, model) for index, model in enumerate(models)]
    programs = tuple(unfolding.whole() for unfolding in unfoldings)
    return Schedule(programs, tuple(accumulate((unfolding.count for unfolding in unfoldings), initial=0)))


class _Unfolding:
    """One model, subgraph calls unfolded; `count` is the number of leaves on the timeline."""

    def __init__(self, index: int, model: Model) -> None:
        self.index = index
        self.model = model
        self.count = 0
        self._bodies: dict[int, tuple[Sequence, int]] = {}

    def whole(self) -> Sequence:
        main = self.model.main
        enter = self._step("enter", writes=self._refs(0, main.inputs))
        body = self._body(0)
        leave = self._step("leave", reads=self._refs(0, main.outputs))
        return Sequence((enter, *body.body, leave))

    def _body(self, subgraph: int) -> Sequence:
        """The operators of a subgraph; made once, counted at every call."""
        if subgraph in self._bodies:
            body, leaves = self._bodies[subgraph]
            self._count(leaves)
            return body
        before = self.count
        graph = self.model.subgraphs[subgraph]
        nodes = (self._operator(graph, subgraph, i) for i, op in enumerate(graph.operators) if op.kind != "VIEW")
        body = Sequence(tuple(nodes))
        self._bodies[subgraph] = (body, self.count - before)
        return body

    def _operator(self, graph: Subgraph, subgraph: int, index: int) -> Node:
        op = graph.operators[index]
        match op.options:
            case o.If():
                return self._if(op, op.options, subgraph)
            case o.While():
                return self._while(op, op.options, subgraph)
            case o.Call():
                arguments = self._refs(subgraph, op.inputs)
                return self._call(op.options.subgraph, arguments, self._refs(subgraph, op.outputs))
        name = f"{op.kind} {op.position}"
        reads = self._refs(subgraph, op.inputs)
        writes = self._refs(subgraph, op.outputs)
        return self._step(name, reads, writes, OperatorRef(self.index, subgraph, index))

    def _if(self, op: Operator, arms: o.If, subgraph: int) -> Node:
        condition, *arguments = self._refs(subgraph, op.inputs)
        results = self._refs(subgraph, op.outputs)
        test = self._step(f"IF {op.position}", reads=(condition,))
        bodies = (arms.then_subgraph, arms.else_subgraph)
        return Sequence((test, Branch(tuple(self._call(body, tuple(arguments), results) for body in bodies))))

    def _while(self, op: Operator, loop: o.While, subgraph: int) -> Node:
        """The outputs carry the state: they start as the inputs, and every round of the body replaces them."""
        state = self._refs(subgraph, op.outputs)
        cond = self.model.subgraphs[loop.cond_subgraph]
        verdict = self._refs(loop.cond_subgraph, cond.outputs)
        start = self._step(f"WHILE {op.position}", self._refs(subgraph, op.inputs), state)
        test = self._call(loop.cond_subgraph, state, ())
        decide = self._step(f"WHILE {op.position} test", reads=verdict)
        body = self._call(loop.body_subgraph, state, state)
        return Sequence((start, Loop(Sequence((test, decide)), body)))

    def _call(self, subgraph: int, arguments: tuple[TensorRef, ...], results: tuple[TensorRef, ...]) -> Call:
        """Copy arguments in, run, copy results out."""
        graph = self.model.subgraphs[subgraph]
        copy_in = self._step("copy in", arguments, self._refs(subgraph, graph.inputs))
        body = self._body(subgraph)
        copy_out = self._step("copy out", self._refs(subgraph, graph.outputs), results)
        return Call(graph.name, Sequence((copy_in, *body.body, copy_out)))

    def _refs(self, subgraph: int, tensors: Iterable[int | None]) -> tuple[TensorRef, ...]:
        return tuple(TensorRef(self.index, subgraph, t) for t in tensors if t is not None)

    def _step(
        self,
        name: str,
        reads: tuple[TensorRef, ...] = (),
        writes: tuple[TensorRef, ...] = (),
        operator: OperatorRef | None = None,
    ) -> Step:
        self._count(1)
        return Step(f"{self.model.name}: {name}", self.index, reads, writes, operator)

    def _count(self, leaves: int) -> None:
        self.count += leaves
        if self.count > MOST_STEPS:
            message = f'model "{self.model.name}" calls its subgraphs so often that it has over {MOST_STEPS:,} steps'
            raise ModelError(Diagnostic("P301", message, help="call large subgraphs from fewer places"))
