"""Which operators run row by row, and which tensors have a buffer for each of their rows.

    layer by layer    a0 a1 a2 a3 a4 a5   b0 b1 b2 b3 b4 b5   c0 c1 c2 c3 c4 c5
    row by row        a0 a1 b0 a2 b1 c0 a3 b2 c1 a4 b3 c2 a5 b4 c3 b5 c4 c5      at most three rows of a and b are alive

Computing one row is a job.  The jobs of an operator run in the order of its rows, those of several operators in any
order that has each row before it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from usmp_build.frozen import frozen
from usmp_build.ir.axes import RowTable
from usmp_build.ir.graph import OperatorRef, TensorRef


class RowMove(NamedTuple):
    """A row that goes to another place, where later jobs read it: it makes room for others."""

    position: int
    """The job that it goes before, as its position in the order of the model."""
    arrivals: int
    """How many of the rows that arrive for this job do so before."""
    tensor: TensorRef
    row: int


@frozen
class ByRows:
    """The operators that are divided into jobs, and the tensors that are divided into rows."""

    jobs: Mapping[OperatorRef, int] = field(default_factory=dict)
    """Operator of a main subgraph → number of its jobs."""
    tables: Mapping[TensorRef, RowTable] = field(default_factory=dict)
    """Tensor that only these operators touch → its rows, each with a buffer."""
    edges: Mapping[TensorRef, RowTable] = field(default_factory=dict)
    """Tensor that these operators touch row by row, and maybe others as a whole → its rows, in one buffer: an input or
    output of the model, or a tensor that is complete before it is read."""


LAYER_BY_LAYER = ByRows()
"""Every operator runs from its first row to its last."""
