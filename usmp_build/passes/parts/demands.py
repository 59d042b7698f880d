"""Finds the alignment that tensors need, and whether DMA or another target may touch them."""

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
    alignments = {index: tensor.dtype.alignment for index, tensor in enumerate(graph.tensors)}
    for index in range(len(graph.operators)):
        for tensor, alignment in _needed(request, scoped, OperatorRef(*place, index), graph):
            alignments[tensor] = lcm(alignments[tensor], alignment)
    return alignments


def _needed(request: Request, scoped: Scoped, ref: OperatorRef, graph: Subgraph) -> Iterator[tuple[int, int]]:
    """Yield the tensors that an operator touches, each with an alignment that it needs; views need none."""
    kernel, op = scoped.kernels.get(ref), graph.operators[ref.operator]
    if kernel is None:
        return
    kernel_alignment = kernel.alignment if isinstance(kernel, Kernel) else 1
    yield from ((tensor, kernel_alignment) for tensor in (*op.inputs, *op.outputs) if tensor is not None)
    rules = request.targets[scoped.scopes.targets[ref]].rules
    for operand, alignment in ruled_alignments(rules, op, graph, kernel):
        if isinstance(operand, Input | Output):
            tensor = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
            if tensor is not None:
                yield tensor, alignment


def are_transferred(request: Request, scoped: Scoped, place: tuple[int, int], tensors: set[int]) -> bool:
    """Tell whether something else than the processor with the cache may touch these tensors of a subgraph."""
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
