"""Concatenations and splits become nothing: the parts are bytes of the whole.

    %7 = CONCATENATION(%5, %6)    →    %7 = JOIN(%5, %6) offsets=[0, 24]       whoever writes %5 writes into %7
    %8, %9 = SPLIT(%axis, %7)     →    %8, %9 = CUT(%7) offsets=[0, 24]        whoever reads %9 reads from %7

Along channels, parts lie in turn: `JOIN(%5, %6) offsets=[0, 8] pitch=20`, and whoever touches %5 or %6 gets another
kernel (see `pitches`).

It comes late: who may live where, what kernels demand and which rows tensors have is known, so that nothing is decided
that would have to be taken back.  Operators keep their places in the subgraph.  Which of them stay as they are, and
copy, is told in docs/rewrites.md.

A whole is alive from its first part to its last reader, so it may need more memory: whether that is worth it is for
those to decide who have a plan of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from usmp_build.interfaces.kernels import Kernel, Libraries, NoKernel
from usmp_build.ir.axes import Axes
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph, TensorRef, operator_at
from usmp_build.ir.options import Parts, called_subgraphs
from usmp_build.passes.assign import Assignment, Spot
from usmp_build.passes.parts.demands import are_transferred, demands
from usmp_build.passes.parts.offsets import Cut, cut, joined
from usmp_build.passes.parts.pitches import Pitches
from usmp_build.passes.parts.sharing import Sharing
from usmp_build.passes.scopes import Scoped
from usmp_build.passes.select import ask
from usmp_build.request import Goal, InputOutput, Request

__all__ = ["parts"]


def parts(
    request: Request,
    scoped: Scoped,
    axes: Axes,
    assignment: Assignment,
    libraries: Libraries,
    copies: frozenset[OperatorRef] = frozenset(),
) -> Scoped:
    """Let parts of tensors be bytes of these, but for the operators in `copies`, and models that switch it off.

    No index changes.  What is returned is `scoped` itself where there is nothing of the kind.
    """
    models = list(scoped.models)
    for m, model in enumerate(scoped.models):
        if "parts" not in request.models[m].rewrites_off and not model.is_program:
            each = [_Parts(request, scoped, axes, assignment, copies, (m, s)) for s in range(len(model.subgraphs))]
            after = tuple(one.graph() for one in each)
            if after != model.subgraphs:
                models[m] = replace(model, subgraphs=after)
    if all(after is before for after, before in zip(models, scoped.models, strict=True)):
        return scoped
    return Scoped(tuple(models), dict(_kernels(tuple(models), scoped, libraries)), scoped.scopes)


def _kernels(
    models: tuple[Model, ...], scoped: Scoped, libraries: Libraries
) -> Iterator[tuple[OperatorRef, Kernel | NoKernel]]:
    """Yield the kernels of what still runs: others where pixels lie apart."""
    for ref, kernel in scoped.kernels.items():
        op, graph = operator_at(models, ref), models[ref.model].subgraphs[ref.subgraph]
        if isinstance(kernel, Kernel) and op.runs and not graph.pitches.keys().isdisjoint((*op.inputs, *op.outputs)):
            yield ref, ask(libraries, (scoped.scopes.targets[ref], kernel.library), op, graph)
        elif op.runs:
            yield ref, kernel


@dataclass(frozen=True)
class _Parts:
    """One subgraph."""

    request: Request
    scoped: Scoped
    axes: Axes
    assignment: Assignment
    copies: frozenset[OperatorRef]
    place: tuple[int, int]

    @property
    def before(self) -> Subgraph:
        """As it was."""
        return self.scoped.models[self.place[0]].subgraphs[self.place[1]]

    def graph(self) -> Subgraph:
        """Return the subgraph as it is now."""
        sharing = Sharing(self.before, demands(self.request, self.scoped, self.place))
        is_any_cost_fine = self.request.models[self.place[0]].goal is Goal.RAM
        pitches = Pitches(self.before, dict(self._free_kernels()), is_any_cost_fine)
        after = [self._operator(index, op, sharing, pitches) for index, op in enumerate(self.before.operators)]
        return replace(self.before, operators=tuple(map(pitches.outermost, after)))

    def _free_kernels(self) -> Iterator[tuple[int, Kernel]]:
        """Yield the kernels of operators that no rule of `place` names."""
        for index, op in enumerate(self.before.operators):
            kernel = self.scoped.kernels.get(OperatorRef(*self.place, index))
            if isinstance(kernel, Kernel) and Spot(*self.place, op.position) not in self.assignment.named:
                yield index, kernel

    def _operator(self, index: int, op: Operator, sharing: Sharing, pitches: Pitches) -> Operator:
        """Return an operator as it is now, and note what now shares bytes."""
        if OperatorRef(*self.place, index) in self.copies or Spot(*self.place, op.position) in self.assignment.named:
            return op
        together, apart = joined(self.before, op), cut(self.before, op)
        wanted = together or apart
        wanted = wanted and pitches.fitted(wanted)
        if wanted is None or (wanted.pitch and not pitches.may_lie_in_turn(wanted, index, sharing)):
            return op
        if not (self._may_join(index, wanted, sharing) if together else self._may_cut(index, wanted, sharing)):
            return op
        pitches.join(wanted, index, sharing)
        sharing.join(wanted)
        options = Parts(wanted.offsets, wanted.pitch)
        return replace(
            op, kind="JOIN" if together else "CUT", inputs=op.inputs if together else (wanted.whole,), options=options
        )

    def _may_join(self, index: int, wanted: Cut, sharing: Sharing) -> bool:
        """Tell whether whoever computes the parts may write them into the whole."""
        return (
            sharing.may_move(wanted)
            and all(self._is_computed(sharing.roots[part], index) for part in wanted.parts)
            and self._is_read(wanted.whole, sharing)
            and self._may_share(wanted, sharing)
        )

    def _may_cut(self, index: int, wanted: Cut, sharing: Sharing) -> bool:
        """Tell whether whoever reads the parts may read them from the whole."""
        root = sharing.roots[wanted.whole]
        is_computed = root in self.before.inputs or self._is_computed(root, index)
        return is_computed and self._may_share(wanted, sharing)

    def _is_computed(self, root: int, index: int) -> bool:
        """Tell whether an operator that runs by itself, on the same target, writes a tensor as a whole."""
        writer = self.before.producers.get(root)
        if writer is None or self.before.tensors[root].is_variable:
            return False
        op = self.before.operators[writer]
        mine, its = (self.scoped.scopes.targets.get(OperatorRef(*self.place, each)) for each in (index, writer))
        return not called_subgraphs(op.options) and mine == its

    def _is_read(self, whole: int, sharing: Sharing) -> bool:
        """Tell whether anybody reads a tensor: else its parts would not outlive the steps that write them."""
        shown = sharing.members(whole)
        return not shown.isdisjoint(self.before.outputs) or not shown.isdisjoint(self._read)

    @cached_property
    def _read(self) -> frozenset[int | None]:
        return frozenset(tensor for op in self.before.operators if op.runs for tensor in op.inputs)

    def _may_share(self, wanted: Cut, sharing: Sharing) -> bool:
        """Tell whether the parts, and all that shares bytes with them, may share the bytes of the whole."""
        inner = {tensor for part in wanted.parts for tensor in sharing.members(part)}
        everything = inner | sharing.members(wanted.whole)
        tensors = [self.before.tensors[tensor] for tensor in everything]
        return (
            inner.isdisjoint((*self.before.inputs, *self.before.outputs))
            and not any(tensor.is_constant or tensor.is_variable for tensor in tensors)
            and len({tensor.dtype for tensor in tensors}) == 1
            and self._are_at_home(everything)
            and not are_transferred(self.request, self.scoped, self.place, everything)
            and sharing.fits(wanted)
        )

    def _are_at_home(self, tensors: set[int]) -> bool:
        """Tell whether tensors may live in the same pools of plain memory."""
        refs = [TensorRef(*self.place, tensor) for tensor in tensors]
        pools = {frozenset(self.scoped.scopes.pools.get(ref, ())) for ref in refs}
        is_passed = self.place[1] == 0 and self.request.models[self.place[0]].io is InputOutput.APPLICATION
        ports = {*self.before.inputs, *self.before.outputs} if is_passed else set[int]()
        return len(pools) == 1 and pools != {frozenset()} and not ports & tensors and self.axes.keys().isdisjoint(refs)
