"""Computes the lifetime of every buffer by liveness analysis on the structured schedule.

A buffer is alive at every step that touches it, and at every step where it may have been written before and is needed
later.  Each half is a dataflow analysis; sets of buffers are Python integers, one bit for each buffer.

Backwards, the buffers needed before a node are

    needs | (after & ~replaces)

and forwards, those that may have been written after it are `before | writes` (see `passes.effects`): each arm of a
branch has its own live buffers, and exactly what a loop carries from round to round stays alive throughout.  A `Scope`
ends both: a buffer that begins undefined is neither needed nor written before.

Each model is walked separately, since the order of models on the timeline is not that of their runs: `passes.survivors`
says which buffers hold data when a run begins, and which must when it has ended.

Parallel rounds of a loop may be at different steps at the same time: whatever such a loop touches lives as long as the
loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from operator import or_

from usmp_build.ir.lifetimes import Interval, Lifetimes, Survivors
from usmp_build.ir.schedule import Branch, Call, Loop, Node, Repeat, Schedule, Scope, Sequence, Step
from usmp_build.ir.storage import Storage
from usmp_build.passes.effects import Effects, bits_of


def lifetimes(schedule: Schedule, storage: Storage, survivors: Survivors) -> Lifetimes:
    """Return for each buffer the steps during which it must keep its bytes.

    A buffer that is written but never read is alive at the step that writes it.
    """
    liveness = _Liveness(storage, schedule.length)
    for index, program in enumerate(schedule.programs):
        before, after = map(bits_of, (survivors.before[index], survivors.after[index]))
        liveness.walk(program, before, after, schedule.starts[index + 1])
    intervals = _intervals(liveness.alive, len(storage.buffers))
    for index in survivors.always:
        intervals[index] = (Interval(0, max(1, schedule.length)),)
    return Lifetimes(tuple(intervals))


class _Liveness:
    """Walks the schedule; `alive[t]` is the set of buffers alive at step t."""

    def __init__(self, storage: Storage, length: int) -> None:
        self._effects = Effects(storage)
        self.alive = [0] * length

    def walk(self, node: Node, before: int, after: int, stop: int) -> int:
        """Walk `node`, which ends before step `stop`; return the step at which it begins.

        `before` are the buffers that may have been written when it begins, `after` those needed when it has ended.
        """
        match node:
            case Step():
                self.alive[stop - 1] |= self._effects.of(node).touches | (before & after)
                return stop - 1
            case Sequence(body):
                for child, before_child in self._reversed(body, before):
                    stop = self.walk(child, before_child, after, stop)
                    after = self._effects.of(child).before(after)
                return stop
            case Branch(arms):
                for arm in reversed(arms):
                    stop = self.walk(arm, before, after, stop)
                return stop
            case Call(_, body):
                return self.walk(body, before, after, stop)
            case Scope(values, body):
                return self.walk(body, before & ~self._effects.buffers(values), after, stop)
            case Repeat(body, _, parallel):
                effect = self._effects.of(node)
                start = self.walk(body, before | effect.writes, after | effect.needs, stop)
                self._keep(effect.touches if parallel else 0, start, stop)
                return start
            case Loop(test, body):
                effect = self._effects.of(node)
                head, before = effect.before(after), before | effect.writes
                stop = self.walk(body, before, head, stop)
                return self.walk(test, before, after | self._effects.of(body).before(head), stop)

    def _reversed(self, body: tuple[Node, ...], before: int) -> Iterable[tuple[Node, int]]:
        """Return the nodes of a sequence in reverse, each with the buffers that may have been written before it."""
        written = list(accumulate((self._effects.of(child).writes for child in body), or_, initial=before))
        return zip(reversed(body), reversed(written[:-1]), strict=True)

    def _keep(self, buffers: int, start: int, stop: int) -> None:
        for step in range(start, stop):
            self.alive[step] |= buffers


def _intervals(alive: list[int], count: int) -> list[tuple[Interval, ...]]:
    """Transpose `alive`: return for each buffer its runs of consecutive steps."""
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
