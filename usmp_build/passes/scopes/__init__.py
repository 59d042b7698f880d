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

from dataclasses import dataclass, field, replace

from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Kernel, Libraries, NoKernel
from usmp_build.ir.graph import Model, OperatorRef, Subgraph, TensorRef
from usmp_build.ir.scopes import Scopes
from usmp_build.passes.assign import Assignment
from usmp_build.passes.copies import carried
from usmp_build.passes.scopes.certain import prepared
from usmp_build.passes.scopes.copies import copiers
from usmp_build.passes.scopes.demands import Demands
from usmp_build.passes.scopes.insert import Answered, with_copies
from usmp_build.passes.scopes.kernel_buffers import derived_pools, scratch_pools
from usmp_build.passes.scopes.reasons import reasons
from usmp_build.passes.scopes.refusals import no_room, parted
from usmp_build.passes.scopes.statement import Statement
from usmp_build.passes.scopes.unify import Answer, NoRoom, TieConflict, unify
from usmp_build.passes.select import ask
from usmp_build.request import Request

__all__ = ["Scoped", "copiers", "scopes"]


@dataclass(frozen=True)
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
        statement = Statement(self.request, self.assignment, self.demands, self.kernels, (m, s), graph)
        answer = _decided(statement)
        answered = with_copies(statement, answer)
        self._tensors(statement, answer, answered)
        self._operators(statement, answered)
        self._copies(statement, answer, answered)
        return answered.graph if answer.copies else graph

    def _tensors(self, statement: Statement, answer: Answer, answered: Answered) -> None:
        for tensor, (pools, reason) in enumerate(
            zip(answered.domains, reasons(statement, answer, answered), strict=True)
        ):
            ref = TensorRef(*statement.place, tensor)
            self.pools[ref] = tuple(pool for pool in statement.preference(tensor) if pool in pools)
            if reason:
                self.reasons[ref] = reason

    def _operators(self, statement: Statement, answered: Answered) -> None:
        """Store kernels, targets and pools of kernel buffers under the new indices of operators."""
        self.remapped |= carried(self.kernels, statement.place, answered.inserted)
        for old, new in answered.inserted.moved.items():
            ref, op = OperatorRef(*statement.place, new), statement.graph.operators[old]
            self.targets[ref] = self.assignment.target_of(statement.place, op)
            kernel = self.remapped.get(ref)
            if isinstance(kernel, Kernel):
                self.scratch[ref] = scratch_pools(statement, op, kernel)
                self.derived[ref] = derived_pools(statement, op, kernel)

    def _copies(self, statement: Statement, answer: Answer, answered: Answered) -> None:
        for view in answered.inserted.views:
            copier = statement.uses[answered.origins[view.written][2].edges[0]].copier
            self.targets[OperatorRef(*statement.place, view.operator)] = copier.target
        for copy, inserted_copy in zip(answer.copies, answered.inserted.copies, strict=True):
            ref, by = OperatorRef(*statement.place, inserted_copy.operator), statement.uses[copy.edges[0]].copier
            self.targets[ref] = by.target
            self.remapped[ref] = ask(
                self.libraries, by, answered.graph.operators[inserted_copy.operator], answered.graph
            )


def _decided(statement: Statement) -> Answer:
    try:
        return unify(statement.question())
    except TieConflict as conflict:
        raise parted(statement, conflict) from None
    except NoRoom as refusal:
        raise no_room(statement, refusal) from None
