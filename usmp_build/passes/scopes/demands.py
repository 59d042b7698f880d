"""Computes the pools that one operand of one operator may be in, and the rules that restrict it.

    pools its target reaches ∩ pools the target's rules allow ∩ pools `place` pins it to − pools its kernel excludes

Reading needs a pool that the target reads; outputs and scratch need one that it reads and writes.  The caller's arrays
are memory of target 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from usmp_build.errors import Diagnostic, Span
from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Derived, Input, Kernel, NoKernel, Output, Scratch
from usmp_build.interfaces.operands import PresentOperand
from usmp_build.ir.graph import Operator
from usmp_build.ir.scopes import COPY
from usmp_build.naming import matches
from usmp_build.passes.assign import CALLER, Assignment, Spot
from usmp_build.passes.operands import speaks_of
from usmp_build.passes.scopes.copies import MEMCPY
from usmp_build.request import Access, ModelRequest, Request

_NOTHING = "nothing"


@frozen
class Limit:
    """One restriction of an operand, and its origin."""

    pools: frozenset[int]
    who: str
    """A clause for messages: 'target "npu" reads only npu_sram'."""
    way_out: str
    span: Span | str = ""
    """The place of the rule in the manifest."""


@frozen
class PoolDemand:
    """The pools that an operand may be in."""

    pools: frozenset[int]
    limits: tuple[Limit, ...]
    """The restrictions; `pools` is their intersection."""


class Demands:
    """The demands of a request and its assignment."""

    def __init__(self, request: Request, assignment: Assignment) -> None:
        self._request = request
        self._assignment = assignment
        self._positions = {pool.name: position for position, pool in enumerate(request.pools)}
        self._everywhere = frozenset({CALLER, *self._positions.values()})
        plain = {i for i, pool in enumerate(request.pools) if not pool.page}
        paged = self.names(set(self._positions.values()) - plain)
        who = f"it is not taken row by row, as banked memory ({paged}) demands"
        self._plain = Limit(frozenset({CALLER, *plain}), who, "name a pool of plain memory (without `dims`), too")
        self._reach = {(t, writes): self._reached(t, writes) for t in range(len(request.targets)) for writes in (0, 1)}

    def reach(self, target: int, *, writes: bool) -> frozenset[int]:
        """Return the pools that a target reads or, with `writes`, reads and writes."""
        return self._reach[target, writes].pools

    def of_target_0(self, *, writes: bool, plain: bool) -> PoolDemand:
        """Return the pools that target 0 can touch for the application or a program; `plain`: without pages."""
        limits = [self._reach[0, writes], *([self._plain] if plain else [])]
        return _together(limits, self._everywhere)

    def of(
        self,
        spot: Spot,
        op: Operator,
        kernel: Kernel | NoKernel | None,
        operand: PresentOperand,
        constant: bool = False,
    ) -> PoolDemand:
        """Return the demand of an operand; `constant` says whether the model has its bytes.

        An operator without even a `NoKernel` is control flow: target 0 runs it, and no rule applies to it.  Copies are
        unrestricted, except those that target 0 makes.
        """
        if op.kind == COPY:
            by_target_0 = self._assignment.libraries.get(spot) == MEMCPY.library
            limits = [self._reach[0, isinstance(operand, Output)]] if by_target_0 else []
            return _together(limits, self._everywhere)
        if kernel is None:
            return _together([self._reach[0, isinstance(operand, Output)], self._plain], self._everywhere)
        return _together(self._limits(spot, op, kernel, operand, constant), self._everywhere)

    def _limits(
        self, spot: Spot, op: Operator, kernel: Kernel | NoKernel, operand: PresentOperand, constant: bool
    ) -> Iterator[Limit]:
        target = self._assignment.target(spot)
        name = self._request.targets[target].name
        yield self._reach[target, isinstance(operand, Output | Scratch) or _is_updated(kernel, operand)]
        for rule in self._request.targets[target].rules:
            if rule.pools and matches(rule.operators, op.kind) and speaks_of(rule.operands, operand, constant):
                who = f'a rule of target "{name}" allows only {self.names(rule.pools)}'
                yield Limit(frozenset(rule.pools), who, "name more pools in the target's rule", rule.span)
        pins = self._assignment.operands.get(spot, ())
        for place in reversed(pins):
            applies = speaks_of(place.operands or ("outputs", "scratch"), operand, constant)
            if applies and self._can_have(place.pools, operand):
                who = f"a rule of place pins it to {self.names(place.pools)}"
                yield Limit(frozenset(place.pools), who, "name other pools in the rule of place", place.span)
                break
        yield from self._limits_of_kernel(kernel, operand)

    def _limits_of_kernel(self, kernel: Kernel | NoKernel, operand: PresentOperand) -> Iterator[Limit]:
        """Yield what a kernel itself cannot do: rows apart, and pools that it must not have."""
        pitches = kernel.row_pitches() if isinstance(kernel, Kernel) else {}
        if self._everywhere > self._plain.pools and operand not in pitches:
            yield self._plain
        if not isinstance(kernel, Kernel):
            return
        for strike in kernel.strikes:
            if strike.operand == operand:
                excluded = {self._positions[name] for name in strike.pools if name in self._positions}
                who = f"its kernel must not have it in {self.names(excluded)}"
                yield Limit(self._everywhere - excluded, who, "choose other kernels for the operator")

    def names(self, pools: Iterable[int]) -> str:
        """List pools in the manifest's order."""
        names_by_pool = {CALLER: "the caller's array"} | {i: pool.name for i, pool in enumerate(self._request.pools)}
        return ", ".join(names_by_pool[pool] for pool in sorted(pools)) or _NOTHING

    def no_pool_left(
        self, model: ModelRequest, who: str, demand: PoolDemand, left: str, word: str, others: Sequence[Limit] = ()
    ) -> Diagnostic:
        """Return the message that `who` has no pool; `left` names the pools that the model and `others` leave.

        It is placed at the last rule among the limits, else at the model's file.
        """
        because = f" ({', '.join(other.who for other in others)})" if others else ""
        said = [limit.who for limit in demand.limits] + [f'model "{model.name}" leaves it {left}{because}']
        ways = dict.fromkeys([limit.way_out for limit in (*demand.limits, *others) if limit.way_out])
        spans = [limit.span for limit in (*others, *demand.limits) if limit.span]
        help_ = "; or ".join([*ways, f"list more pools in {word} of the model"])
        message = f"{who} has no pool left: {'; '.join(said)}"
        return Diagnostic("P313", message, spans[-1] if spans else model.path, help_)

    def _can_have(self, pools: Iterable[int], operand: PresentOperand) -> bool:
        """Tell whether a rule of `place` may apply: to derived constants only if it names a constant pool."""
        constant = (self._request.pools[pool].access is Access.CONSTANT for pool in pools)
        return not isinstance(operand, Derived) or any(constant)

    def _reached(self, target: int, writes: int) -> Limit:
        pools = {
            position
            for position, pool in enumerate(self._request.pools)
            if target in pool.readers and (not writes or target in pool.writers or pool.access is Access.CONSTANT)
        }
        name = self._request.targets[target].name
        verb = "reads and writes" if writes else "reads"
        named = (p for p in pools if not writes or self._request.pools[p].access is not Access.CONSTANT)
        reach = self.names(named)
        who = f'target "{name}" {verb} {"no pool" if reach == _NOTHING else f"only {reach}"}'
        reached = frozenset(pools | {CALLER} if target == 0 else pools)
        return Limit(reached, who, f'let target "{name}" reach more pools (`targets` of a pool)')


def _is_updated(kernel: Kernel | NoKernel, operand: PresentOperand) -> bool:
    return isinstance(kernel, Kernel) and isinstance(operand, Input) and operand.position in kernel.updates


def _together(limits: Iterable[Limit], everywhere: frozenset[int]) -> PoolDemand:
    """Return the demand of these limits, without those that exclude nothing."""
    effective = tuple(limit for limit in limits if not everywhere <= limit.pools)
    return PoolDemand(everywhere.intersection(*(limit.pools for limit in effective)), effective)
