"""Schedule + Storage → Lifetimes, by first and last use.

This is liveness analysis on a structured program, backwards.  Before a node are alive

    before = needs | (after & ~replaces)

where `needs` is what the node reads before it writes it, and `replaces` what it writes on every way through.  Both
are known for a step, and compose for everything else: the arms of a branch are alive on their own, and of a loop
exactly what is carried round it stays alive throughout.  A buffer is alive at a step if it is alive before or after
it, or touched by it.  Sets of buffers are Python integers, one bit for each buffer.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.ir.lifetimes import Interval, Lifetimes
from usmp_build.ir.schedule import Branch, Call, Loop, Node, Schedule, Sequence, Step
from usmp_build.ir.storage import Kind, Storage


def lifetimes(schedule: Schedule, storage: Storage) -> Lifetimes:
    """Find for each buffer the steps during which it must keep its bytes.

    Variables and constants keep them for ever.  Whatever is written but never read lives at its writing step.
    """
    liveness = _Liveness(storage, schedule.length)
    liveness.walk(schedule.root, 0, schedule.length)
    intervals = _intervals(liveness.alive, len(storage.buffers))
    whole = (Interval(0, max(1, schedule.length)),)
    for index, buffer in enumerate(storage.buffers):
        if buffer.kind in {Kind.VARIABLE, Kind.CONSTANT}:
            intervals[index] = whole
    return Lifetimes(tuple(intervals))


class _Effect(NamedTuple):
    needs: int
    replaces: int

    def before(self, after: int) -> int:
        return self.needs | (after & ~self.replaces)


class _Liveness:
    """`alive[t]` gathers the buffers alive at step t."""

    def __init__(self, storage: Storage, length: int) -> None:
        self._storage = storage
        self._effects: dict[int, _Effect] = {}
        self.alive = [0] * length

    def walk(self, node: Node, after: int, stop: int) -> int:
        """Walk `node`, which ends before step `stop` with `after` alive; return the step it begins at."""
        match node:
            case Step():
                touched = self._buffers(node.writes) | self._scratch(node.operator)
                self.alive[stop - 1] |= self._effect(node).before(after) | after | touched
                return stop - 1
            case Sequence(body):
                for child in reversed(body):
                    stop = self.walk(child, after, stop)
                    after = self._effect(child).before(after)
                return stop
            case Branch(arms):
                for arm in reversed(arms):
                    stop = self.walk(arm, after, stop)
                return stop
            case Call(_, body):
                return self.walk(body, after, stop)
            case Loop(test, body):
                head = self._effect(node).before(after)
                stop = self.walk(body, head, stop)
                return self.walk(test, after | self._effect(body).before(head), stop)

    def _effect(self, node: Node) -> _Effect:
        """Bodies are shared between calls, so each node is worked out once."""
        if id(node) not in self._effects:
            self._effects[id(node)] = self._work_out(node)
        return self._effects[id(node)]

    def _work_out(self, node: Node) -> _Effect:
        match node:
            case Step():
                return _Effect(self._buffers(node.reads), self._buffers(node.writes))
            case Sequence(body):
                total = _Effect(0, 0)
                for child in reversed(body):
                    effect = self._effect(child)
                    total = _Effect(effect.before(total.needs), effect.replaces | total.replaces)
                return total
            case Branch(arms):
                effects = [self._effect(arm) for arm in arms]
                needs = reduce(or_, (effect.needs for effect in effects), 0)
                return _Effect(needs, reduce(and_, (effect.replaces for effect in effects)))
            case Call(_, body):
                return self._effect(body)
            case Loop(test, body):
                first, again = self._effect(test), self._effect(body)
                return _Effect(first.before(again.needs), first.replaces)

    def _buffers(self, tensors: Iterable[TensorRef]) -> int:
        bits = 0
        for tensor in tensors:
            index = self._storage.tensors.get(tensor)
            if index is not None and self._storage.buffers[index].kind is not Kind.CONSTANT:
                bits |= 1 << index
        return bits

    def _scratch(self, operator: OperatorRef | None) -> int:
        if operator is None:
            return 0
        return sum(1 << index for index in self._storage.scratch.get(operator, ()))


def _intervals(alive: list[int], count: int) -> list[tuple[Interval, ...]]:
    """Turn "alive at step" around: for each buffer the runs of steps."""
    intervals: list[list[Interval]] = [[] for _ in range(count)]
    started: dict[int, int] = {}
    previous = 0
    for position, now in enumerate([*alive, 0]):
        changed = previous ^ now
        while changed:
            bit = changed & -changed
            index = bit.bit_length() - 1
            if now & bit:
                started[index] = position
            else:
                intervals[index].append(Interval(started.pop(index), position))
            changed ^= bit
        previous = now
    return [tuple(runs) for runs in intervals]
