"""Collects facts about allocations in programs: copies for parallel workers, and allocations that are not planned."""

from __future__ import annotations

from collections.abc import Mapping

from usmp_build.errors import Diagnostic, ModelError, one_line
from usmp_build.frozen import frozen
from usmp_build.ir.graph import Model, TensorRef, tensor_at
from usmp_build.ir.labels import tensor_label
from usmp_build.ir.schedule import Node, Repeat, Schedule, Scope, children, steps
from usmp_build.ir.statements import Provider, allocations
from usmp_build.ir.uses import alignments
from usmp_build.request import Request


@frozen
class ProgramFacts:
    """Facts about the tensors of programs."""

    copies: Mapping[TensorRef, int]
    """Every allocation of the schedule → the number of copies that exist at the same time."""
    written: frozenset[TensorRef]
    """Constants that are written to."""
    on_demand: tuple[TensorRef, ...]
    """Allocations that the application provides while a model runs."""
    elsewhere: frozenset[TensorRef]
    """All allocations that the plan does not provide."""
    alignments: tuple[Mapping[tuple[int, int], int], ...]
    """For each model: (subgraph, tensor) → alignment in bytes demanded by functions that take it as a parameter."""

    def alignment(self, ref: TensorRef) -> int:
        """Return the alignment in bytes that functions demand of a tensor."""
        return self.alignments[ref.model].get((ref.subgraph, ref.tensor), 1)


def program_facts(request: Request, models: tuple[Model, ...], schedule: Schedule) -> ProgramFacts:
    """Gather the facts.  Raises ModelError when the number of copies of an allocation is unknown."""
    on_demand = provided(models, Provider.APPLICATION)
    return ProgramFacts(
        copies=copies(request, models, schedule),
        written=written_constants(models, schedule),
        on_demand=on_demand,
        elsewhere=frozenset({*on_demand, *provided(models, Provider.FUNCTION)}),
        alignments=tuple(map(alignments, models)),
    )


def copies(request: Request, models: tuple[Model, ...], schedule: Schedule) -> dict[TensorRef, int]:
    """Return for every allocation of the schedule the number of copies that exist at the same time, in step order.

    That is one for each worker of the parallel loops around it, in whatever function these are.  Raises ModelError
    when the number of workers is unknown.
    """
    counts: dict[TensorRef, int] = {}
    seen: set[tuple[int, int | None]] = set()
    stack: list[tuple[Node, int | None]] = [(schedule.root, 1)]
    while stack:
        node, workers = stack.pop()
        if (id(node), workers) in seen:
            continue
        seen.add((id(node), workers))
        values = node.values if isinstance(node, Scope) else ()
        for value in values:
            if isinstance(value, TensorRef):
                counts[value] = max(counts.get(value, 1), _worker_count(workers, request, models, value))
        inside = _workers(node, workers) if isinstance(node, Repeat) else workers
        stack += ((child, inside) for child in reversed(children(node)))
    return counts


def _workers(loop: Repeat, around: int | None) -> int | None:
    """Return how many rounds of a loop run at the same time, including those of the loops around it."""
    if not loop.parallel:
        return around
    limits = [count for count in (loop.rounds, loop.workers) if count is not None]
    return around * max(1, min(limits)) if limits and around is not None else None


def _worker_count(workers: int | None, request: Request, models: tuple[Model, ...], ref: TensorRef) -> int:
    if workers is not None:
        return workers
    label = tensor_label(ref.subgraph, ref.tensor, tensor_at(models, ref).name)
    function = one_line(models[ref.model].subgraphs[ref.subgraph].name)
    message = f'{label} is allocated by "{function}" in a parallel loop: how many rounds run at a time is not known'
    help_ = "state the extent of the loop, or its workers: one copy for each"
    raise ModelError(Diagnostic("P321", message, request.models[ref.model].path, help_))


def written_constants(models: tuple[Model, ...], schedule: Schedule) -> frozenset[TensorRef]:
    """Return the constants that programs write to: no other constant may share their bytes, equal or not."""
    written = {ref for step in steps(schedule.root) for ref in step.written}
    return frozenset(ref for ref in written if tensor_at(models, ref).is_constant)


def provided(models: tuple[Model, ...], provider: Provider) -> tuple[TensorRef, ...]:
    """Return the allocations that `provider` provides, in the order of the functions."""
    return tuple(
        TensorRef(m, f, statement.tensor)
        for m, model in enumerate(models)
        for f, graph in enumerate(model.subgraphs)
        for statement in allocations(graph.body)
        if statement.provider is provider
    )
