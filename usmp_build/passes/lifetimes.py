"""Schedule + Storage → Lifetimes, by use.

A buffer is alive at a step that touches it, and at a step where it may have been written before and is needed later.
Both are liveness analyses on a structured program; sets of buffers are Python integers, one bit for each buffer.

Backwards, before a node are needed

    needs | (after & ~replaces)

where `needs` is what the node may read before it replaces it, and `replaces` what it writes as a whole on every way
through.  Forwards, what may have been written behind a node is `before | writes`.  All of it is known for a step and
composes for everything else: the arms of a branch are alive on their own, and of a loop exactly what is carried round
it stays alive throughout.  A `Scope` ends both: what begins undefined is neither needed nor written before.

Each model is walked by itself, for their order on the timeline is not that of their runs: what holds data when a run
begins, and what must when it has ended, is known (see `passes.survivors`).

Rounds that run in parallel may be at any of their steps while another one is at any other: whatever such a loop
touches lives as long as the loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import accumulate
from operator import and_, or_
from typing import NamedTuple

from usmp_build.ir.lifetimes import Interval, Lifetimes, Survivors
from usmp_build.ir.schedule import Branch, Call, Loop, Node, Repeat, Schedule, Scope, Sequence, Step, Value
from usmp_build.ir.storage import Kind, Storage


def lifetimes(schedule: Schedule, storage: Storage, survivors: Survivors) -> Lifetimes:
    """Find for each buffer the steps during which it must keep its bytes.

    Whatever is written but never read lives at its writing step.
    """
    liveness = _Liveness(storage, schedule.length)
    for index, program in enumerate(schedule.programs):
        before, after = map(_bits, (survivors.before[index], survivors.after[index]))
        liveness.walk(program, before, after, schedule.starts[index + 1])
    intervals = _intervals(liveness.alive, len(storage.buffers))
    for index in survivors.always:
        intervals[index] = (Interval(0, max(1, schedule.length)),)
    return Lifetimes(tuple(intervals))


def _bits(buffers: Iterable[int]) -> int:
    return sum(1 << index for index in buffers)


class _Effect(NamedTuple):
    needs: int
    replaces: int
    writes: int
    """What it may write of what lives longer than itself."""
    touches: int
    """All, what is in its scopes too."""

    def before(self, after: int) -> int:
        return self.needs | (after & ~self.replaces)


_NOTHING = _Effect(0, 0, 0, 0)


class _Liveness:
    """`alive[t]` gathers the buffers alive at step t."""

    def __init__(self, storage: Storage, length: int) -> None:
        self._storage = storage
        self._effects: dict[int, _Effect] = {}
        self.alive = [0] * length

    def walk(self, node: Node, before: int, after: int, stop: int) -> int:
        """Walk `node`, which ends before step `stop`; return the step it begins at.

        `before` may have been written when it begins, and `after` is needed when it has ended.
        """
        match node:
            case Step():
                self.alive[stop - 1] |= self._effect(node).touches | (before & after)
                return stop - 1
            case Sequence(body):
                for child, before_child in self._from_behind(body, before):
                    stop = self.walk(child, before_child, after, stop)
                    after = self._effect(child).before(after)
                return stop
            case Branch(arms):
                for arm in reversed(arms):
                    stop = self.walk(arm, before, after, stop)
                return stop
            case Call(_, body):
                return self.walk(body, before, after, stop)
            case Scope(values, body):
                return self.walk(body, before & ~self._buffers(values), after, stop)
            case Repeat(body, _, parallel):
                effect = self._effect(node)
                start = self.walk(body, before | effect.writes, after | effect.needs, stop)
                self._keep(effect.touches if parallel else 0, start, stop)
                return start
            case Loop(test, body):
                effect = self._effect(node)
                head, before = effect.before(after), before | effect.writes
                stop = self.walk(body, before, head, stop)
                return self.walk(test, before, after | self._effect(body).before(head), stop)

    def _from_behind(self, body: tuple[Node, ...], before: int) -> Iterable[tuple[Node, int]]:
        """Return the nodes of a sequence in reverse, and what may have been written before each."""
        written = list(accumulate((self._effect(child).writes for child in body), or_, initial=before))
        return zip(reversed(body), reversed(written[:-1]), strict=True)

    def _keep(self, buffers: int, start: int, stop: int) -> None:
        for step in range(start, stop):
            self.alive[step] |= buffers

    def _effect(self, node: Node) -> _Effect:
        """Bodies are shared between calls, so each node is worked out once."""
        known = self._effects.get(id(node))
        if known is not None:
            return known
        match node:
            case Step():
                effect = self._effect_of_step(node)
            case Sequence(body):
                effect = reduce(_then, [self._effect(child) for child in body], _NOTHING)
            case Branch(arms):
                effect = _one_of([self._effect(arm) for arm in arms])
            case Call(_, body):
                effect = self._effect(body)
            case Scope(values, body):
                own, inner = self._buffers(values), self._effect(body)
                effect = _Effect(inner.needs & ~own, inner.replaces & ~own, inner.writes & ~own, inner.touches)
            case Repeat(body, rounds):
                inner = self._effect(body)
                effect = inner if rounds else inner._replace(replaces=0)
            case Loop(test, body):
                first, again = self._effect(test), self._effect(body)
                effect = _then(first, again)._replace(replaces=first.replaces)
        self._effects[id(node)] = effect
        return effect

    def _effect_of_step(self, step: Step) -> _Effect:
        looked_at = (*step.reads, *step.keeps)
        reads, whole, partly = map(self._buffers, (looked_at, step.writes, step.updates))
        return _Effect(reads, whole & ~reads, whole | partly, reads | whole | partly | self._buffers(step.scratch))

    def _buffers(self, values: Iterable[Value]) -> int:
        bits = 0
        for value in values:
            index = self._storage.buffer_of(value)
            if index is not None and self._storage.buffers[index].kind is not Kind.CONSTANT:
                rows = self._storage.rows.get(index, 1)
                bits |= ((1 << rows) - 1) << index
        return bits


def _then(first: _Effect, second: _Effect) -> _Effect:
    return _Effect(
        first.before(second.needs),
        first.replaces | second.replaces,
        first.writes | second.writes,
        first.touches | second.touches,
    )


def _one_of(effects: list[_Effect]) -> _Effect:
    needs, _, writes, touches = (reduce(or_, column, 0) for column in zip(*effects, strict=True))
    return _Effect(needs, reduce(and_, (effect.replaces for effect in effects)), writes, touches)


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
