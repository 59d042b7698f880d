"""Plans whose kernels all run in one direction, whatever the planner would choose."""

from dataclasses import replace
from typing import Any

import pytest

from usmp_build.ir.schedule import Direction, Step
from usmp_build.passes.schedule.leaves import Leaves
from usmp_build.passes.separations import AllowedDistances


def run_towards(direction: Direction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every operator of every plan run in this direction until the test ends: no step is made that does not."""
    honest = Leaves.step

    def turned(self: Leaves, *arguments: Any, **named: Any) -> Step:
        step = honest(self, *arguments, **named)
        return replace(step, direction=direction) if step.operator is not None else step

    monkeypatch.setattr(Leaves, "step", turned)
    allowed = AllowedDistances.of
    monkeypatch.setattr(AllowedDistances, "of", lambda self, operator, _: allowed(self, operator, direction))
