"""Concat aliasing: removes concatenations and splits by placing their parts inside the whole.

    %7 = CONCATENATION(%5, %6)    →    %7 = JOIN(%5, %6) offsets=[0, 24]       the writer of %5 writes into %7
    %8, %9 = SPLIT(%axis, %7)     →    %8, %9 = CUT(%7) offsets=[0, 24]        readers of %9 read from %7

Along channels, parts are interleaved: `JOIN(%5, %6) offsets=[0, 8] pitch=20`, and operators that touch %5 or %6 get
other kernels (see `pitches`).

This pass runs late, when scopes, kernels and rows are known, so that no decision has to be revised.  Operators keep
their indices in the subgraph.  docs/rewrites.md lists those that are not aliased, and copy.

A whole is alive from its first part to its last reader, so aliasing may need more memory: whether it pays is decided in
`search`, which compares the plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from math import lcm

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Input, Kernel, Libraries, NoKernel, Output
from usmp_build.ir.axes import Axes
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph, TensorRef, operator_at
from usmp_build.ir.options import Parts, called_subgraphs
from usmp_build.passes.assign import Assignment, Spot
from usmp_build.passes.operands import ruled_alignments
from usmp_build.passes.parts.offsets import Cut, cut, joined
from usmp_build.passes.parts.pitches import PartPitches
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
    """Alias the parts of concatenations and splits, except the operators in `copies`, and models that switch it off.

    No index changes.  Returns `scoped` itself if nothing is aliased.
    """
    models = list(scoped.models)
    for m, model in enumerate(scoped.models):
        if "parts" not in request.models[m].rewrites_off:
            aliasing = [_Parts(request, scoped, axes, assignment, copies, (m, s)) for s in range(len(model.subgraphs))]
            after = tuple(each.graph() for each in aliasing)
            if after != model.subgraphs:
                models[m] = replace(model, subgraphs=after)
    if all(after is before for after, before in zip(models, scoped.models, strict=True)):
        return scoped
    return Scoped(tuple(models), dict(_kernels(tuple(models), scoped, libraries)), scoped.scopes)


def _kernels(
    models: tuple[Model, ...], scoped: Scoped, libraries: Libraries
) -> Iterator[tuple[OperatorRef, Kernel | NoKernel]]:
    """Yield the kernels of the operators that still run, for operands with a pixel stride selected again."""
    for ref, kernel in scoped.kernels.items():
        op, graph = operator_at(models, ref), models[ref.model].subgraphs[ref.subgraph]
        if isinstance(kernel, Kernel) and op.runs and not graph.pitches.keys().isdisjoint((*op.inputs, *op.outputs)):
            yield ref, ask(libraries, (scoped.scopes.targets[ref], kernel.library), op, graph)
        elif op.runs:
            yield ref, kernel


@frozen
class _Parts:
    """Aliases the parts in one subgraph."""

    request: Request
    scoped: Scoped
    axes: Axes
    assignment: Assignment
    copies: frozenset[OperatorRef]
    place: tuple[int, int]

    @property
    def before(self) -> Subgraph:
        return self.scoped.models[self.place[0]].subgraphs[self.place[1]]

    def graph(self) -> Subgraph:
        sharing = Sharing(self.before, _demands(self.request, self.scoped, self.place))
        is_any_cost_fine = self.request.models[self.place[0]].goal is Goal.RAM
        pitches = PartPitches(self.before, dict(self._free_kernels()), is_any_cost_fine)
        after = [self._operator(index, op, sharing, pitches) for index, op in enumerate(self.before.operators)]
        return replace(self.before, operators=tuple(map(pitches.outermost, after)))

    def _free_kernels(self) -> Iterator[tuple[int, Kernel]]:
        """Yield the kernels of operators that no rule of `place` names."""
        for index, op in enumerate(self.before.operators):
            kernel = self.scoped.kernels.get(OperatorRef(*self.place, index))
            if isinstance(kernel, Kernel) and Spot(*self.place, op.position) not in self.assignment.named:
                yield index, kernel

    def _operator(self, index: int, op: Operator, sharing: Sharing, pitches: PartPitches) -> Operator:
        """Return an operator, as JOIN or CUT if its parts can be aliased, and note which tensors then share bytes."""
        if OperatorRef(*self.place, index) in self.copies or Spot(*self.place, op.position) in self.assignment.named:
            return op
        as_join, as_cut = joined(self.before, op), cut(self.before, op)
        aliased = as_join or as_cut
        aliased = aliased and pitches.fitted(aliased)
        if aliased is None or (aliased.pitch and not pitches.may_interleave(aliased, index, sharing)):
            return op
        if not (self._may_join(index, aliased, sharing) if as_join else self._may_cut(index, aliased, sharing)):
            return op
        pitches.join(aliased, index, sharing)
        sharing.join(aliased)
        options = Parts(aliased.offsets, aliased.pitch)
        return replace(
            op, kind="JOIN" if as_join else "CUT", inputs=op.inputs if as_join else (aliased.whole,), options=options
        )

    def _may_join(self, index: int, aliased: Cut, sharing: Sharing) -> bool:
        return (
            sharing.may_move(aliased)
            and all(self._is_computed(sharing.roots[part], index) for part in aliased.parts)
            and self._is_read(aliased.whole, sharing)
            and self._may_share(aliased, sharing)
        )

    def _may_cut(self, index: int, aliased: Cut, sharing: Sharing) -> bool:
        root = sharing.roots[aliased.whole]
        is_computed = root in self.before.inputs or self._is_computed(root, index)
        return is_computed and self._may_share(aliased, sharing)

    def _is_computed(self, root: int, index: int) -> bool:
        """Tell whether an operator with a kernel, on the same target, computes a tensor completely."""
        writer = self.before.producers.get(root)
        if writer is None or self.before.tensors[root].is_variable:
            return False
        op = self.before.operators[writer]
        target, writer_target = (
            self.scoped.scopes.targets.get(OperatorRef(*self.place, each)) for each in (index, writer)
        )
        return not called_subgraphs(op.options) and target == writer_target

    def _is_read(self, whole: int, sharing: Sharing) -> bool:
        """Tell whether a tensor is read: else its parts would be dead after the steps that write them."""
        sharers = sharing.members(whole)
        return not sharers.isdisjoint(self.before.outputs) or not sharers.isdisjoint(self._read)

    @cached_property
    def _read(self) -> frozenset[int | None]:
        return frozenset(tensor for op in self.before.operators if op.runs for tensor in op.inputs)

    def _may_share(self, aliased: Cut, sharing: Sharing) -> bool:
        """Tell whether the parts, and all tensors that share bytes with them, may share those of the whole."""
        inner = {tensor for part in aliased.parts for tensor in sharing.members(part)}
        sharers = inner | sharing.members(aliased.whole)
        tensors = [self.before.tensors[tensor] for tensor in sharers]
        return (
            inner.isdisjoint((*self.before.inputs, *self.before.outputs))
            and not any(tensor.is_constant or tensor.is_variable for tensor in tensors)
            and len({tensor.dtype for tensor in tensors}) == 1
            and self._are_at_home(sharers)
            and not _are_transferred(self.request, self.scoped, self.place, sharers)
            and sharing.fits(aliased)
        )

    def _are_at_home(self, tensors: set[int]) -> bool:
        refs = [TensorRef(*self.place, tensor) for tensor in tensors]
        pools = {frozenset(self.scoped.scopes.pools.get(ref, ())) for ref in refs}
        is_passed = self.place[1] == 0 and self.request.models[self.place[0]].io is InputOutput.APPLICATION
        ports = {*self.before.inputs, *self.before.outputs} if is_passed else set[int]()
        return len(pools) == 1 and pools != {frozenset()} and not ports & tensors and self.axes.keys().isdisjoint(refs)


def _demands(request: Request, scoped: Scoped, place: tuple[int, int]) -> Mapping[int, int]:
    """Return for each tensor of a subgraph the alignment in bytes that its elements, kernels and rules need."""
    graph = _graph(scoped, place)
    alignments = {index: tensor.dtype.alignment for index, tensor in enumerate(graph.tensors)}
    for index in range(len(graph.operators)):
        for tensor, alignment in _needed(request, scoped, OperatorRef(*place, index), graph):
            alignments[tensor] = lcm(alignments[tensor], alignment)
    return alignments


def _needed(request: Request, scoped: Scoped, ref: OperatorRef, graph: Subgraph) -> Iterator[tuple[int, int]]:
    """Yield the tensors that an operator touches, each with an alignment that it needs; views need none."""
    kernel, op = scoped.kernels.get(ref), graph.operators[ref.operator]
    if kernel is None:
        return
    kernel_alignment = kernel.alignment if isinstance(kernel, Kernel) else 1
    yield from ((tensor, kernel_alignment) for tensor in (*op.inputs, *op.outputs) if tensor is not None)
    rules = request.targets[scoped.scopes.targets[ref]].rules
    for operand, alignment in ruled_alignments(rules, op, graph, kernel):
        if isinstance(operand, Input | Output):
            tensor = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
            if tensor is not None:
                yield tensor, alignment


def _are_transferred(request: Request, scoped: Scoped, place: tuple[int, int], tensors: set[int]) -> bool:
    """Tell whether something else than the processor with the cache may touch these tensors of a subgraph."""
    if not any(pool.cache_line for pool in request.pools):
        return False
    for index, op in enumerate(_graph(scoped, place).operators):
        ref = OperatorRef(*place, index)
        kernel = scoped.kernels.get(ref)
        foreign = isinstance(kernel, Kernel) and any(call.prototype for call in kernel.calls)
        if (foreign or scoped.scopes.targets.get(ref, 0)) and tensors & {*op.inputs, *op.outputs}:
            return True
    return False


def _graph(scoped: Scoped, place: tuple[int, int]) -> Subgraph:
    return scoped.models[place[0]].subgraphs[place[1]]
