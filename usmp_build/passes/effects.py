"""What running a node of the schedule does to buffers: a step's is known, all others are composed of it.

Sets of buffers are Python integers, one bit for each buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from usmp_build.ir.schedule import Branch, Call, Loop, Node, Repeat, Scope, Sequence, Step, Value
from usmp_build.ir.storage import Kind, Storage


def bits_of(buffers: Iterable[int]) -> int:
    """Return a set of buffers."""
    return sum(1 << index for index in buffers)


def members_of(bits: int) -> Iterator[int]:
    """Yield the numbers in a set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class Effect(NamedTuple):
    """Of a node on buffers, apart from constants."""

    needs: int
    """What it may read before it replaces it."""
    replaces: int
    """What it writes as a whole on every way through."""
    writes: int
    """What it may write of what lives longer than itself."""
    touches: int
    """All, what is in its scopes too."""

    def before(self, after: int) -> int:
        """Return what is needed when it begins, if this is needed when it has ended."""
        return self.needs | (after & ~self.replaces)


_NOTHING = Effect(0, 0, 0, 0)


class Effects:
    """The effects of nodes, for buffers as storage has them."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._effects: dict[int, Effect] = {}

    def of(self, node: Node) -> Effect:
        """Bodies are shared between calls, so each node is worked out once."""
        known = self._effects.get(id(node))
        if known is not None:
            return known
        match node:
            case Step():
                effect = self._of_step(node)
            case Sequence(body):
                effect = reduce(_then, [self.of(child) for child in body], _NOTHING)
            case Branch(arms):
                effect = _one_of([self.of(arm) for arm in arms])
            case Call(_, body):
                effect = self.of(body)
            case Scope(values, body):
                own, inner = self.buffers(values), self.of(body)
                effect = Effect(inner.needs & ~own, inner.replaces & ~own, inner.writes & ~own, inner.touches)
            case Repeat(body, rounds):
                inner = self.of(body)
                effect = inner if rounds else inner._replace(replaces=0)
            case Loop(test, body):
                first, again = self.of(test), self.of(body)
                effect = _then(first, again)._replace(replaces=first.replaces)
        self._effects[id(node)] = effect
        return effect

    def _of_step(self, step: Step) -> Effect:
        looked_at = (*step.reads, *step.keeps)
        reads, whole, partly = map(self.buffers, (looked_at, step.writes, step.updates))
        return Effect(reads, whole & ~reads, whole | partly, reads | whole | partly | self.buffers(step.scratch))

    def buffers(self, values: Iterable[Value]) -> int:
        """Return the buffers of some values, all rows of what is in memory of pages, without constants."""
        bits = 0
        for value in values:
            index = self._storage.buffer_of(value)
            if index is not None and self._storage.buffers[index].kind is not Kind.CONSTANT:
                rows = self._storage.rows.get(index, 1)
                bits |= ((1 << rows) - 1) << index
        return bits


def _then(first: Effect, second: Effect) -> Effect:
    return Effect(
        first.before(second.needs),
        first.replaces | second.replaces,
        first.writes | second.writes,
        first.touches | second.touches,
    )


def _one_of(effects: list[Effect]) -> Effect:
    needs, _, writes, touches = (reduce(or_, column, 0) for column in zip(*effects, strict=True))
    return Effect(needs, reduce(and_, (effect.replaces for effect in effects)), writes, touches)
