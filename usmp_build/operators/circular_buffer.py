"""CIRCULAR_BUFFER, a custom operator of TensorFlow Lite Micro: the last inputs of a stream, side by side.

Its output is a variable: a run moves what is there by one slot, and puts the input at the end.  A rewrite therefore
makes the output an input, which the operator updates.  A second output says whether the run completes a period; without
one, TensorFlow Lite Micro ends all other runs right after this operator.
"""

from __future__ import annotations

from dataclasses import field, replace

from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Options, named
from usmp_build.operators.kind import StoredOptions, stateful
from usmp_build.operators.operands import Signature

CIRCULAR_BUFFER = "CUSTOM:CIRCULAR_BUFFER"
_EACH_RUN = {5, 13, 25}
"""Numbers of slots with a period of 1, where a file does not state it."""
_COUNTED = (2, 96)
"""Width and depth of slots whose period then depends on how many buffers came before, even in other models."""


@frozen
class CircularBuffer(Options):
    """CIRCULAR_BUFFER."""

    cycles_max: int = field(default=0, metadata=named(required=False))
    """Period in runs; 0 or less: it follows from the shape."""


def period(options: CircularBuffer, shape: tuple[int, ...]) -> int | None:
    """Return how many runs a period has; None if that is not certain.  `shape` is that of the slots, of rank 4."""
    if options.cycles_max > 0:
        return options.cycles_max
    if shape[1] in _EACH_RUN:
        return 1
    return None if shape[2:] == _COUNTED else 2


def updating(op: Operator, graph: Subgraph, runs: int) -> tuple[Operator, Tensor | None]:
    """Return the operator with its slots as an input, and what else it remembers, which gets the index `runs`.

    That is the number of runs since the last period, if anything asks for it.  An operator whose output is no variable
    is returned as it is.
    """
    if op.kind != CIRCULAR_BUFFER or len(op.inputs) != 1 or not op.outputs:
        return op, None
    slots, *valid = op.outputs
    if not graph.tensors[slots].is_variable:
        return op, None
    counter = Tensor(f"CIRCULAR_BUFFER_{op.position}_runs", (1,), DType.INT32, is_variable=True) if valid else None
    inputs = (*op.inputs, slots, *((runs,) if valid else ()))
    return replace(op, inputs=inputs, outputs=tuple(valid)), counter


KINDS = (
    stateful(
        CIRCULAR_BUFFER,
        Signature("input slots? runs?", "output? valid?"),
        options=StoredOptions(CircularBuffer, None),
    ),
)
