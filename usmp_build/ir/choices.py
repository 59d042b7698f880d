"""Choices of a schedule: the order of operators, which of them run row by row, and the direction of each.

Any choice must compute the same tensors; by default, operators run in the order of the model file, forward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from usmp_build.frozen import frozen
from usmp_build.ir.by_rows import LAYER_BY_LAYER, ByRows, RowMove
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.schedule import Direction


@frozen
class Choices:
    """The choices for all models of the firmware."""

    orders: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Model → the operators of its main subgraph that run, in order, once for each of their jobs; other models keep the
    order of the file."""
    directions: Mapping[OperatorRef, Direction] = field(default_factory=dict)
    """Operator → direction; all others run forward."""
    by_rows: ByRows = LAYER_BY_LAYER
    moves: Mapping[int, tuple[RowMove, ...]] = field(default_factory=dict)
    """Model → the rows that move while it runs, in order; their tables number the places."""

    def order(self, index: int, model: Model) -> tuple[int, ...]:
        """Return the operators of main that run, in order; those that run row by row once for each job."""
        running = (i for i, op in enumerate(model.main.operators) if op.runs)
        return self.orders.get(index) or tuple(i for i in running for _ in range(self.jobs(OperatorRef(index, 0, i))))

    def jobs(self, operator: OperatorRef) -> int:
        """Return the number of jobs of an operator."""
        return self.by_rows.jobs.get(operator, 1)

    def direction(self, operator: OperatorRef) -> Direction:
        """Return the direction of an operator."""
        return self.directions.get(operator, Direction.FORWARD)

    def without_moves(self) -> Choices:
        """Return the same choices where all rows stay where they are written."""
        tables = {tensor: replace(table, moved=()) for tensor, table in self.by_rows.tables.items()}
        return replace(self, moves={}, by_rows=replace(self.by_rows, tables=tables)) if self.moves else self

    def towards(self, operators: Iterable[OperatorRef], direction: Direction) -> Choices:
        """Return the same choices with a direction for these operators."""
        return replace(self, directions={**self.directions, **dict.fromkeys(operators, direction)})


FILE_ORDER = Choices()
"""The order of the model files, forward."""
