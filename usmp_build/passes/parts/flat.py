"""Lets concatenations read what earlier ones joined, not what they made of it.

    %4 = CONCATENATION(%1, %2)          %4 = CONCATENATION(%1, %2)
    %6 = CONCATENATION(%4, %5)     →    %6 = CONCATENATION(%1, %2, %5)

Row by row, the parts of a dense block then wait for all layers behind them, and each joined row only for its own
readers.  Layer by layer that takes more: there %4 is complete before anything reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from usmp_build.interfaces.kernels import Kernel, Libraries, NoKernel
from usmp_build.ir.axes import Axes
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, Tensor, TensorRef
from usmp_build.ir.options import Activation
from usmp_build.operators.joining import Concatenation
from usmp_build.passes.scopes import Scoped
from usmp_build.passes.select import ask

_MOST = 256
"""Most inputs of a concatenation that is made longer."""


def flat(scoped: Scoped, axes: Axes, libraries: Libraries) -> Scoped:
    """Return the models with concatenations that read no other one's output; `scoped` itself if they are so.

    Indices of operators and tensors stay, and what a joined tensor was made for besides: another reader.
    """
    models, kernels = list(scoped.models), dict(scoped.kernels)
    for m, model in enumerate(scoped.models):
        graph = _flat(scoped, axes, m)
        for index, (op, before) in enumerate(zip(graph.operators, model.main.operators, strict=True)):
            if op is not before:
                ref = OperatorRef(m, 0, index)
                kernels[ref] = _kernel(scoped, libraries, ref, op, graph)
        models[m] = replace(model, subgraphs=(graph, *model.subgraphs[1:]))
    return scoped if tuple(models) == scoped.models else Scoped(tuple(models), kernels, scoped.scopes)


def _kernel(scoped: Scoped, libraries: Libraries, ref: OperatorRef, op: Operator, graph: Subgraph) -> Kernel | NoKernel:
    before = scoped.kernels[ref]
    assert isinstance(before, Kernel)
    return ask(libraries, (scoped.scopes.targets[ref], before.library), op, graph)


def _flat(scoped: Scoped, axes: Axes, model: int) -> Subgraph:
    """Return the main subgraph with flat concatenations."""
    graph = scoped.models[model].main
    read_otherwise = {t for op in graph.operators if op.kind != "CONCATENATION" for t in op.inputs}
    joined: dict[int, tuple[object, tuple[int | None, ...]]] = {}
    operators = []
    for index, op in enumerate(graph.operators):
        ref, options = OperatorRef(model, 0, index), op.options
        if isinstance(options, Concatenation) and isinstance(scoped.kernels.get(ref), Kernel):
            alike = _alike(scoped, ref, options, graph.tensors[op.outputs[0]])
            inputs = tuple(_inputs(op, joined, alike))
            is_plain = not any(TensorRef(model, 0, t) in axes for t in inputs if t is not None)
            if is_plain and len(inputs) <= _MOST and inputs != op.inputs:
                op = replace(op, inputs=inputs)
            if op.outputs[0] in read_otherwise and options.activation is Activation.NONE:
                joined[op.outputs[0]] = alike, op.inputs
        operators.append(op)
    return graph if tuple(operators) == graph.operators else replace(graph, operators=tuple(operators))


def _alike(scoped: Scoped, ref: OperatorRef, options: Concatenation, output: Tensor) -> object:
    """Return what two concatenations must have in common."""
    rank = len(output.shape)
    return options.axis % max(1, rank), rank, output.quantization, scoped.scopes.targets.get(ref, 0)


def _inputs(
    op: Operator, joined: dict[int, tuple[object, tuple[int | None, ...]]], alike: object
) -> Iterator[int | None]:
    for tensor in op.inputs:
        before, parts = joined.get(-1 if tensor is None else tensor, (None, ()))
        yield from parts if before == alike else (tensor,)
