"""The turns of a kernel's calls → how far what it writes must stay from what it has yet to read.

Byte b of `written` is written in one turn, and byte q of `read` is read in a later one.  With `written` below, d bytes
before `read`, they are the same byte when b = d + q; so d must be more than every such b - q.  With `read` below, it
must be more than every q - b.  Each is the largest over all turns of what is written in it and read after it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.accesses import Accesses
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.kernels import Absent, Derived, Input, Kernel, Operand, Output, Scratch
from usmp_build.passes.separations.turns import MOST_TURNS, NOWHERE, Extent, Turns, turns, untouched

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Distance:
    """How far an operand that is written must be from one that is read, in bytes; None: wherever it is."""

    written_below: int | None
    """From the start of the one that is written to that of the other, when it is the lower one."""
    written_above: int | None
    """From the start of the one that is read."""


@lru_cache(maxsize=4096)
def distances(kernel: Kernel) -> Mapping[tuple[Operand, Operand], Distance] | None:
    """Return the distances by (written, read) operand; None when a call does not say what it touches.

    Written are outputs and scratch; read are inputs, and scratch from when it is first to when it is last touched.
    An operand that a call has, and of which it says nothing, is in no pair.
    """
    found = [call_accesses(call) for call in kernel.calls]
    known = [accesses for accesses in found if accesses is not None]
    if len(known) < len(found) or not known:
        return None
    most = max(1, MOST_TURNS // len(known))
    stretches = [
        Stretch(call.operands, turns(accesses, most)) for call, accesses in zip(kernel.calls, known, strict=True)
    ]
    touched = _Touched(kernel, known)
    operands = dict.fromkeys(operand for call in kernel.calls for operand in call.operands)
    planned = [o for o in operands if not isinstance(o, Derived | Absent) and touched.is_known(o)]
    pairs = [(one, other) for one in planned for other in planned if one != other and _may_share(one, other)]
    return MappingProxyType(dict(distances_of(stretches, pairs, {o for o in planned if isinstance(o, Scratch)})))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns that follow one another, as those of a call, and what is behind each of the operands that they touch.

    Calls of several kernels count as one when what is behind their operands has names that all of them share.
    """

    names: tuple[Hashable, ...]
    turns: Turns


def distances_of(
    stretches: Sequence[Stretch], pairs: Iterable[tuple[Name, Name]], scratch: Set[Name]
) -> Iterator[tuple[tuple[Name, Name], Distance]]:
    """Yield the distances of pairs (written, read) by name; of `scratch`, writes count as reads do."""
    in_order = np.concatenate([np.full(each.turns.count, each.turns.in_order) for each in stretches])
    extents = _Extents(stretches)
    known: dict[Name, Extent] = {}
    for written, read in pairs:
        if written not in known:
            known = {written: extents.of(written, writes=True)}
        yield (written, read), _distance(known[written], _touched(extents, read, in_order, read in scratch))


class _Touched:
    """What calls say of their operands."""

    def __init__(self, kernel: Kernel, accesses: Sequence[Accesses]) -> None:
        self._of_operand: dict[Operand, list[list[bool]]] = {}
        for call, own in zip(kernel.calls, accesses, strict=True):
            writes: list[list[bool]] = [[] for _ in call.operands]
            for touch in (touch for part in own.parts for touch in part.touches):
                writes[touch.operand].append(touch.writes)
            for operand, width, some in zip(call.operands, own.widths, writes, strict=True):
                self._of_operand.setdefault(operand, []).append(some if width else [])

    def is_known(self, operand: Operand) -> bool:
        """Whether every call that has an operand says what it touches of it, and some call as is due: writes or reads.

        As an output is written, and an input read; scratch is both.
        """
        known = self._of_operand[operand]
        is_scratch, due = isinstance(operand, Scratch), isinstance(operand, Output)
        return all(known) and any(is_scratch or due in some for some in known)


def _may_share(written: Operand, read: Operand) -> bool:
    """What was there before may be overwritten by what comes to be: inputs by both, scratch by outputs."""
    return (isinstance(written, Output) and isinstance(read, Input | Scratch)) or (
        isinstance(written, Scratch) and isinstance(read, Input)
    )


class _Extents:
    """What all turns touch, by what is behind the operands."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._count = 0
        self._found: dict[Hashable, list[tuple[slice, Turns, int]]] = {}
        for each in stretches:
            own = slice(self._count, self._count + each.turns.count)
            self._count = own.stop
            for position, name in enumerate(each.names):
                self._found.setdefault(name, []).append((own, each.turns, position))

    def of(self, name: Hashable, writes: bool) -> Extent:
        """What is read or written of what has this name, which may be behind several operands of a call."""
        whole = untouched(self._count)
        for own, turns_, position in self._found.get(name, ()):
            extent = turns_.extent(position, writes)
            whole.low[own] = np.minimum(whole.low[own], extent.low)
            whole.end[own] = np.maximum(whole.end[own], extent.end)
        return whole


def _touched(extents: _Extents, name: Hashable, in_order: NDArray[np.bool_], is_scratch: bool) -> Extent:
    """What must be intact after each turn: what is read later; scratch also must not be written later.

    The turn itself counts where its writes may come before its reads.
    """
    reads = extents.of(name, writes=False)
    own = Extent(np.where(in_order, NOWHERE, reads.low), np.where(in_order, -NOWHERE, reads.end))
    later = _after(reads).joined(own)
    if is_scratch:
        writes = extents.of(name, writes=True)
        later = later.joined(_after(writes)).joined(writes)
    return later


def _after(extent: Extent) -> Extent:
    """For each turn, all that later turns touch."""
    low = np.minimum.accumulate(extent.low[::-1])[::-1]
    end = np.maximum.accumulate(extent.end[::-1])[::-1]
    return Extent(np.append(low[1:], NOWHERE), np.append(end[1:], -NOWHERE))


def _distance(written: Extent, later: Extent) -> Distance:
    """Compare what each turn writes with what is touched later."""
    below = int((written.end - later.low).max(initial=-NOWHERE))
    above = int((later.end - written.low).max(initial=-NOWHERE))
    least = -int(NOWHERE) // 2  # nothing is written, or nothing read later
    return Distance(below if below > least else None, above if above > least else None)
