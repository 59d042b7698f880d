"""Runs a program in one arena of bytes, at the offsets of a plan, and checks every byte that it reads.

A byte is a number that nobody else ever writes, so a byte that was overwritten is noticed.  Bytes that are not alive
according to the lifetimes are lost before and after each step.  Rounds of parallel loops take turns at random, each
in the copies of its worker: the workers of the outermost loop divide the copies of a buffer among them, those of a
loop within one worker divide its share, and so on; the first of what is left is the worker's own.  What is read and
written in part both right before and right after a call is touched by the call, so by any step of it, unless it is an
argument: what is done with these is known.  Nothing here is taken from the schedule: time is counted by the
statements.
"""

import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count

from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.ir.statements import Access, Allocate, For, If, Invoke, Statement, bodies, walk
from usmp_build.units import align_up

Turns = Generator[None, None, None]
"""A round, which stops after each step."""


@dataclass
class Instance:
    """An allocation while it exists: where it is, and what was written there last; None: nothing yet."""

    base: int
    expected: list[int | None]


@dataclass(frozen=True)
class View:
    """The first `size` bytes of an allocation."""

    of: Instance
    size: int


Frame = dict[int, View]
"""By tensor; what calls touch beside their arguments has numbers below 0, in all that they call."""
Crew = tuple[tuple[int, int], ...]
"""Which worker this is, and of how many: for each parallel loop around, from outside in."""


@dataclass
class Interpreter:
    analysis: Analysis
    offsets: list[int]
    lifetimes: Lifetimes
    draw: random.Random
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.model: Model = self.analysis.models[0]
        buffers = self.analysis.problem.buffers
        sizes = [offset + buffer.size for offset, buffer in zip(self.offsets, buffers, strict=True)]
        self.arena = [-next(self.numbers) for _ in range(max(sizes, default=0))]

    def run(self) -> None:
        """Run once.  Raises AssertionError when a byte that is read is not what was written."""
        frame = {p: self._instance(0, p, ()) for p in range(self.model.main.parameters)}
        end = 1 + self.length(self.model.main.body)
        self._step(0, [], [frame[t] for t in self.model.main.inputs], whole=True)
        for _ in self._body(self.model.main.body, 0, frame, 1, ()):
            pass
        self._step(end, [frame[t] for t in self.model.main.outputs], [], whole=True)

    def length(self, body: tuple[Statement, ...]) -> int:
        """Count the steps of a body; a loop counts once."""
        return sum(map(self._length, body))

    def _length(self, statement: Statement) -> int:
        match statement:
            case Access():
                return 1
            case Invoke(function):
                return _length_of(self.model, function)
            case _:
                return isinstance(statement, If) + sum(map(self.length, bodies(statement)))

    def _instance(self, function: int, tensor: int, crew: Crew) -> View:
        """Allocate the copy of a worker: its bytes hold whatever they held."""
        buffer = self.analysis.storage.tensors[TensorRef(0, function, tensor)]
        size = self.model.subgraphs[function].tensors[tensor].size
        stored = self.analysis.storage.buffers[buffer]
        copy, share = 0, stored.copies
        for own, workers in crew:
            share //= workers
            copy += own * share
        assert share
        base = self.offsets[buffer] + copy * align_up(size, stored.alignment)
        assert base + size <= self.offsets[buffer] + stored.size
        return View(Instance(base, [None] * size), size)

    def _body(self, body: tuple[Statement, ...], function: int, frame: Frame, at: int, crew: Crew) -> Turns:
        for number, statement in enumerate(body):
            inside = frame
            if isinstance(statement, Invoke) and 0 < number < len(body) - 1:
                touched = _touched(body[number - 1], body[number + 1])
                given = [frame[t].of for t in statement.arguments if t in frame]
                views = [v for t, v in frame.items() if t < 0 or (t in touched and all(v.of is not g for g in given))]
                inside = frame | {-1 - i: view for i, view in enumerate(views)}
            yield from self._statement(statement, function, inside, at, crew)
            at += self._length(statement)

    def _statement(self, statement: Statement, function: int, frame: Frame, at: int, crew: Crew) -> Turns:
        match statement:
            case Access(reads, writes, whole):
                some = [[frame[t] for t in side if t in frame] for side in (reads, writes)]
                touched = [view for t, view in frame.items() if t < 0]
                if statement.elementwise and not touched and writes[0] in frame:
                    self._elementwise(at, statement, function, frame)
                else:
                    self._step(at, *some, whole=whole, touched=touched)
                yield
            case Allocate(tensor, body):
                inner = frame | {tensor: self._instance(function, tensor, crew)}
                yield from self._body(body, function, inner, at, crew)
            case Invoke(callee, arguments):
                passed = {p: self._passed(callee, p, frame[t]) for p, t in enumerate(arguments) if t in frame}
                passed |= {t: view for t, view in frame.items() if t < 0}
                yield from self._body(self.model.subgraphs[callee].body, callee, passed, at, crew)
            case If(condition, then, other):
                touched = [view for t, view in frame.items() if t < 0]
                reads = [frame[condition]] if condition in frame else []
                self._step(at, reads, [], whole=True, touched=touched)
                yield
                chosen, begin = self.draw.choice([(then, at + 1), (other, at + 1 + self.length(then))])
                yield from self._body(chosen, function, frame, begin, crew)
            case For():
                yield from self._loop(statement, function, frame, at, crew)

    def _passed(self, callee: int, parameter: int, argument: View) -> View:
        inside = self.model.subgraphs[callee].tensors[parameter]
        return View(argument.of, inside.size if inside.dtype.bits else argument.size)

    def _loop(self, loop: For, function: int, frame: Frame, at: int, crew: Crew) -> Turns:
        rounds = self.draw.randrange(3) if loop.extent is None else loop.extent
        if not loop.kind.is_parallel:
            for _ in range(rounds):
                yield from self._body(loop.body, function, frame, at, crew)
            return
        workers = min(count for count in (loop.extent, loop.workers) if count is not None)
        free, running = list(range(workers)), []
        while rounds or running:
            while rounds and free:
                own = free.pop(self.draw.randrange(len(free)))
                running.append((own, self._body(loop.body, function, frame, at, (*crew, (own, workers)))))
                rounds -= 1
            chosen = self.draw.randrange(len(running))
            if next(running[chosen][1], "ended") == "ended":
                free.append(running.pop(chosen)[0])
            else:
                yield

    def _step(
        self, at: int, reads: list[View], writes: list[View], *, whole: bool, touched: Sequence[View] = ()
    ) -> None:
        self._lose(at)
        for view in (*reads, *touched):
            self._read(at, view, range(view.size))
        for view, all_of_it in [*((view, whole) for view in writes), *((view, False) for view in touched)]:
            for byte in range(view.size):
                if all_of_it or self.draw.random() < 0.5:
                    view.of.expected[byte] = self.arena[view.of.base + byte] = next(self.numbers)
        self._lose(at)

    def _elementwise(self, at: int, access: Access, function: int, frame: Frame) -> None:
        """Read all others first, and then an element of each of these before one is written, in ascending order."""
        tensors = self.model.subgraphs[function].tensors
        width = {t: tensors[t].dtype.bits // 8 for t in (*access.elementwise, access.writes[0])}
        written = frame[access.writes[0]]
        self._lose(at)
        for element in range(tensors[access.writes[0]].size // width[access.writes[0]]):
            for tensor in access.reads:
                if tensor in frame:
                    here = range(frame[tensor].size)
                    self._read(
                        at, frame[tensor], here[element * width[tensor] :][: width[tensor]] if tensor in width else here
                    )
            if access.whole or self.draw.random() < 0.5:
                for byte in range(element * width[access.writes[0]], (element + 1) * width[access.writes[0]]):
                    written.of.expected[byte] = self.arena[written.of.base + byte] = next(self.numbers)
        self._lose(at)

    def _read(self, at: int, view: View, here: Sequence[int]) -> None:
        for byte in here:
            wanted, held = view.of.expected[byte], self.arena[view.of.base + byte]
            assert wanted in (None, held), f"step {at} reads a byte that was lost"

    def _lose(self, at: int) -> None:
        """Overwrite all bytes of the arena that no buffer needs at a step."""
        needed: set[int] = set()
        for buffer, intervals in enumerate(self.lifetimes.intervals):
            if any(i.start <= at < i.stop for i in intervals):
                start = self.offsets[buffer]
                needed.update(range(start, start + self.analysis.problem.buffers[buffer].size))
        for byte in set(range(len(self.arena))) - needed:
            self.arena[byte] = -next(self.numbers)


def _touched(before: Statement, after: Statement) -> set[int]:
    """Return what both read and write in part."""
    if before != after or not isinstance(before, Access) or before.whole:
        return set()
    return set(before.reads) & set(before.writes)


@cache
def _length_of(model: Model, function: int) -> int:
    total = 0
    for statement in walk(model.subgraphs[function].body):
        match statement:
            case Access() | If():
                total += 1
            case Invoke(callee):
                total += _length_of(model, callee)
    return total
