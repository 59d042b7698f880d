"""Scope planning: finds the candidate pools of all tensors, and inserts copies where writer and reader share none.

    certain     copies needed in any case               outputs in the caller's arrays
    pinned      copies for pinned tensors               pins that a writer does not reach
    demands     pools allowed for each operand          one operator, one operand
    statement   states a subgraph as a question         values, ports, edges
    unify       solves it                               sets of scopes; knows no graph
    fewest      homes and shared copies                 as few copies as possible
    copies      who makes a copy                        memcpy, or a function of the application
    insert      applies the answer to the subgraph      copies become operators

Without restrictions, models and kernels are returned unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Derived, Kernel, Libraries, NoKernel, Scratch
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.ir.scopes import Scopes
from usmp_build.passes.assign import CALLER, Assignment, Spot
from usmp_build.passes.copies import carried
from usmp_build.passes.scopes.certain import prepared
from usmp_build.passes.scopes.copies import copiers
from usmp_build.passes.scopes.demands import Demands
from usmp_build.passes.scopes.insert import Answered, with_copies
from usmp_build.passes.scopes.reasons import reasons
from usmp_build.passes.scopes.statement import PoolStatement
from usmp_build.passes.scopes.unify import NoRoom, PoolAnswer, TieConflict, unify
from usmp_build.passes.select import ask
from usmp_build.request import Request

__all__ = ["Scoped", "copiers", "scopes"]


@frozen
class Scoped:
    """All models with copies inserted, their kernels and scopes."""

    models: tuple[Model, ...]
    kernels: Kernels
    scopes: Scopes


def scopes(
    request: Request,
    models: tuple[Model, ...],
    assignment: Assignment,
    kernels: Kernels,
    libraries: Libraries,
) -> Scoped:
    """Find the candidate pools of every tensor, and insert copies.

    Raises ManifestError if an operand has no pool left, a view is pinned apart from its source, or no target can make a
    copy.
    """
    before = prepared(request, models, assignment, kernels, libraries)
    demands = Demands(request, before.assignment)
    table = _Table(request, before.assignment, before.kernels, libraries, demands)
    after = tuple(table.model(index, model) for index, model in enumerate(before.models))
    result = Scopes(table.targets, table.pools, table.scratch, table.derived, table.reasons)
    return Scoped(after, table.remapped, result)


@dataclass
class _Table:
    """The answers, collected subgraph by subgraph."""

    request: Request
    assignment: Assignment
    kernels: Kernels
    libraries: Libraries
    demands: Demands
    remapped: dict[OperatorRef, Kernel | NoKernel] = field(default_factory=dict)
    targets: dict[OperatorRef, int] = field(default_factory=dict)
    pools: dict[TensorRef, tuple[int, ...]] = field(default_factory=dict)
    scratch: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict)
    derived: dict[OperatorRef, tuple[int, ...]] = field(default_factory=dict)
    reasons: dict[TensorRef, str] = field(default_factory=dict)

    def model(self, index: int, model: Model) -> Model:
        graphs = tuple(self._subgraph(index, s, graph) for s, graph in enumerate(model.subgraphs))
        is_unchanged = all(new is old for new, old in zip(graphs, model.subgraphs, strict=True))
        return model if is_unchanged else replace(model, subgraphs=graphs)

    def _subgraph(self, m: int, s: int, graph: Subgraph) -> Subgraph:
        statement = PoolStatement(self.request, self.assignment, self.demands, self.kernels, (m, s), graph)
        answer = _decided(statement)
        answered = with_copies(statement, answer)
        self._tensors(statement, answer, answered)
        self._operators(statement, answered)
        self._copies(statement, answer, answered)
        return answered.graph if answer.copies else graph

    def _tensors(self, statement: PoolStatement, answer: PoolAnswer, answered: Answered) -> None:
        for tensor, (pools, reason) in enumerate(
            zip(answered.domains, reasons(statement, answer, answered), strict=True)
        ):
            ref = TensorRef(*statement.place, tensor)
            self.pools[ref] = tuple(pool for pool in statement.preference(tensor) if pool in pools)
            if reason:
                self.reasons[ref] = reason

    def _operators(self, statement: PoolStatement, answered: Answered) -> None:
        """Store kernels, targets and pools of kernel buffers under the new indices of operators."""
        self.remapped |= carried(self.kernels, statement.place, answered.inserted)
        for old, new in answered.inserted.moved.items():
            ref, op = OperatorRef(*statement.place, new), statement.graph.operators[old]
            self.targets[ref] = self.assignment.target_of(statement.place, op)
            kernel = self.remapped.get(ref)
            if isinstance(kernel, Kernel):
                scratch, derived = map(Scratch, range(len(kernel.scratch))), map(Derived, range(len(kernel.constants)))
                self.scratch[ref] = _pools(statement, op, kernel, scratch, "workspace_pools")
                self.derived[ref] = _pools(statement, op, kernel, derived, "constant_pools")

    def _copies(self, statement: PoolStatement, answer: PoolAnswer, answered: Answered) -> None:
        for view in answered.inserted.views:
            copier = statement.uses[answered.origins[view.written][2].edges[0]].copier
            self.targets[OperatorRef(*statement.place, view.operator)] = copier.target
        for copy, inserted_copy in zip(answer.copies, answered.inserted.copies, strict=True):
            ref, by = OperatorRef(*statement.place, inserted_copy.operator), statement.uses[copy.edges[0]].copier
            self.targets[ref] = by.target
            self.remapped[ref] = ask(
                self.libraries, by, answered.graph.operators[inserted_copy.operator], answered.graph
            )


def _decided(statement: PoolStatement) -> PoolAnswer:
    try:
        return unify(statement.question())
    except TieConflict as conflict:
        raise parted(statement, conflict) from None
    except NoRoom as refusal:
        raise no_room(statement, refusal) from None


def _pools(
    statement: PoolStatement, op: Operator, kernel: Kernel, operands: Iterable[Scratch | Derived], word: str
) -> tuple[int, ...]:
    """Return the pools for what a kernel needs beside tensors; meaningless if that is nothing."""
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


def parted(statement: PoolStatement, conflict: TieConflict) -> ManifestError:
    """Return the error that two tensors share bytes, but have no pool in common."""
    view = statement.views()[conflict.tie]
    sides = [tensor for tensor in (view.inputs[0], view.outputs[0]) if tensor is not None]
    source, shown = (
        f"{statement.names.tensor(tensor)} must be in {statement.demands.names(pools)}"
        + "".join(f" ({why.who})" for why in statement.whys[tensor])
        for tensor, pools in zip(sides, conflict.sides, strict=True)
    )
    message = f"{shown}, but shows the bytes of {source}"
    position = view.position
    way = f"drop one of the two, or place operator {position} separately: then it has a tensor of its own"
    spans = [why.span for tensor in sides for why in statement.whys[tensor] if why.span]
    return ManifestError(Diagnostic("P314", message, spans[-1] if spans else statement.settings.path, way))


def no_room(statement: PoolStatement, refusal: NoRoom) -> ManifestError:
    """Return the error that a copy is needed that no target can make, or that has no workspace pool."""
    use = statement.uses[refusal.edge]
    names = statement.demands.names
    what = f"wants input {use.position}" if use.reader is not None else f"reads output {use.position}"
    here, there = names(refusal.value), names(refusal.port)
    message = f"{statement.names.tensor(use.tensor)} is in {here}, and {use.label} {what} in {there}: "
    if not refusal.port & {CALLER, *statement.settings.workspace_pools}:
        message += f'a copy needs a workspace pool, and none of model "{statement.settings.name}" is among them'
        way = "let both read the same constant pool, or list a workspace pool there"
    else:
        cpu = statement.request.targets[0].name
        message += f'target "{cpu}" would have to copy it, but does not reach both'
        way = f'write copies = "extern" for the target that needs it, or let "{cpu}" reach both (`targets` of a pool)'
    spans = [limit.span for limit in (*use.demand.limits, *statement.whys[use.tensor]) if limit.span]
    return ManifestError(Diagnostic("P315", message, spans[-1] if spans else statement.settings.path, way))
