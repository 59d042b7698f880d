"""Makes and counts the steps of one model: inlined calls can turn a short model into a very long timeline."""

from __future__ import annotations

from usmp_build.errors import Diagnostic, ModelError, one_line
from usmp_build.ir.graph import Model, OperatorRef, TensorRef
from usmp_build.ir.schedule import Direction, ScratchRef, Step, Value

MOST_STEPS = 1_000_000
"""Most steps of a model: nested calls multiply, so a file of a few hundred bytes could otherwise exhaust memory."""

Refs = tuple[Value, ...]


class Leaves:
    """Makes the steps of model `number`; `count` is the number of steps on the timeline so far."""

    def __init__(self, number: int, model: Model) -> None:
        self.model = number
        self.count = 0
        self._name = model.name

    def step(
        self,
        name: str,
        reads: Refs = (),
        writes: Refs = (),
        operator: OperatorRef | None = None,
        updates: Refs = (),
        scratch: tuple[ScratchRef, ...] = (),
        keeps: tuple[TensorRef, ...] = (),
        direction: Direction = Direction.FORWARD,
        job: int | None = None,
        row: int | None = None,
        elementwise: tuple[tuple[TensorRef, TensorRef, int], ...] = (),
    ) -> Step:
        """Make a step.  Raises ModelError when there are too many."""
        self.repeat(1)
        title = f"{self._name}: {one_line(name)}"
        return Step(
            title, self.model, reads, writes, operator, updates, scratch, keeps, direction, job, row, elementwise
        )

    def repeat(self, steps: int) -> None:
        """Count steps that repeat on the timeline.  Raises ModelError when there are too many."""
        self.count += steps
        if self.count > MOST_STEPS:
            message = f'model "{self._name}" makes so many calls that it has over {MOST_STEPS:,} steps'
            raise ModelError(Diagnostic("P301", message, help="call large subgraphs or functions from fewer places"))
