"""Plans physical axes: which tensors are in memory of pages, and how long their rows are.

    one kind of memory     the pools of a tensor are all plain, or all of one page size: that of the first of them
    rows                   the possible rows of a shape
    homes                  separators apply to values, which may be in copies
    question               states a subgraph as a question for `unify`: tensors, and the pieces that kernels take
    keeping                propagates separators through operators that keep the axes
    copies                 a reader that needs other rows gets a copy, if the manifest allows it

Logical shapes do not change: kernels and C use them.  Only `storage` uses the rows.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.kernels import Libraries
from usmp_build.ir.axes import Axes
from usmp_build.ir.graph import TensorRef, tensor_at
from usmp_build.passes.assign import Assignment
from usmp_build.passes.axes.homes import homes
from usmp_build.passes.axes.table import AxisTable, kind_of, page_of
from usmp_build.passes.scopes import Scoped
from usmp_build.request import Request


def axes(request: Request, scoped: Scoped, assignment: Assignment, libraries: Libraries) -> tuple[Scoped, Axes]:
    """Choose the rows of every tensor in memory of pages, and insert copies between rows of different lengths.

    Raises ManifestError for separators that do not fit a tensor, its memory, or the kernels that touch it.
    """
    pools = {ref: _of_one_kind(request, allowed) for ref, allowed in scoped.scopes.pools.items()}
    paged = {ref for ref, allowed in pools.items() if allowed and page_of(request, allowed[0])}
    _refuse_marks(request, assignment, scoped, paged)
    if not paged:
        return replace(scoped, scopes=replace(scoped.scopes, pools=pools)), {}
    table = AxisTable(request, assignment, libraries, scoped, pools)
    models = tuple(
        replace(model, subgraphs=tuple(table.subgraph((m, s), graph) for s, graph in enumerate(model.subgraphs)))
        for m, model in enumerate(scoped.models)
    )
    return Scoped(models, table.kernels, table.scopes()), table.axes


def _of_one_kind(request: Request, pools: tuple[int, ...]) -> tuple[int, ...]:
    """Keep the pools of the same kind as the first one: plain, or with its page size and number of axes."""
    return tuple(pool for pool in pools if kind_of(request, pool) == kind_of(request, pools[0]))


def _refuse_marks(request: Request, assignment: Assignment, scoped: Scoped, paged: set[TensorRef]) -> None:
    """Raise ManifestError for separators on tensors in plain memory, which has no rows."""
    carried = {
        ref: request.models[ref.model].path
        for ref in scoped.scopes.pools
        if tensor_at(scoped.models, ref).axis_separators
    }
    named = {ref: rule.span for ref, rule in assignment.separators.items() if rule.axis_separators}
    values = {(m, s): homes(graph) for m, model in enumerate(scoped.models) for s, graph in enumerate(model.subgraphs)}
    for ref, place in (carried | named).items():
        tensors = (ref.tensor, *values[ref[:2]].get(ref.tensor, ()))
        if ref in scoped.scopes.pools and paged.isdisjoint(ref._replace(tensor=tensor) for tensor in tensors):
            names = ", ".join(request.pools[pool].name for pool in scoped.scopes.pools[ref]) or "the caller's array"
            tensor = tensor_at(scoped.models, ref)
            message = f'tensor "{tensor.name}" has axis separators, but lives in plain memory: {names}'
            help_ = "let it live in a pool with `dims = 2` first of all, or drop the separators"
            raise ManifestError(Diagnostic("P330", message, place, help_))
