"""Everything that is known before anything is placed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Model, OperatorRef
from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.ir.schedule import Schedule
from usmp_build.ir.storage import Storage
from usmp_build.memory.problem import Problem

Kernels: TypeAlias = Mapping[OperatorRef, Kernel | NoKernel]
"""How each operator runs that runs by itself."""


@dataclass(frozen=True)
class Analysis:
    """The results of the passes, in the order in which they are made."""

    models: tuple[Model, ...]
    """After rewriting."""
    kernels: Kernels
    schedule: Schedule
    storage: Storage
    lifetimes: Lifetimes
    problem: Problem
    """`problem.buffers[i]` is `storage.buffers[i]`."""
