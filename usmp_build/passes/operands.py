"""Operands of operators: which ones the words of rules mean, what they must be aligned to, and the buffers behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeAlias

from usmp_build.interfaces.kernels import Derived, Input, Kernel, NoKernel, Output, Scratch
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.naming import matches
from usmp_build.request import OperandRule

Asked: TypeAlias = Input | Output | Derived | Scratch
"""An operand that is there."""


def speaks_of(words: tuple[str, ...], operand: Asked, constant: bool) -> bool:
    """Tell whether words of a rule mean an operand; no words mean all.  `constant`: the model knows its bytes."""
    names: Mapping[type, str] = {Input: "input", Output: "output", Scratch: "scratch", Derived: "constant"}
    name = names[type(operand)]
    kind = "constants" if constant else {"scratch": "scratch"}.get(name, f"{name}s")
    return not words or kind in words or f"{name} {operand.position}" in words


def ruled_alignments(
    rules: tuple[OperandRule, ...], op: Operator, graph: Subgraph, kernel: Kernel | NoKernel
) -> Iterator[tuple[Asked, int]]:
    """Yield the operands that rules of an operator's target align, and to how many bytes."""
    speaking = [rule for rule in rules if rule.alignment > 1 and matches(rule.operators, op.kind)]
    if not speaking:
        return
    for operand, constant in _operands(op, graph, kernel):
        alignment = max((rule.alignment for rule in speaking if speaks_of(rule.operands, operand, constant)), default=1)
        if alignment > 1:
            yield operand, alignment


def _operands(op: Operator, graph: Subgraph, kernel: Kernel | NoKernel) -> Iterator[tuple[Asked, bool]]:
    """Yield what an operator touches, and whether the model knows its bytes."""
    for position, tensor in enumerate(op.inputs):
        if tensor is not None:
            yield Input(position), graph.tensors[tensor].is_constant
    yield from ((Output(position), False) for position in range(len(op.outputs)))
    if isinstance(kernel, Kernel):
        yield from ((Scratch(position), False) for position in range(len(kernel.scratch)))
        yield from ((Derived(position), False) for position in range(len(kernel.constants)))


class Tables(Protocol):
    """Where buffers are looked up: `ir.storage.Storage`, or one that is being made."""

    @property
    def tensors(self) -> Mapping[TensorRef, int]:
        """Tensor → buffer."""

    @property
    def scratch(self) -> Mapping[OperatorRef, tuple[int, ...]]:
        """Operator → buffers of its scratch."""

    @property
    def derived(self) -> Mapping[OperatorRef, tuple[int, ...]]:
        """Operator → buffers of its derived constants."""


def buffer_behind(operand: Asked, ref: OperatorRef, op: Operator, tables: Tables) -> int | None:
    """Return the buffer behind an operand; None for the caller's arrays and for inputs that were left out."""
    match operand:
        case Scratch(position):
            return tables.scratch[ref][position]
        case Derived(position):
            return tables.derived[ref][position]
        case Input(position):
            tensor = op.inputs[position]
        case Output(position):
            tensor = op.outputs[position]
    return None if tensor is None else tables.tensors.get(TensorRef(ref.model, ref.subgraph, tensor))
