"""Computes which buffers each node of the schedule reads, writes and needs, bottom-up from its steps.

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
    """Return a set of buffers as an integer, one bit for each."""
    return sum(1 << index for index in buffers)


def members_of(bits: int) -> Iterator[int]:
    """Yield the numbers in a set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class BufferEffect(NamedTuple):
    """How a node uses buffers, as bit sets; constants are left out."""

    needs: int
    """Buffers that it may read before it replaces them."""
    replaces: int
    """Buffers that it overwrites completely on every path."""
    writes: int
    """Buffers that it may write and that outlive it."""
    touches: int
    """All buffers that it touches, including those in its scopes."""

    def before(self, after: int) -> int:
        """Return the buffers needed before the node, given those needed `after` it."""
        return self.needs | (after & ~self.replaces)


_NOTHING = BufferEffect(0, 0, 0, 0)


class Effects:
    """The effects of nodes on the buffers of a storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._effects: dict[int, BufferEffect] = {}

    def of(self, node: Node) -> BufferEffect:
        """Return the effect of a node; cached, since calls share bodies."""
        cached = self._effects.get(id(node))
        if cached is not None:
            return cached
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
                local, inner = self.buffers(values), self.of(body)
                effect = BufferEffect(
                    inner.needs & ~local, inner.replaces & ~local, inner.writes & ~local, inner.touches
                )
            case Repeat(body, rounds):
                inner = self.of(body)
                effect = inner if rounds else inner._replace(replaces=0)
            case Loop(test, body):
                first, again = self.of(test), self.of(body)
                effect = _then(first, again)._replace(replaces=first.replaces)
        self._effects[id(node)] = effect
        return effect

    def _of_step(self, step: Step) -> BufferEffect:
        reads, replaced, updated = map(self.buffers, ((*step.reads, *step.keeps), step.writes, step.updates))
        written = replaced | updated
        return BufferEffect(reads, replaced & ~reads, written, reads | written | self.buffers(step.scratch))

    def buffers(self, values: Iterable[Value]) -> int:
        """Return the buffers of `values`, without constants; of a tensor that has rows, all of them."""
        bits = 0
        for value in values:
            buffers = self._storage.buffers_of(value)
            if buffers and self._storage.buffers[buffers.start].kind is not Kind.CONSTANT:
                bits |= ((1 << len(buffers)) - 1) << buffers.start
        return bits


def _then(first: BufferEffect, second: BufferEffect) -> BufferEffect:
    return BufferEffect(
        first.before(second.needs),
        first.replaces | second.replaces,
        first.writes | second.writes,
        first.touches | second.touches,
    )


def _one_of(effects: list[BufferEffect]) -> BufferEffect:
    needs, _, writes, touches = (reduce(or_, column, 0) for column in zip(*effects, strict=True))
    return BufferEffect(needs, reduce(and_, (effect.replaces for effect in effects)), writes, touches)
