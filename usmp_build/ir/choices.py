"""What a schedule may choose: the order of operators, and from which end each of them goes through its output.

Both are free as far as no tensor changes; without a choice, operators run in the order of the model file, forward.
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
    """Model → the operators of its main subgraph that run, in the order in which they do; models of which nothing is
    said keep that of the file."""
    directions: Mapping[OperatorRef, Direction] = field(default_factory=dict)
    """Operators of which nothing is said run forward."""

    def order(self, index: int, model: Model) -> tuple[int, ...]:
        """Return the operators of main that run, in order."""
        return self.orders.get(index) or tuple(i for i, op in enumerate(model.main.operators) if op.runs)

    def direction(self, operator: OperatorRef) -> Direction:
        """Look a direction up."""
        return self.directions.get(operator, Direction.FORWARD)

    def towards(self, operators: Iterable[OperatorRef], direction: Direction) -> Choices:
        """Return the same choices, but for the direction of some operators."""
        return replace(self, directions={**self.directions, **dict.fromkeys(operators, direction)})


FILE_ORDER = Choices()
"""As the model files say it, forward."""
