"""Random firmware of a few models, and an application that runs them in any order that the manifest allows.

The application knows the promises of the words in the manifest and nothing of lifetimes: it fills inputs, runs models
one step after the other, those that may run at the same time in turns, and reads whatever is promised to be intact.
All is in one arena of bytes at planned offsets, where a byte is a number that nobody else ever writes.  Bytes that are
not alive at a step, according to the lifetimes, are lost before and after it.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from tests.support.road import analyze_as, model, request
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, TensorRef
from usmp_build.ir.lifetimes import Lifetimes
from usmp_build.request import ConnectionRequest, Inputs, Outputs, Request

SIZES = (2, 3)


@dataclass(frozen=True)
class Firmware:
    request: Request
    models: tuple[Model, ...]

    @property
    def analysis(self) -> Analysis:
        return analyze_as(self.request, *self.models)


def firmware(draw: random.Random) -> Firmware:
    """Draw models, words, connections and concurrency."""
    models = tuple(_model(draw, f"m{index}") for index in range(draw.randint(2, 4)))
    asked = request(*(m.name for m in models))
    words = tuple(
        replace(each, inputs=draw.choice(list(Inputs)), outputs=draw.choice(list(Outputs))) for each in asked.models
    )
    pairs = [(a, b) for b in range(len(models)) for a in range(b)]
    concurrent = frozenset(draw.sample(pairs, draw.randint(0, len(pairs) // 2)))
    connections = tuple(_connections(draw, models, concurrent))
    return Firmware(replace(asked, models=words, concurrent=concurrent, connections=connections), models)


def _model(draw: random.Random, name: str) -> Model:
    """A few operators, each with one or two operands; what nobody reads is an output, and perhaps something more."""
    sizes = [draw.choice(SIZES) for _ in range(draw.randint(1, 2) + draw.randint(1, 4))]
    inputs = draw.randint(1, min(2, len(sizes) - 1))
    lines, read = [], set()
    for tensor in range(inputs, len(sizes)):
        operands = draw.choices(range(tensor), k=draw.randint(1, 2))
        read.update(operands)
        lines.append(f"%{tensor} = ADD({', '.join(f'%{t}' for t in operands)})")
    outputs = [t for t in range(inputs, len(sizes)) if t not in read]
    outputs += [t for t in range(len(sizes)) if t not in outputs and draw.random() < 0.1]
    tensors = [f'%{t} "t{t}" int8[{size}]' for t, size in enumerate(sizes)]
    ports = [
        f"{word} {', '.join(f'%{t}' for t in some)}" for word, some in (("inputs", range(inputs)), ("outputs", outputs))
    ]
    return model("\n".join([*tensors, *ports, *lines]), name)


def _connections(
    draw: random.Random, models: tuple[Model, ...], concurrent: frozenset[tuple[int, int]]
) -> Iterator[ConnectionRequest]:
    for consumer, fed in enumerate(models):
        for target in fed.main.inputs:
            sources = [
                (producer, tensor)
                for producer, feeding in enumerate(models)
                for tensor in feeding.main.outputs
                if producer != consumer
                and (min(producer, consumer), max(producer, consumer)) not in concurrent
                and tensor not in feeding.main.inputs
                and feeding.main.tensors[tensor].shape == fed.main.tensors[target].shape
            ]
            if sources and draw.random() < 0.5:
                producer, tensor = draw.choice(sources)
                yield ConnectionRequest(producer, f"t{tensor}", consumer, f"t{target}")


@dataclass
class Application:
    """Runs the models of a firmware, as rewritten, at the offsets of a plan.

    Raises AssertionError when a byte is lost.
    """

    firmware: Firmware
    analysis: Analysis
    offsets: list[int]
    lifetimes: Lifetimes
    draw: random.Random
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    expected: dict[TensorRef, list[int]] = field(default_factory=dict)
    """What every value holds that is promised to be intact; connected inputs are the outputs that feed them."""
    running: dict[int, Iterator[None]] = field(default_factory=dict)
    filled: dict[int, bool] = field(default_factory=dict)
    """Whether what a model was filled with must still be there."""
    valid: dict[int, bool] = field(default_factory=dict)
    """Whether a model's outputs must."""

    def __post_init__(self) -> None:
        request = self.firmware.request
        self.sources = {
            TensorRef(c.consumer, 0, int(c.input[1:])): TensorRef(c.producer, 0, int(c.output[1:]))
            for c in request.connections
        }
        ends = [o + b.size for o, b in zip(self.offsets, self.analysis.problem.buffers, strict=True)]
        self.arena = [-next(self.numbers) for _ in range(max(ends, default=0))]

    def run(self, turns: int) -> None:
        """Start models and let them take turns."""
        for _ in range(turns):
            ready = [m for m in range(len(self.analysis.models)) if all(self.is_beside(m, r) for r in self.running)]
            if ready and (not self.running or self.draw.random() < 0.3):
                self._start(self.draw.choice(ready))
            chosen = self.draw.choice(list(self.running))
            if next(self.running[chosen], "ended") == "ended":
                del self.running[chosen]
            self._look()

    def is_beside(self, one: int, other: int) -> bool:
        """Whether two models may run at the same time."""
        return self.firmware.request.are_concurrent(one, other)

    def _start(self, number: int) -> None:
        """What another one's run ends, ends now."""
        for other, asked in enumerate(self.firmware.request.models):
            if not self.is_beside(number, other) and other != number:
                if asked.inputs is not Inputs.RESERVED:
                    self.filled[other] = False
                if asked.outputs is not Outputs.RESERVED:
                    self.valid[other] = False
        if self.firmware.request.models[number].outputs is not Outputs.RESERVED:
            for source in (source for source in self.sources.values() if source.model == number):
                self.expected.pop(source, None)
        self.running[number] = self._steps(number)

    def _steps(self, number: int) -> Iterator[None]:
        """One run of a model; stops after each step."""
        main, asked = self.analysis.models[number].main, self.firmware.request.models[number]
        first = self.analysis.schedule.starts[number]
        refs = [TensorRef(number, 0, t) for t in range(len(main.tensors))]
        own = [refs[t] for t in main.inputs if refs[t] not in self.sources]
        fresh = not self.filled.get(number) or self.draw.random() < 0.5
        last = [refs[t] for t in main.outputs] if self.valid.get(number) and asked.outputs is Outputs.RESERVED else []
        fed = [refs[t] for t in main.inputs if refs[t] in self.sources]
        self._step(number, first, (*last, *fed), own if fresh else [])
        yield
        self.valid[number] = False
        for t in (t for t in range(len(refs)) if t not in main.inputs):
            self.expected.pop(refs[t], None)
        for at, op in enumerate(main.operators, first + 1):
            self._step(number, at, [refs[t] for t in op.inputs if t is not None], [refs[t] for t in op.outputs])
            yield
        if asked.inputs is Inputs.CONSUMED:
            for t in (t for t in main.inputs if t not in main.outputs):
                self._forget(refs[t])
        self.filled[number] = asked.inputs is not Inputs.CONSUMED
        self.valid[number] = True
        kept = [refs[t] for t in main.inputs] if self.filled[number] else []
        self._step(number, first + 1 + len(main.operators), [*(refs[t] for t in main.outputs), *kept], [])

    def _forget(self, ref: TensorRef) -> None:
        """A run consumes its inputs, but not what feeds others, too, or what its producer keeps."""
        source = self.sources.get(ref)
        if source is None:
            self.expected.pop(ref, None)
        else:
            shared = {target.model for target, other in self.sources.items() if other == source}
            kept = self.firmware.request.models[source.model].outputs is Outputs.RESERVED
            if len(shared) == 1 and not kept:
                self.expected.pop(source, None)

    def _look(self) -> None:
        """Read all that is promised to be intact between steps; now and then DMA fills a reserved input."""
        for number, (own, asked) in enumerate(zip(self.analysis.models, self.firmware.request.models, strict=True)):
            idle = number not in self.running
            inputs = [TensorRef(number, 0, t) for t in own.main.inputs]
            if idle and asked.inputs is Inputs.RESERVED and self.draw.random() < 0.1:
                for ref in (ref for ref in inputs if ref not in self.sources):
                    self._write(ref)
                if not set(own.main.inputs).isdisjoint(own.main.outputs):
                    self.valid[number] = False
                self.filled[number] = True
            if idle and self.filled.get(number):
                self._read(inputs)
            if idle and self.valid.get(number):
                self._read([TensorRef(number, 0, t) for t in own.main.outputs])

    def _step(
        self, number: int, at: int, reads: list[TensorRef] | tuple[TensorRef, ...], writes: list[TensorRef]
    ) -> None:
        self._lose(number, at)
        self._read(reads)
        for ref in writes:
            self._write(ref)
        self._lose(number, at)

    def _read(self, refs: list[TensorRef] | tuple[TensorRef, ...]) -> None:
        for ref in refs:
            value = self.expected.get(self.sources.get(ref, ref))
            start = self._place(ref)
            assert value in (None, self.arena[start : start + len(value or [])]), f"{ref} was lost"

    def _write(self, ref: TensorRef) -> None:
        size = self.analysis.models[ref.model].main.tensors[ref.tensor].size
        self.expected[ref] = [next(self.numbers) for _ in range(size)]
        start = self._place(ref)
        self.arena[start : start + size] = self.expected[ref]

    def _place(self, ref: TensorRef) -> int:
        return self.offsets[self.analysis.storage.tensors[ref]]

    def _lose(self, number: int, at: int) -> None:
        """Overwrite what no buffer needs at a step of a model, as far as models beside it have no part in it."""
        kept: set[int] = set()
        for index, intervals in enumerate(self.lifetimes.intervals):
            buffer = self.analysis.storage.buffers[index]
            if any(i.start <= at < i.stop for i in intervals) or any(self.is_beside(number, m) for m in buffer.models):
                kept.update(range(self.offsets[index], self.offsets[index] + buffer.size))
        for byte in set(range(len(self.arena))) - kept:
            self.arena[byte] = -next(self.numbers)
