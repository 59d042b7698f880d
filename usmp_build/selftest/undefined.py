"""Finds what a run leaves undefined: frames and stacks that are not complete, and all that is made of them; quotients.

Operators that collect samples say whether their output is complete, and those that detect objects how many there are.
Where something is missing, TensorFlow Lite Micro leaves there what was before, and the generated code zeros.  It shifts
some quotients of int8 by more than 31 bits, of small dividends and by 0, where the result is what the processor makes
of that, and in the generated code 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import NoKernel
from usmp_build.ir.graph import DType, Operator, Subgraph
from usmp_build.kernels.reference import Reference
from usmp_build.operators.detection import Detection
from usmp_build.operators.signal import FLAGGED


class Undefined:
    """Follows the runs of a main subgraph; what is undefined in a variable stays so."""

    def __init__(self, graph: Subgraph) -> None:
        self._graph = graph
        self._kept: set[int] = set()

    def after(self, answer: Mapping[int, NDArray[Any]]) -> set[int]:
        """Return the tensors that are undefined after the next run, whose tensors are `answer`."""
        undefined = set(self._kept)
        for op in self._graph.operators:
            undefined.update(_incomplete(op, answer))
            if undefined.intersection(op.inputs):
                undefined.update(op.outputs, self._variables(op))
        self._kept = {tensor for tensor in undefined if self._graph.tensors[tensor].is_variable}
        return undefined

    def _variables(self, op: Operator) -> Iterator[int]:
        return (tensor for tensor in op.inputs if tensor is not None and self._graph.tensors[tensor].is_variable)


def _incomplete(op: Operator, answer: Mapping[int, NDArray[Any]]) -> tuple[int, ...]:
    """Return the outputs of an operator that are not complete, by what it says itself in the last one."""
    if not op.outputs or op.outputs[-1] not in answer:
        return ()
    said = answer[op.outputs[-1]]
    if op.kind in FLAGGED and not said.any():
        return op.outputs[:-1]
    match op.options:
        case Detection(use_regular_nms=False, max_detections=most) if said.max() < most:
            return op.outputs[:-1]
    return ()


_OPERANDS = "first", "second"
"""Of DIV, as its kernel calls them."""


def may_shift_too_far(op: Operator, graph: Subgraph) -> bool:
    """Tell whether quotients of an operator may be undefined."""
    return op.kind == "DIV" and graph.tensors[op.outputs[0]].dtype is DType.INT8


def shifted_too_far(op: Operator, graph: Subgraph, operands: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
    """Return which quotients of such a DIV are undefined, of these dividends and divisors: see div_s8.c."""
    kernel = Reference().kernel(op, graph)
    if isinstance(kernel, NoKernel) or kernel.calls[0].parameters is None:
        return np.zeros((), np.bool_)
    fields = dict(kernel.calls[0].parameters.fields)
    a, b = (x.astype(np.int32) - fields[f"{name}_zero_point"] for x, name in zip(operands, _OPERANDS, strict=True))
    is_negative = (a != 0) & ((a < 0) != (b < 0))
    room = _leading_zeros(2 * np.abs(a) - is_negative)
    return np.asarray(fields["shift"] - (31 - _leading_zeros(np.abs(b))) - room < -31)


def _leading_zeros(numbers: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(32 - np.frexp(numbers)[1])
