"""Computes how far the bytes that a kernel writes must stay from the bytes that it has yet to read.

Byte b of `written` is written in one turn, and byte q of `read` is read in a later one.  With `written` below, d bytes
before `read`, they are the same byte when b = d + q; so d must be more than every such b - q.  With `read` below, it
must be more than every q - b.  Each is the largest over all turns of what is written in it and read after it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import chain, permutations
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.interfaces.accesses import Accesses
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.kernels import (
    Absent,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Reduce,
    Scratch,
    Whole,
)
from usmp_build.passes.separations.turns import MOST_TURNS, NOWHERE, TouchedBytes, Turns, turns, untouched

Name = TypeVar("Name", bound=Hashable)


@frozen
class Distance:
    """Least distance in bytes between an operand that is written and one that is read; None: any will do."""

    written_below: int | None
    """From the start of the written one to that of the read one, if the written one is lower."""
    written_above: int | None
    """From the start of the read one to that of the written one, if the written one is higher."""


def distances(kernel: Kernel) -> Mapping[tuple[Operand, Operand], Distance] | None:
    """Return the distances by (written, read) operand; None if a call declares no accesses.

    Outputs and scratch are written; inputs are read, and so is scratch, from when it is first to when it is last
    touched.  An operand without declared accesses in one of its calls is in no pair.
    """
    return call_distances(tuple(_access_pattern(call) for call in kernel.calls))


def _access_pattern(call: KernelCall) -> KernelCall:
    """Return a call with nothing but what its accesses follow from: many layers of a model are alike in that."""
    return KernelCall("", call.form, call.operands, backward=call.backward, accesses=call.accesses)


@lru_cache(maxsize=4096)
def call_distances(calls: tuple[KernelCall, ...]) -> Mapping[tuple[Operand, Operand], Distance] | None:
    """Return the distances of a kernel with these calls."""
    declarations = [call_accesses(call) for call in calls]
    accesses_by_call = [accesses for accesses in declarations if accesses is not None]
    if len(accesses_by_call) < len(declarations) or not accesses_by_call:
        return None
    most = MOST_TURNS // len(accesses_by_call)
    stretches = [
        Stretch(call.operands, turns(accesses, most)) for call, accesses in zip(calls, accesses_by_call, strict=True)
    ]
    declared = _DeclaredTouches(calls, accesses_by_call)
    operands = dict.fromkeys(chain.from_iterable(call.operands for call in calls))
    planned = [o for o in operands if not isinstance(o, Derived | Absent) and declared.covers(o)]
    pairs = [pair for pair in permutations(planned, 2) if _may_share(*pair)]
    return MappingProxyType(dict(distances_of(stretches, pairs, {o for o in planned if isinstance(o, Scratch)})))


@lru_cache(maxsize=4096)
def row_distances(kernel: Kernel) -> Mapping[tuple[Operand, Operand], Distance]:
    """Return the distances within one job of an operator that runs row by row: between the rows that it touches.

    Those of a reduction are unknown.
    """
    if isinstance(kernel.calls[0].form, Reduce):
        return {}
    return distances(replace(kernel, calls=tuple(replace(call, form=Whole()) for call in kernel.calls))) or {}


@frozen
class Stretch:
    """Consecutive turns, such as those of a call, and a name for each of the operands that they touch.

    Calls of several kernels can be analyzed together if their operands have names that all of them share.
    """

    names: tuple[Hashable, ...]
    turns: Turns


def distances_of(
    stretches: Sequence[Stretch], pairs: Iterable[tuple[Name, Name]], scratch: Set[Name]
) -> Iterator[tuple[tuple[Name, Name], Distance]]:
    """Yield the distances of (written, read) pairs of names; writes to `scratch` count like reads."""
    in_order = np.concatenate([np.full(each.turns.count, each.turns.in_order) for each in stretches])
    extents = _Extents(stretches)
    written_extents: dict[Name, TouchedBytes] = {}
    for written, read in pairs:
        if written not in written_extents:
            written_extents = {written: extents.of(written, writes=True)}
        yield (written, read), _distance(written_extents[written], _intact(extents, read, in_order, read in scratch))


class _DeclaredTouches:
    """The accesses that calls declare, by operand."""

    def __init__(self, calls: Sequence[KernelCall], accesses: Sequence[Accesses]) -> None:
        self._of_operand: dict[Operand, list[list[bool]]] = {}
        for call, declared in zip(calls, accesses, strict=True):
            writes: list[list[bool]] = [[] for _ in call.operands]
            for touch in (touch for part in declared.parts for touch in part.touches):
                writes[touch.operand].append(touch.writes)
            for operand, width, operand_writes in zip(call.operands, declared.widths, writes, strict=True):
                self._of_operand.setdefault(operand, []).append(operand_writes if width else [])

    def covers(self, operand: Operand) -> bool:
        """Tell whether every call with this operand declares accesses of it, and at least one call the expected kind.

        An output is written, an input read, and scratch either.
        """
        touches_by_call = self._of_operand[operand]
        is_scratch, is_write = isinstance(operand, Scratch), isinstance(operand, Output)
        return all(touches_by_call) and any(is_scratch or is_write in touches for touches in touches_by_call)


def _may_share(written: Operand, read: Operand) -> bool:
    """Tell whether one operand may overwrite another: outputs and scratch inputs, and outputs scratch."""
    return (isinstance(written, Output) and isinstance(read, Input | Scratch)) or (
        isinstance(written, Scratch) and isinstance(read, Input)
    )


class _Extents:
    """The bytes touched in all turns of all stretches, by name of the operand."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._count = 0
        self._by_name: dict[Hashable, list[tuple[slice, Turns, int]]] = {}
        for each in stretches:
            turn_slice = slice(self._count, self._count + each.turns.count)
            self._count = turn_slice.stop
            for position, name in enumerate(each.names):
                self._by_name.setdefault(name, []).append((turn_slice, each.turns, position))

    def of(self, name: Hashable, writes: bool) -> TouchedBytes:
        """Return the bytes read or written under a name, which several operands of a call may have."""
        union = untouched(self._count)
        for turn_slice, turns_, position in self._by_name.get(name, ()):
            extent = turns_.extent(position, writes)
            union.low[turn_slice] = np.minimum(union.low[turn_slice], extent.low)
            union.end[turn_slice] = np.maximum(union.end[turn_slice], extent.end)
        return union


def _intact(extents: _Extents, name: Hashable, in_order: NDArray[np.bool_], is_scratch: bool) -> TouchedBytes:
    """Return the bytes that must be intact after each turn: those read later and, of scratch, those written later.

    The turn itself counts if its writes may come before its reads.
    """
    reads = extents.of(name, writes=False)
    same_turn = TouchedBytes(np.where(in_order, NOWHERE, reads.low), np.where(in_order, -NOWHERE, reads.end))
    later = _after(reads).joined(same_turn)
    if is_scratch:
        writes = extents.of(name, writes=True)
        later = later.joined(_after(writes)).joined(writes)
    return later


def _after(extent: TouchedBytes) -> TouchedBytes:
    """Return for each turn the bytes that later turns touch."""
    low = np.minimum.accumulate(extent.low[::-1])[::-1]
    end = np.maximum.accumulate(extent.end[::-1])[::-1]
    return TouchedBytes(np.append(low[1:], NOWHERE), np.append(end[1:], -NOWHERE))


def _distance(written: TouchedBytes, later: TouchedBytes) -> Distance:
    """Return the distance at which no turn writes a byte that is touched later."""
    below = int((written.end - later.low).max(initial=-NOWHERE))
    above = int((later.end - written.low).max(initial=-NOWHERE))
    lowest = -int(NOWHERE) // 2  # below it, nothing is written, or nothing read later
    return Distance(below if below > lowest else None, above if above > lowest else None)
