"""How close buffers may come in nets that run row by row, against what every step does to every element."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.access_traces import trace
from tests.support.road import model, request
from tests.support.row_nets import all_rows, cut, shuffled
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output, Reduce, Whole
from usmp_build.ir.choices import Choices
from usmp_build.ir.graph import OperatorRef, TensorRef
from usmp_build.ir.schedule import Direction, RowRef, Step, Value, steps
from usmp_build.ir.separations import Separation
from usmp_build.search.replanner import Replanner

POOL = "MAX_POOL_2D({a}) padding=SAME filter_h=%d filter_w=%d"
KINDS = ["TANH({a})", "ADD({a}, {b})", "MUL({a}, {a})", POOL % (2, 2), POOL % (3, 3)]
THIN = POOL % (1, 1) + " stride_h=2 stride_w=2"
MEAN = "AVERAGE_POOL_2D({a}) padding=VALID filter_h=%d filter_w=2 stride_h=%d stride_w=2"
JOINED = "CONCATENATION({a}, {b}) axis=1"
WIDTH = 4
"""Bytes of an element."""
NEVER = 1 << 20
"""A turn of a later step; minus it, one of an earlier step."""
AT_ONCE, AT_LAST = -1, NEVER - 1
"""The turns that read, and that write, what no turn touches: a row holds data as a whole."""
Turns = NDArray[np.int64]
"""A turn for each element of a buffer."""


def drawn(seed: int) -> str:
    """Draw two to five operators over one or two images of three or four rows, which may end in other shapes."""
    r = Random(seed)
    rows, inputs = r.randint(3, 4), r.randint(1, 2)
    kinds = [*((kind, rows, 2) for kind in KINDS), (THIN, 2, 1), (MEAN % (rows, rows), 1, 1), (JOINED, 2 * rows, 2)]
    shapes, lines, read = [(rows, 2)] * inputs, list[str](), set[int]()
    for number in range(r.randint(2, 5)):
        images = [each for each, shape in enumerate(shapes) if shape == (rows, 2)]
        a, b = (r.choice([images[-1], r.choice(images)]) for _ in range(2))
        kind, *shape = r.choice(kinds)
        lines.append(f"%{len(shapes)} = {kind.format(a=f'%{a}', b=f'%{b}')} @{number}")
        shapes.append((shape[0], shape[1]))
        read |= {a, b} if "{b}" in kind else {a}
    channels = r.randint(1, 2)
    tensors = [f'%{n} "t{n}" float32[1,{height},{width},{channels}]' for n, (height, width) in enumerate(shapes)]
    outputs = ", ".join(f"%{number}" for number in range(inputs, len(shapes)) if number not in read)
    return "\n".join([*tensors, f"inputs {', '.join(['%0', '%1'][:inputs])}", f"outputs {outputs}", *lines])


class Region(NamedTuple):
    """Elements of a buffer, and the first and the last step in which they hold data."""

    begin: int
    end: int
    first: int
    last: int


class Memory:
    """When each element of each buffer holds data: the steps, and within a step the turns of its kernel."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis, self.storage = analysis, analysis.storage
        self.steps = [*steps(analysis.schedule.root)]
        self.sizes = [buffer.size // WIDTH for buffer in self.storage.buffers]
        self.regions = [[*self._regions(buffer)] for buffer in range(len(self.sizes))]
        self.turns = [self._turns(step) for step in self.steps]

    def separations(self) -> dict[tuple[int, int], int]:
        """Return the distances of all pairs that may be closer than the size of the lower one."""
        pairs = permutations(range(len(self.sizes)), 2)
        near = {pair: max((self._distance(*pair, t) for t in self._common(*pair)), default=None) for pair in pairs}
        return {pair: each for pair, each in near.items() if each is not None and each < WIDTH * self.sizes[pair[0]]}

    def _common(self, *pair: int) -> set[int]:
        """Return the steps at which both buffers are alive."""
        one, other = ({t for life in self.analysis.lifetimes.intervals[b] for t in range(*life)} for b in pair)
        return one & other

    def _distance(self, below: int, above: int, t: int) -> int:
        """Return how many bytes `above` must at least begin after `below`, as far as one step is concerned."""
        (begin, end), (other_begin, other_end) = (self._holds(buffer, t) for buffer in (below, above))
        lower, upper = np.nonzero((begin[:, None] < other_end) & (other_begin < end[:, None]))
        return int((lower + 1 - upper).max(initial=-self.sizes[above])) * WIDTH

    def _holds(self, buffer: int, t: int) -> tuple[Turns, Turns]:
        """Return for each element the turns of a step from which and up to which it holds data."""
        begin, end = np.full(self.sizes[buffer], NEVER), np.full(self.sizes[buffer], -NEVER)
        for region in self.regions[buffer]:
            if region.first <= t <= region.last:
                where = slice(region.begin, region.end)
                begin[where], end[where] = -NEVER, NEVER
                written, read = (self.turns[t].get((buffer, writes)) for writes in (True, False))
                if region.first == t and written is not None:
                    begin[where] = written[where]
                if region.last == t and written is None and read is not None:
                    end[where] = read[where]
        return begin, end

    def _regions(self, buffer: int) -> Iterator[Region]:
        """Yield the rows of a tensor in one piece; else the buffer, once for each time that it holds data."""
        if buffer not in self.storage.edges:
            for start, stop in self.analysis.lifetimes.intervals[buffer]:
                yield Region(0, self.sizes[buffer], start, stop - 1)
            return
        length = self.sizes[buffer] // self.storage.edges[buffer]
        for begin in range(0, self.sizes[buffer], length):
            places = [
                (t, *place) for t, step in enumerate(self.steps) for v in step.values for place in self._places(v)
            ]
            touching = [t for t, other, first, last in places if other == buffer and first <= begin < last]
            yield Region(begin, begin + length, touching[0], touching[-1])

    def _places(self, value: Value) -> Iterator[tuple[int, int, int]]:
        """Yield the buffers of a value, and where it begins and ends in each."""
        for buffer in self.storage.buffers_of(value):
            if isinstance(value, RowRef) and buffer in self.storage.edges:
                length = self.sizes[buffer] // self.storage.edges[buffer]
                yield buffer, value.row * length, value.row * length + length
            else:
                begin = self.storage.offsets.get(value, 0) // WIDTH if isinstance(value, TensorRef) else 0
                yield buffer, begin, self.sizes[buffer]

    def _turns(self, step: Step) -> dict[tuple[int, bool], Turns]:
        """Return for each buffer that a step writes, and each that it reads, the turns that do so first, and last."""
        turns: dict[tuple[int, bool], Turns] = {}
        for turn, (operand, writes, elements) in enumerate(self._touches(step)):
            for value in self._values(step, operand):
                for buffer, begin, _ in self._places(value):
                    none = np.full(self.sizes[buffer], AT_LAST if writes else AT_ONCE)
                    of_buffer = turns.setdefault((buffer, writes), none)
                    where = [begin + element for element in elements]
                    of_buffer[where] = np.minimum(of_buffer[where], turn) if writes else turn
        return turns

    def _touches(self, step: Step) -> Iterator[tuple[Operand, bool, set[int]]]:
        """Yield what the turns of a step touch, in each of them what is read first; nothing where it is not declared.

        A job does the same with each row that it reads.
        """
        kernel = self.analysis.kernels.get(step.operator) if step.operator else None
        for call in kernel.towards(step.direction).calls if isinstance(kernel, Kernel) else ():
            is_job = step.job is not None
            accesses = call_accesses(replace(call, form=Whole()) if is_job else call)
            if accesses is not None and not (is_job and isinstance(call.form, Reduce)):
                for turn in trace(accesses):
                    for (operand, writes), bytes_ in sorted(turn.items(), key=lambda each: each[0][1]):
                        yield call.operands[operand], writes, {each // WIDTH for each in bytes_}

    def _values(self, step: Step, operand: Operand) -> list[Value]:
        """Return the values that an operand is; a job may read what it takes as a whole at any time."""
        assert step.operator is not None
        op = self.analysis.models[0].main.operators[step.operator.operator]
        match operand:
            case Input(position):
                tensor, values = op.inputs[position], step.reads
            case Output(position):
                tensor, values = op.outputs[position], (*step.writes, *step.updates)
            case _:
                return []
        rows = [v for v in values if isinstance(v, RowRef) and v.tensor.tensor == tensor]
        return rows if step.job is not None else [v for v in values if v == TensorRef(0, 0, tensor)]


@pytest.mark.parametrize("change", [shuffled, cut])
@pytest.mark.parametrize("seed", [*range(24), 49])  # in 49, a row that nobody reads lies over one that is read again
def test_separations_are_what_elements_need(seed: int, change: Callable[..., Analysis]) -> None:
    """With all rows in any order that is legal, and in stretches of up to three operators."""
    text = drawn(seed)
    replanner = Replanner.of(request("m"), (model(text),))
    analysis = change(replanner, replanner.analyze(), seed)
    assert analysis.problem.separations == Memory(analysis).separations(), text


THINNED = f"""
    %0 "x" float32[1,4,2,1]
    %1 "z" float32[1,4,2,1]
    %2 "a" float32[1,4,2,1]
    %3 "b" float32[1,2,1,1]
    %4 "c" float32[1,2,1,1]
    %5 "p" float32[1,4,2,1]
    %6 "q" float32[1,2,1,1]
    %7 "r" float32[1,2,1,1]
    inputs %0, %1
    outputs %5, %6, %7
    %2 = TANH(%1) @0
    %5 = TANH(%2) @1
    %3 = {THIN.format(a="%0")} @2
    %6 = TANH(%3) @3
    %4 = {THIN.format(a="%0").replace("MAX", "AVERAGE")} @4
    %7 = TANH(%4) @5
"""


def test_the_job_that_lets_a_pair_overlap_has_touched_the_tensor_last() -> None:
    """No job reads the last row of "x": what is alive before them, or between two, may lie over it.

    The third and the fourth operator take turns, the latter backward.
    """
    replanner = Replanner.of(request("m"), (model(THINNED),))
    whole = replanner.analyze()
    rows = all_rows(replanner, whole)
    operators = [OperatorRef(0, 0, number) for number in range(6)]
    choices = Choices({}, {}, rows).towards(operators[4:], Direction.BACKWARD)
    order = (0, 1) * 4 + (2, 3, 4, 5) * 2
    analysis = replanner.retime(replanner.retime(whole, choices), replace(choices, orders={0: order}))
    names = {buffer.name: number for number, buffer in enumerate(analysis.storage.buffers)}
    overlaps = [analysis.separations.pairs[names["m.x"], names[other]] for other in ("m.a[0]", "m.c[1]", "m.b[1]")]
    assert overlaps == [
        Separation(24, operators[2], Direction.FORWARD),
        Separation(24, operators[4], Direction.BACKWARD),
        Separation(8, operators[2], Direction.FORWARD),
    ]
