"""Finds what a run leaves undefined: frames and stacks that are not complete, and all that is made of them.

Operators that collect samples say whether their output is complete.  Where it is not, TensorFlow Lite Micro leaves
there what was before, and the generated code zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from usmp_build.ir.graph import Operator, Subgraph
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
            if op.kind in FLAGGED and op.outputs[1] in answer and not answer[op.outputs[1]].any():
                undefined.add(op.outputs[0])
            elif undefined.intersection(op.inputs):
                undefined.update(op.outputs, self._variables(op))
        self._kept = {tensor for tensor in undefined if self._graph.tensors[tensor].is_variable}
        return undefined

    def _variables(self, op: Operator) -> Iterator[int]:
        return (tensor for tensor in op.inputs if tensor is not None and self._graph.tensors[tensor].is_variable)
