"""Finds the pools for scratch and derived constants of kernels, which cannot be copied."""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.errors import ManifestError
from usmp_build.interfaces.kernels import Derived, Kernel, Scratch
from usmp_build.ir.graph import Operator
from usmp_build.passes.assign import Spot
from usmp_build.passes.scopes.statement import Statement


def scratch_pools(statement: Statement, op: Operator, kernel: Kernel) -> tuple[int, ...]:
    """Return the pools for scratch; meaningless if there is none."""
    operands = [Scratch(position) for position in range(len(kernel.scratch))]
    return _pools(statement, op, kernel, operands, "workspace_pools")


def derived_pools(statement: Statement, op: Operator, kernel: Kernel) -> tuple[int, ...]:
    """Return the pools for derived constants; meaningless if there are none."""
    operands = [Derived(position) for position in range(len(kernel.constants))]
    return _pools(statement, op, kernel, operands, "constant_pools")


def _pools(
    statement: Statement, op: Operator, kernel: Kernel, operands: Sequence[Scratch | Derived], word: str
) -> tuple[int, ...]:
    settings, demands = statement.settings, statement.demands
    pools = settings.constant_pools if word == "constant_pools" else settings.workspace_pools
    for operand in operands:
        demand = demands.of(Spot(*statement.place, op.position), op, kernel, operand)
        remaining = tuple(pool for pool in pools if pool in demand.pools)
        if not remaining:
            kind = "the scratch" if isinstance(operand, Scratch) else "a constant of the kernel"
            who = f"{kind} of {statement.names.operator(op)}"
            raise ManifestError(demands.no_pool_left(settings, who, demand, demands.names(pools), word))
        pools = remaining
    return pools
