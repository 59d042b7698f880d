"""Choices of a schedule: the order of operators, and the direction in which each goes through its output.

Any choice must compute the same tensors; by default, operators run in the order of the model file, forward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.schedule import Direction


@dataclass(frozen=True)
class Choices:
    """The choices for all models of the firmware."""

    orders: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Model → the operators of its main subgraph that run, in order; other models keep the order of the file."""
    directions: Mapping[OperatorRef, Direction] = field(default_factory=dict)
    """Operator → direction; all others run forward."""

    def order(self, index: int, model: Model) -> tuple[int, ...]:
        """Return the operators of main that run, in order."""
        return self.orders.get(index) or tuple(i for i, op in enumerate(model.main.operators) if op.runs)

    def direction(self, operator: OperatorRef) -> Direction:
        """Return the direction of an operator."""
        return self.directions.get(operator, Direction.FORWARD)

    def towards(self, operators: Iterable[OperatorRef], direction: Direction) -> Choices:
        """Return the same choices with a direction for these operators."""
        return replace(self, directions={**self.directions, **dict.fromkeys(operators, direction)})


FILE_ORDER = Choices()
"""The order of the model files, forward."""
