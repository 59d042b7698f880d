"""Looks up the buffers of kernel operands, and offsets in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from usmp_build.interfaces.kernels import Derived, Input, Operand, Output, Scratch
from usmp_build.ir.graph import Operator, OperatorRef, TensorRef

PresentOperand: TypeAlias = Input | Output | Derived | Scratch
"""An operand that exists."""


class Tables(Protocol):
    """Tables of buffers: `ir.storage.Storage`, or one under construction."""

    @property
    def tensors(self) -> Mapping[TensorRef, int]:
        """Tensor → buffer."""

    @property
    def scratch(self) -> Mapping[OperatorRef, tuple[int, ...]]:
        """Operator → buffers of its scratch."""

    @property
    def derived(self) -> Mapping[OperatorRef, tuple[int, ...]]:
        """Operator → buffers of its derived constants."""


def buffer_of(operand: PresentOperand, ref: OperatorRef, op: Operator, tables: Tables) -> int | None:
    """Return the buffer of an operand; None for the caller's arrays and for omitted inputs."""
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


def offset_of(operand: Operand, ref: OperatorRef, op: Operator, offsets: Mapping[TensorRef, int]) -> int:
    """Return the offset of an operand in its buffer in bytes, given the `offsets` of parts; 0 unless it is a tensor."""
    if not isinstance(operand, Input | Output):
        return 0
    tensor = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
    return 0 if tensor is None else offsets.get(TensorRef(ref.model, ref.subgraph, tensor), 0)
