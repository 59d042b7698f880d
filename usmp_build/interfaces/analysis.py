"""The results of all passes, from models to the memory problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, TypeAlias

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Kernel, NoKernel, Traffic
from usmp_build.ir.axes import Axes
from usmp_build.ir.choices import FILE_ORDER, Choices
from usmp_build.ir.connections import Connection
from usmp_build.ir.costs import Costs
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.lifetimes import Lifetimes, Survivors
from usmp_build.ir.rewritten import Record
from usmp_build.ir.schedule import Direction, Schedule, steps, without_rows
from usmp_build.ir.scopes import Scopes
from usmp_build.ir.separations import Separations
from usmp_build.ir.storage import Storage
from usmp_build.planner.memory.problem import Problem

Kernels: TypeAlias = Mapping[OperatorRef, Kernel | NoKernel]
"""The kernel of each operator, except views and control flow."""

OperatorTraffic: TypeAlias = Mapping[OperatorRef, Mapping[int, Traffic]]
"""For each operator the buffers that it touches, and the bytes moved in one run."""


@frozen
class Analysis:
    """The results of the passes, in the order in which they run."""

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
    allowed: Any = field(repr=False, compare=False)
    """`passes.AllowedDistances`: how close each step lets buffers come, in any direction; it remembers them."""
    separations: Separations
    problem: Problem
    """`problem.buffers[i]` is `storage.buffers[i]`."""
    choices: Choices = FILE_ORDER
    """The choices of the schedule."""
    rewrites: tuple[Record, ...] = ()
    """The savings of rewrites in each model."""

    @cached_property
    def directions(self) -> Mapping[OperatorRef, Direction]:
        """The direction of each operator in the schedule."""
        leaves = steps(self.schedule.root)
        return {step.operator: step.direction for step in leaves if step.operator is not None}

    @cached_property
    def row_numbers(self) -> Mapping[int, int]:
        """Buffer → which row it is of a tensor that is computed row by row; other buffers are not there."""
        tables, storage = self.choices.by_rows.tables, self.storage
        return {row: number for tensor in tables for number, row in enumerate(storage.buffers_of(tensor))}

    @cached_property
    def moved_rows(self) -> Mapping[int, int]:
        """Buffer that is a place to which a row moves → the number of that row."""
        tables, storage = self.choices.by_rows.tables, self.storage
        places = ((storage.buffers_of(tensor)[table.rows :], table.moved) for tensor, table in tables.items())
        return {place: row for buffers, moved in places for place, row in zip(buffers, moved, strict=False)}

    def tensor_name(self, buffer: int) -> str:
        """Return the name of a buffer, without the row's number if it is a row of a tensor computed row by row."""
        name = self.storage.buffers[buffer].name
        return name.rpartition("[")[0] if buffer in self.row_numbers else name

    def kernel_of(self, ref: OperatorRef) -> Kernel | NoKernel:
        """Return the kernel of an operator in the direction in which it runs."""
        kernel = self.kernels[ref]
        return kernel.towards(self.directions.get(ref, Direction.FORWARD)) if isinstance(kernel, Kernel) else kernel

    def moved_by(self, model: int) -> Mapping[int, Traffic]:
        """Return the traffic of one run of a model for each buffer, in bytes; a loop counts once."""
        total: dict[int, Traffic] = {}
        leaves = without_rows(self.schedule.programs[model])
        operators = (step.operator for step in leaves if step.operator is not None)
        of_kernels = (item for operator in operators for item in self.traffic[operator].items())
        for buffer, moved in (*of_kernels, *self._moves(model)):
            total[buffer] = total.get(buffer, Traffic()) + moved
        return total

    def _moves(self, model: int) -> Iterator[tuple[int, Traffic]]:
        """Yield what each move of a row reads at its old place, and writes at the new one."""
        for move in filter(None, (step.move for step in steps(self.schedule.programs[model]))):
            (source,), (target,) = map(self.storage.buffers_of, move)
            size = self.storage.buffers[source].size
            yield source, Traffic(read=size)
            yield target, Traffic(written=size)
