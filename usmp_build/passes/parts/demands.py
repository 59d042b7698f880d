"""What those who touch tensors ask of the bytes: an alignment, and that nobody else's cache is in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import lcm

from usmp_build.interfaces.kernels import Input, Kernel, Output
from usmp_build.ir.graph import OperatorRef, Subgraph
from usmp_build.passes.operands import ruled_alignments
from usmp_build.passes.scopes import Scoped
from usmp_build.request import Request


def demands(request: Request, scoped: Scoped, place: tuple[int, int]) -> Mapping[int, int]:
    """Return for each tensor of a subgraph the alignment in bytes that its elements, kernels and rules need."""
    graph = _graph(scoped, place)
    found = {index: tensor.dtype.alignment for index, tensor in enumerate(graph.tensors)}
    for index in range(len(graph.operators)):
        for tensor, alignment in _asked(request, scoped, OperatorRef(*place, index), graph):
            found[tensor] = lcm(found[tensor], alignment)
    return found


def _asked(request: Request, scoped: Scoped, ref: OperatorRef, graph: Subgraph) -> Iterator[tuple[int, int]]:
    """Yield tensors that an operator touches, and an alignment of each; views, which do not run, ask for none."""
    kernel, op = scoped.kernels.get(ref), graph.operators[ref.operator]
    if kernel is None:
        return
    own = kernel.alignment if isinstance(kernel, Kernel) else 1
    yield from ((tensor, own) for tensor in (*op.inputs, *op.outputs) if tensor is not None)
    rules = request.targets[scoped.scopes.targets[ref]].rules
    for operand, alignment in ruled_alignments(rules, op, graph, kernel):
        if isinstance(operand, Input | Output):
            tensor = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
            if tensor is not None:
                yield tensor, alignment


def are_transferred(request: Request, scoped: Scoped, place: tuple[int, int], tensors: set[int]) -> bool:
    """Tell whether somebody else may touch tensors of a subgraph than the processor that caches them."""
    if not any(pool.cache_line for pool in request.pools):
        return False
    for index, op in enumerate(_graph(scoped, place).operators):
        ref = OperatorRef(*place, index)
        kernel = scoped.kernels.get(ref)
        foreign = isinstance(kernel, Kernel) and any(call.prototype for call in kernel.calls)
        if (foreign or scoped.scopes.targets.get(ref, 0)) and tensors & {*op.inputs, *op.outputs}:
            return True
    return False


def _graph(scoped: Scoped, place: tuple[int, int]) -> Subgraph:
    return scoped.models[place[0]].subgraphs[place[1]]
