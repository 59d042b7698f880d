"""Matches rules of targets to operands of operators, and finds the alignments that they demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.interfaces.kernels import Derived, Input, Kernel, NoKernel, Output, Scratch
from usmp_build.interfaces.operands import PresentOperand
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.naming import matches
from usmp_build.request import OperandRule


def speaks_of(words: tuple[str, ...], operand: PresentOperand, constant: bool) -> bool:
    """Tell whether the `operands` of a rule match an operand; none match all.  `constant`: the model has its bytes."""
    names: Mapping[type, str] = {Input: "input", Output: "output", Scratch: "scratch", Derived: "constant"}
    name = names[type(operand)]
    kind = "constants" if constant else {"scratch": "scratch"}.get(name, f"{name}s")
    return not words or kind in words or f"{name} {operand.position}" in words


def ruled_alignments(
    rules: tuple[OperandRule, ...], op: Operator, graph: Subgraph, kernel: Kernel | NoKernel
) -> Iterator[tuple[PresentOperand, int]]:
    """Yield the operands that rules of an operator's target align, each with its alignment in bytes."""
    applicable = [rule for rule in rules if rule.alignment > 1 and matches(rule.operators, op.kind)]
    if not applicable:
        return
    for operand, constant in _operands(op, graph, kernel):
        alignment = max(
            (rule.alignment for rule in applicable if speaks_of(rule.operands, operand, constant)), default=1
        )
        if alignment > 1:
            yield operand, alignment


def _operands(op: Operator, graph: Subgraph, kernel: Kernel | NoKernel) -> Iterator[tuple[PresentOperand, bool]]:
    """Yield the operands of an operator, each with whether the model has its bytes."""
    for position, tensor in enumerate(op.inputs):
        if tensor is not None:
            yield Input(position), graph.tensors[tensor].is_constant
    yield from ((Output(position), False) for position in range(len(op.outputs)))
    if isinstance(kernel, Kernel):
        yield from ((Scratch(position), False) for position in range(len(kernel.scratch)))
        yield from ((Derived(position), False) for position in range(len(kernel.constants)))
