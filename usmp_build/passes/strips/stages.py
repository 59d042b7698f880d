"""Estimates which stages of a model are worth strips: dynamic programming over its cuts.

A cut is where one tensor is all that later operators read, and it is in memory as a whole.  Between two cuts a stage
goes from row to row, in one strip or in several; of each tensor inside, as many rows wait as its readers lag behind.

    cuts        |                 |              |
    operators   | conv conv conv  |  conv conv   |  conv ...
    strips             3                1             1

More strips take less for the rows that wait, and more multiplications for the columns beside each strip.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import NamedTuple

from usmp_build import effort
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.ir.rewritten import Rewritten, Stage
from usmp_build.passes.assign import CALLER
from usmp_build.passes.rewrite.pins import Pins
from usmp_build.passes.rewrite.work import macs, operator_macs
from usmp_build.passes.strips.columns import ACROSS, Columns, columns, hull, spans

_STRIPS = (1, 2, 3, 4, 6, 8, 12, 16)
_FAR = 1 << 20
"""A row far from the first one, where no row is missing above."""


class Division(NamedTuple):
    """Stages in strips, and an estimate of what the model takes with them."""

    peak: int
    """Bytes alive at the fullest moment."""
    macs: int
    """Multiplications, also those of columns that are computed again."""
    rows: int = 0
    """Rows of tensors within stages."""
    stages: tuple[Stage, ...] = ()
    """Those with several strips."""


def divisions(rewritten: Rewritten, pins: Pins, most: Fraction) -> list[Division]:
    """Return the divisions that take least for their multiplications, at most `most` more of these; fewest first.

    `pins` are those of the model.  Tensors in arrays of the caller take nothing.
    """
    graph = rewritten.model.main
    limit = int(macs(graph) * (1 + most))
    held = frozenset(tensor for (_, tensor), pools in pins.tensors.items() if pools == {CALLER})
    ways = {index: way for index, op in enumerate(graph.operators) if (way := _way(op, rewritten, pins))}
    kept = frozenset(tensor for tensor in range(len(graph.tensors)) if tensor in graph.outputs or pins.keeps(0, tensor))
    cuts = list(_cuts(graph))
    to_cut = {0: [Division(0, 0)]}
    for start, stop in pairwise(cuts):
        reached = [_then(before, _whole(graph, held, start, stop)) for before in to_cut[start]]
        for first, stage in _stages(graph, ways, held, kept, stop, limit):
            reached += [_then(before, stage) for before in to_cut.get(first, ())]
        to_cut[stop] = _least(each for each in reached if each.macs <= limit and each.rows <= effort.STRIP_ROWS)
    return to_cut[cuts[-1]]


def _then(before: Division, stage: Division) -> Division:
    rows, stages = before.rows + stage.rows, before.stages + stage.stages
    return Division(max(before.peak, stage.peak), before.macs + stage.macs, rows, stages)


def _least(reached: Iterator[Division]) -> list[Division]:
    """Return those for which no other one takes less of one thing, and no more of the other."""
    kept: list[Division] = []
    for each in sorted(reached, key=lambda each: (each.macs, each.peak, len(each.stages))):
        if not kept or each.peak < kept[-1].peak:
            kept.append(each)
    return kept


def _cuts(graph: Subgraph) -> Iterator[int]:
    """Yield 0, the numbers of operators before which the last one's output alone is alive, and that after the last."""
    last_reader = dict.fromkeys(graph.outputs, len(graph.operators))
    for index, op in enumerate(graph.operators):
        last_reader |= {t: max(index, last_reader.get(t, 0)) for t in op.inputs if t is not None}
    yield 0
    alive = set(graph.inputs)
    for index, op in enumerate(graph.operators, 1):
        alive = {tensor for tensor in alive.union(op.outputs) if last_reader.get(tensor, -1) >= index}
        if alive == {*op.outputs[:1]} or index == len(graph.operators):
            yield index


def _way(op: Operator, rewritten: Rewritten, pins: Pins) -> Columns | None:
    """Return how an operator goes across images; None if it needs whole rows, or must stay as it is."""
    turned = any((0, tensor) in rewritten.record.axes for tensor in (*op.inputs, *op.outputs) if tensor is not None)
    is_free = pins.may_change(0, op) and not pins.targets.get((0, op.position)) and not turned
    return columns(op, rewritten.model.main) if is_free else None


def _images(op: Operator, graph: Subgraph) -> set[int]:
    return {t for t in (*op.inputs, *op.outputs) if t is not None and not graph.tensors[t].is_constant}


def _whole(graph: Subgraph, held: frozenset[int], start: int, stop: int) -> Division:
    """Return what operators take that run as a whole."""
    operators = graph.operators[start:stop]
    touched = {tensor for op in operators for tensor in _images(op, graph)} - held
    return Division(sum(graph.tensors[t].size for t in touched), sum(operator_macs(op, graph) for op in operators))


def _stages(
    graph: Subgraph, ways: dict[int, Columns], held: frozenset[int], kept: frozenset[int], stop: int, limit: int
) -> Iterator[tuple[int, Division]]:
    """Yield the first operators of stages that end before `stop`, and these, with each number of strips."""
    if stop - 1 not in ways:
        return
    width = ways[stop - 1].width
    for strips in (each for each in _STRIPS if each <= width):
        stage = _Stage(graph, held, stop, spans(width, strips))
        for first in reversed(range(stop)):
            if first not in ways or not stage.may_begin_with(first, kept) or stage.macs > limit:
                break
            stage.begin_with(first, ways[first])
            yield first, stage.division(first)


class _Stage:
    """A stage that grows by one operator after another, from the last one to the first."""

    def __init__(self, graph: Subgraph, held: frozenset[int], stop: int, of_result: list[range]) -> None:
        self.macs = 0
        self._graph = graph
        self._held = held
        self._stop = stop
        self._strips = len(of_result)
        self._result = graph.operators[stop - 1].outputs[0]
        self._read = {self._result}
        """Tensors that no operator of the stage writes, so far."""
        self._spans = {self._result: of_result}
        """The columns of each tensor that each strip has."""
        self._newest = {self._result: _FAR}
        self._oldest: dict[int, int] = {}
        """Of each tensor the last row that one row of the result needs, and the first row that the next one does."""
        self._waiting = 0
        self._busiest = 0
        self._rows = 0

    def may_begin_with(self, index: int, kept: frozenset[int]) -> bool:
        """Tell whether only the stage reads what an operator computes; tensors that are kept are in one piece."""
        result = self._graph.operators[index].outputs[0]
        return result in self._read and (result == self._result or result not in kept)

    def begin_with(self, index: int, way: Columns) -> None:
        """Add the operator before the first one."""
        op = self._graph.operators[index]
        result = op.outputs[0]
        of_strips = self._spans[result]
        self.macs += operator_macs(op, self._graph) * sum(map(len, of_strips)) // way.width
        self._read.remove(result)
        self._waiting += self._waiting_of(result)
        self._rows += self._strips * self._high(result)
        used = 0 if result == self._result else self._row(result)
        for position in way.images:
            tensor = op.inputs[position]
            assert tensor is not None
            needed = [way.needed(position, each) for each in of_strips]
            self._spans[tensor] = [hull(*each) for each in zip(needed, self._spans.get(tensor, needed), strict=True)]
            last, first = way.rows_between(self._newest[result])
            self._newest[tensor] = max(last, self._newest.get(tensor, last))
            self._oldest[tensor] = min(first, self._oldest.get(tensor, first))
            self._read.add(tensor)
            used += self._row(tensor) * way.rows_taken
        self._busiest = max(self._busiest, used)

    def division(self, first: int) -> Division:
        """Return the estimate for the stage as it is."""
        tensors = self._graph.tensors
        whole = sum(tensors[tensor].size for tensor in {*self._read, self._result} - self._held)
        cut = sum(self._waiting_of(tensor) for tensor in self._read) if self._strips > 1 else 0
        rows = self._rows + sum(self._strips * self._high(tensor) for tensor in self._read) * (self._strips > 1)
        stages = (Stage(first, self._stop, self._strips),) if self._strips > 1 else ()
        return Division(whole + cut + self._waiting + self._busiest, self.macs, rows, stages)

    def _waiting_of(self, tensor: int) -> int:
        """Return the bytes of rows that wait, in a strip with columns beside it on both sides."""
        rows = 0 if tensor == self._result else self._newest[tensor] - self._oldest[tensor] + 1
        return max(0, min(rows, self._high(tensor))) * self._row(tensor)

    def _row(self, tensor: int) -> int:
        each, pixels = self._graph.tensors[tensor], prod(self._image(tensor))
        return each.size // pixels * len(self._spans[tensor][self._strips // 2])

    def _high(self, tensor: int) -> int:
        return self._image(tensor)[0]

    def _image(self, tensor: int) -> tuple[int, ...]:
        """Return rows and columns; what a MEAN makes may be a vector, which has one of each."""
        shape = self._graph.tensors[tensor].shape
        return shape[1 : ACROSS + 1] if len(shape) > ACROSS + 1 else (1, 1)
