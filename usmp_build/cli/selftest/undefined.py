"""Finds what a run leaves undefined: frames and stacks that are not complete, and all that is made of them.

Operators that collect samples say whether their output is complete, and those that detect objects how many there are.
Where something is missing, TensorFlow Lite Micro leaves there what was before, and the generated code zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from usmp_build.ir.graph import Operator, Subgraph
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
