"""CIRCULAR_BUFFER, which updates a variable: in one direction, that of time."""

from __future__ import annotations

from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Operand, Output, Traffic
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.nest import Moved, Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.operators.circular_buffer import CircularBuffer, period


def circular_buffer(node: Node) -> Kernel:
    """The slots move by one, and the input is the last one; then the flag, if there is one."""
    source, slots = node.input(0), node.optional(1)
    if slots is None or not slots.is_variable:
        raise Unsupported("what it remembers is not a variable")
    if (source.dtype, slots.dtype) != (DType.INT8, DType.INT8):
        raise unsupported_types(source, slots)
    _check_shapes(node, source, slots)
    runs = period(node.options(CircularBuffer), slots.shape)
    if runs is None:
        raise Unsupported("its period is not stated, and depends on other models")
    append = _append(node, source.size, slots.size - source.size)
    if node.optional(2) is None:
        if runs > 1:
            raise Unsupported(f"it ends {runs - 1} of {runs} runs early, unless it has a second output")
        node.expect(not node.outputs, "has a flag, but counts no runs")
        return Kernel(append, updates=frozenset({1}))
    return Kernel((*append, *_flag(node, runs)), updates=frozenset({1, 2}))


def _check_shapes(node: Node, source: Tensor, slots: Tensor) -> None:
    is_slot = len(source.shape) == len(slots.shape) == 4 and source.shape[1] == 1
    node.expect(is_slot and source.shape[2:] == slots.shape[2:], "has an input that is not one of its slots")
    node.expect(source.shape[0] == slots.shape[0], "has another number of batches in its slots than in its input")
    if source.shape[0] != 1:
        raise Unsupported("it has more than one batch")


def _append(node: Node, size: int, kept: int) -> tuple[KernelCall, ...]:
    fields, nest = (("size", size), ("kept", kept)), Nest({}, (reads(Input(0), size),))
    operands: tuple[Operand, ...] = (Input(0), Input(1))
    moved: Moved = {Input(1): Traffic(kept, kept + size)}
    return kernel(node, "circular_buffer", nest, fields, operands=operands, moved=moved).calls


def _flag(node: Node, runs: int) -> tuple[KernelCall, ...]:
    counter, valid = node.input(2), node.output
    node.expect(counter.is_variable and (counter.dtype, counter.elements) == (DType.INT32, 1), "counts in another type")
    if valid.dtype is not DType.BOOL:
        raise unsupported_types(valid)
    node.expect(valid.elements == 1, "has more than one flag")
    operands: tuple[Operand, ...] = (Input(2), Output(0))
    moved: Moved = {Input(2): Traffic(counter.size, counter.size)}
    nest = Nest({}, (writes(Output(0)),))
    return kernel(node, "circular_buffer_valid", nest, (("period", runs),), operands=operands, moved=moved).calls
