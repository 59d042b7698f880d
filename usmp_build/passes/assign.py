"""Applies the `place` rules of the manifest: assigns operators to targets, and pins tensors to pools.

The tables have keys that no rewrite changes: an operator's position in the model file, a tensor's index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from usmp_build.document.suggest import suggestion
from usmp_build.errors import Diagnostic, ManifestError, Span
from usmp_build.frozen import frozen
from usmp_build.ir.graph import Model, Operator, Tensor, TensorRef
from usmp_build.ir.options import called_subgraphs
from usmp_build.naming import matches, short_name
from usmp_build.passes.rewrite.pins import Pins
from usmp_build.passes.rows.ports import caller_ports
from usmp_build.request import Access, Goal, ModelRequest, PlaceRequest, Request, TargetRequest

REFERENCE = "reference"
"""The kernel library that supports the options that only rewrites set."""
CALLER = -1
"""Stands for the caller's array where a pool is expected."""


class Spot(NamedTuple):
    """An operator: its model, its subgraph, its position in the model file."""

    model: int
    subgraph: int
    position: int


class Pin(NamedTuple):
    """The only pools that a tensor may be in, and the place of the rule that says so."""

    pools: frozenset[int]
    span: Span | str = ""


@frozen
class Assignment:
    """The effect of all `place` rules; defaults of the model and its targets hold for what is in no table."""

    targets: Mapping[Spot, int] = field(default_factory=dict)
    """Target of an operator, by default 0."""
    libraries: Mapping[Spot, str] = field(default_factory=dict)
    """Kernel library of an operator, by default that of its target."""
    operands: Mapping[Spot, tuple[PlaceRequest, ...]] = field(default_factory=dict)
    """Rules that pin an operator's operands; the last one that applies to an operand takes precedence."""
    tensors: Mapping[TensorRef, Pin] = field(default_factory=dict)
    """Pools of pinned tensors."""
    separators: Mapping[TensorRef, PlaceRequest] = field(default_factory=dict)
    """Tensors whose axes a rule separates."""
    named: frozenset[Spot] = frozenset()
    """Operators that a rule names individually or by kind: no rewrite may remove them."""

    def target(self, spot: Spot) -> int:
        """Return the target that runs an operator."""
        return self.targets.get(spot, 0)

    def target_of(self, place: tuple[int, int], op: Operator) -> int:
        """Return the target that runs an operator of a subgraph; `place` is (model, subgraph)."""
        return self.target(Spot(*place, op.position))

    def library(self, spot: Spot, targets: Sequence[TargetRequest]) -> str:
        """Return the kernel library that runs an operator; `targets` are the request's."""
        return self.libraries.get(spot) or targets[self.target(spot)].kernels

    def pins(self, request: Request, models: tuple[Model, ...]) -> tuple[Pins, ...]:
        """Return for each model what rewrites must leave unchanged."""
        return tuple(self._pins(m, request, model) for m, model in enumerate(models))

    def _pins(self, model: int, request: Request, imported: Model) -> Pins:
        tensors = {(ref.subgraph, ref.tensor): pin.pools for ref, pin in self.tensors.items() if ref.model == model}
        in_arrays = caller_ports(request.models[model], imported.main)
        tensors |= {(0, port): frozenset({CALLER}) for port in in_arrays}
        named = frozenset((spot.subgraph, spot.position) for spot in self.named if spot.model == model)
        targets = {(s.subgraph, s.position): target for s, target in self.targets.items() if s.model == model}
        separated = frozenset((ref.subgraph, ref.tensor) for ref in self.separators if ref.model == model)
        foreign = frozenset(self._run_by_others(model, request.targets, imported, {REFERENCE}))
        as_stored = frozenset(self._run_by_others(model, request.targets, imported, {REFERENCE, "cmsis-nn"}))
        may_cost = request.models[model].goal is Goal.RAM
        return Pins(named, targets, tensors, separated, foreign, as_stored, may_cost)

    def _run_by_others(
        self, model: int, targets: Sequence[TargetRequest], imported: Model, libraries: Set[str]
    ) -> Iterator[tuple[int, int]]:
        """Yield (subgraph, position) of the operators that another library than these runs."""
        for s, graph in enumerate(imported.subgraphs):
            for op in graph.operators:
                spot = Spot(model, s, op.position)
                if self.library(spot, targets) not in libraries:
                    yield s, op.position


def assign(request: Request, models: tuple[Model, ...]) -> Assignment:
    """Apply the rules of every model, in order; a later rule overrides an earlier one.

    Raises ManifestError for a rule that applies to nothing, and for one that pins to pools its model may not use.
    """
    maker = _Maker(request)
    for index, (settings, model) in enumerate(zip(request.models, models, strict=True)):
        for rule in settings.places:
            maker.apply(rule, index, model)
    tables = maker.targets, maker.libraries, maker.operands, maker.tensors, maker.separators
    return Assignment(*tables, frozenset(maker.named))


@dataclass
class _Maker:
    request: Request
    targets: dict[Spot, int] = field(default_factory=dict)
    libraries: dict[Spot, str] = field(default_factory=dict)
    operands: dict[Spot, tuple[PlaceRequest, ...]] = field(default_factory=dict)
    tensors: dict[TensorRef, Pin] = field(default_factory=dict)
    separators: dict[TensorRef, PlaceRequest] = field(default_factory=dict)
    named: set[Spot] = field(default_factory=set)

    def apply(self, rule: PlaceRequest, index: int, model: Model) -> None:
        self._check_pools(rule, self.request.models[index])
        applied = False
        for spot, op in _operators(rule, index, model):
            applied = True
            self._place(rule, spot, op)
            if rule.axis_separators is not None:
                self.separators |= {TensorRef(index, spot.subgraph, t): rule for t in op.outputs}
        for ref, pools in self._tensors(rule, index, model):
            applied = True
            if pools:
                self.tensors[ref] = Pin(pools, rule.span)
            if rule.axis_separators is not None:
                self.separators[ref] = rule
        if not applied:
            raise ManifestError(_applies_to_nothing(rule, model))

    def _place(self, rule: PlaceRequest, spot: Spot, op: Operator) -> None:
        if rule.target is not None:
            self.targets[spot] = rule.target
        if rule.kernels:
            self.libraries[spot] = rule.kernels
        if rule.pools:
            self.operands[spot] = (*self.operands.get(spot, ()), rule)
        alone = rule.positions is not None and rule.positions[0] == rule.positions[1]
        if rule.pools or rule.kernels or alone or rule.operators == op.kind:
            self.named.add(spot)

    def _tensors(self, rule: PlaceRequest, index: int, model: Model) -> Iterator[tuple[TensorRef, frozenset[int]]]:
        """Yield the tensors that a rule applies to: if it names pools, those that one of these may hold.

        Else it separates axes, which constants do not have: converters name a bias like the computed tensor.
        """
        for s, graph in enumerate(model.subgraphs):
            for t, tensor in enumerate(graph.tensors):
                if _selects(rule, tensor):
                    access = Access.CONSTANT if tensor.is_constant else Access.WORKSPACE
                    pools = frozenset(p for p in rule.pools if self.request.pools[p].access is access)
                    if pools or not (rule.pools or tensor.is_constant):
                        yield TensorRef(index, s, t), pools

    def _check_pools(self, rule: PlaceRequest, model: ModelRequest) -> None:
        for pool in rule.pools:
            if pool not in {*model.workspace_pools, *model.constant_pools}:
                pool_request = self.request.pools[pool]
                word = "constant_pools" if pool_request.access is Access.CONSTANT else "workspace_pools"
                message = f'model "{model.name}" may not use pool "{pool_request.name}", which this rule pins to'
                help_ = f'add "{pool_request.name}" to {word} of the model, or name another pool'
                raise ManifestError(Diagnostic("P312", message, rule.span, help_))


def _operators(rule: PlaceRequest, index: int, model: Model) -> Iterator[tuple[Spot, Operator]]:
    """Yield the operators that a rule applies to; none if it selects `tensors`.

    Control flow is not placed: target 0 decides, and copies the inputs and outputs of subgraphs.
    """
    for s, graph in enumerate(model.subgraphs):
        for op in graph.operators:
            if rule.positions is not None:
                is_selected = s == 0 and rule.positions[0] <= op.position <= rule.positions[1]
            else:
                is_selected = bool(rule.operators) and matches(rule.operators, op.kind)
            if is_selected and not called_subgraphs(op.options):
                yield Spot(index, s, op.position), op


def _selects(rule: PlaceRequest, tensor: Tensor) -> bool:
    if rule.scope:
        return bool(tensor.memory_scope) and matches(rule.scope, tensor.memory_scope)
    return bool(rule.tensors) and _called(tensor.name, rule.tensors)


def _called(name: str, pattern: str) -> bool:
    return matches(pattern, name) or matches(pattern, short_name(name))


def _selectable(rule: PlaceRequest, model: Model) -> tuple[str, str, list[str]]:
    """Return what a rule selects by, the pattern that it gives, and all names that it could select."""
    if rule.operators:
        operators = (op for graph in model.subgraphs for op in graph.operators)
        names = sorted({op.kind for op in operators if not called_subgraphs(op.options)})
        return "operator of kind", rule.operators, names
    tensors = [tensor for graph in model.subgraphs for tensor in graph.tensors]
    if rule.scope:
        return "tensor in the memory scope", rule.scope, sorted({t.memory_scope for t in tensors if t.memory_scope})
    return "tensor called", rule.tensors, list(dict.fromkeys(short_name(t.name) for t in tensors if t.name))


def _applies_to_nothing(rule: PlaceRequest, model: Model) -> Diagnostic:
    if rule.positions is not None:
        last = max((op.position for op in model.main.operators), default=-1)
        message = f'model "{model.name}" has no operators at {rule.positions[0]} to {rule.positions[1]}'
        return Diagnostic("P311", message, rule.span, f"its operators have the positions 0 to {last}")
    what, pattern, names = _selectable(rule, model)
    message = f'model "{model.name}" has no {what} "{pattern}"'
    if rule.tensors and any(_called(name, pattern) for name in names):
        message += " that one of these pools may hold"
    if rule.scope and not names:
        return Diagnostic("P311", message, rule.span, "its compiler chose no memories; select `tensors`")
    return Diagnostic("P311", message, rule.span, suggestion(pattern, names, "it has"))
