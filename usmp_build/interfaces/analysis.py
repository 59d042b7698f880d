"""Everything that is known before anything is placed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from usmp_build.interfaces.kernels import Kernel, NoKernel, Traffic
from usmp_build.ir.axes import Axes
from usmp_build.ir.connections import Connection
from usmp_build.ir.costs import Costs
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.lifetimes import Lifetimes, Survivors
from usmp_build.ir.schedule import Schedule, steps
from usmp_build.ir.scopes import Scopes
from usmp_build.ir.storage import Storage
from usmp_build.memory.problem import Problem

Kernels: TypeAlias = Mapping[OperatorRef, Kernel | NoKernel]
"""How each operator runs that runs by itself."""

OperatorTraffic: TypeAlias = Mapping[OperatorRef, Mapping[int, Traffic]]
"""For each operator the buffers that it touches, and the bytes it moves in one run."""


@dataclass(frozen=True)
class Analysis:
    """The results of the passes, in the order in which they are made."""

    models: tuple[Model, ...]
    """After rewriting, with copies."""
    kernels: Kernels
    scopes: Scopes
    axes: Axes
    connections: tuple[Connection, ...]
    schedule: Schedule
    storage: Storage
    survivors: Survivors
    lifetimes: Lifetimes
    traffic: OperatorTraffic
    costs: Costs
    problem: Problem
    """`problem.buffers[i]` is `storage.buffers[i]`."""

    def moved_by(self, model: int) -> Mapping[int, Traffic]:
        """Add up what one run of a model moves to and from each buffer; a loop counts once."""
        total: dict[int, Traffic] = {}
        operators = (step.operator for step in steps(self.schedule.programs[model]) if step.operator is not None)
        for buffer, moved in (item for operator in operators for item in self.traffic[operator].items()):
            total[buffer] = total.get(buffer, Traffic()) + moved
        return total
