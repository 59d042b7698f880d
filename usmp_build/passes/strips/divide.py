"""Divides stages of a model into strips of columns: the operators of a stage run once for each strip.

    a stage              strip 0                                strip 1
    x ─ conv ─ conv ─ y  SLICE x[0:6] ─ conv ─ conv ─ y[0:4]    SLICE x[2:8] ─ conv ─ conv ─ y[4:8]    CONCATENATION y

Tensors within a strip are as narrow as it is, with the columns beside it that its operators need.  The strip next to it
computes these, too.  Operators and tensors of strips are numbered on from the last ones of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Options
from usmp_build.ir.rewritten import Rewritten, Stage, Strip
from usmp_build.operators.joining import Concatenation
from usmp_build.passes.rewrite.work import with_saving
from usmp_build.passes.strips.columns import ACROSS, Columns, columns, hull, spans


def in_strips(rewritten: Rewritten, stages: Sequence[Stage]) -> Rewritten:
    """Return a model with these stages in strips; what it computes stays the same."""
    if not stages:
        return rewritten
    model, record = rewritten
    main = _Divided(model.main)
    begun = {stage.first: stage for stage in stages}
    divided = {index for stage in stages for index in range(stage.first, stage.stop)}
    for index, op in enumerate(model.main.operators):
        if index in begun:
            main.add(begun[index])
        elif index not in divided:
            main.operators.append(op)
    graph = replace(model.main, tensors=tuple(main.tensors), operators=tuple(main.operators))
    after = replace(model, subgraphs=(graph, *model.subgraphs[1:]))
    positions = [op.position for op in model.main.operators]
    ends = tuple((positions[stage.first], positions[stage.stop - 1], stage.strips) for stage in stages)
    counted = with_saving("strips", record, model, after)
    gone = dict.fromkeys(((0, tensor) for tensor in main.gone), "strips")
    removed = {**record.removed, **gone}
    return Rewritten(
        after, replace(counted, removed=removed, strips=main.strips, strip_operators=main.numbers, stages=ends)
    )


class _Divided:
    """The subgraph as far as it is divided."""

    def __init__(self, graph: Subgraph) -> None:
        self._graph = graph
        self.tensors = list(graph.tensors)
        self.operators: list[Operator] = []
        self.strips: dict[int, Strip] = {}
        self.numbers: dict[int, int] = {}
        """Position of an operator of a strip → that of the operator of the file."""
        self.gone: list[int] = []
        """Tensors that only strips have."""
        self._positions = count(1 + max(op.position for op in graph.operators))

    def add(self, stage: Stage) -> None:
        """Add the operators of each strip of a stage, and one that joins their results."""
        last = self._graph.operators[stage.stop - 1]
        width = self._graph.tensors[last.outputs[0]].shape[ACROSS]
        ways = {index: columns(self._graph.operators[index], self._graph) for index in range(stage.first, stage.stop)}
        sure = {index: way for index, way in ways.items() if way is not None}
        results = tuple(self._add_strip(stage, sure, span) for span in spans(width, stage.strips))
        self.gone += (self._graph.operators[index].outputs[0] for index in range(stage.first, stage.stop - 1))
        self._run("CONCATENATION", results, last.outputs[0], Concatenation(ACROSS))

    def _add_strip(self, stage: Stage, ways: Mapping[int, Columns], result: range) -> int:
        """Add the operators that compute these columns of the stage's result, and return the tensor with them."""
        needed = self._needed(stage, ways, result)
        narrow: dict[int, int] = {}
        cuts: dict[Strip, int] = {}
        for index in range(stage.first, stage.stop):
            op, way = self._graph.operators[index], ways[index]
            output = op.outputs[0]
            inputs = [*op.inputs]
            for position in way.images:
                source = op.inputs[position]
                assert source is not None
                there = needed[source] if source in narrow else range(self._graph.tensors[source].shape[ACROSS])
                wanted = Strip(source, way.needed(position, needed[output]))
                if wanted not in cuts:  # several operators may want the same columns
                    cuts[wanted] = self._cut(there, narrow.get(source, source), wanted)
                inputs[position] = cuts[wanted]
            narrow[output] = self._narrow(Strip(output, needed[output]))
            options = way.of_strip(op.options, needed[output])
            self.numbers[self._run(op.kind, inputs, narrow[output], options)] = op.position
        return narrow[self._graph.operators[stage.stop - 1].outputs[0]]

    def _needed(self, stage: Stage, ways: Mapping[int, Columns], result: range) -> dict[int, range]:
        """Return the columns of each tensor of a stage that these of its result need."""
        needed = {self._graph.operators[stage.stop - 1].outputs[0]: result}
        for index in reversed(range(stage.first, stage.stop)):
            op, way = self._graph.operators[index], ways[index]
            for position in way.images:
                source = op.inputs[position]
                assert source is not None
                mine = way.needed(position, needed[op.outputs[0]])
                needed[source] = hull(mine, needed.get(source, mine))
        return needed

    def _run(self, kind: str, inputs: Sequence[int | None], output: int, options: Options | None = None) -> int:
        """Add an operator, and return its position."""
        position = next(self._positions)
        self.operators.append(Operator(kind, tuple(inputs), (output,), options, position))
        return position

    def _cut(self, there: range, tensor: int, wanted: Strip) -> int:
        """Return a tensor with fewer columns than are there, which a SLICE makes; the same one where all are wanted."""
        if there == wanted.columns:
            return tensor
        begins, sizes = [0] * 4, [*self.tensors[tensor].shape]
        begins[ACROSS], sizes[ACROSS] = wanted.columns.start - there.start, len(wanted.columns)
        cut = self._narrow(wanted)
        self._run("SLICE", (tensor, self._integers(begins), self._integers(sizes)), cut)
        return cut

    def _narrow(self, strip: Strip) -> int:
        """Add a tensor with some columns of another one."""
        whole, span = self._graph.tensors[strip.whole], strip.columns
        shape = (*whole.shape[:ACROSS], len(span), *whole.shape[ACROSS + 1 :])
        tensor = self._add(replace(whole, name=f"{whole.name} [{span.start}:{span.stop}]", shape=shape))
        self.strips[tensor] = strip
        return tensor

    def _integers(self, numbers: Sequence[int]) -> int:
        return self._add(Tensor("columns", (len(numbers),), DType.INT32, data=np.array(numbers, "<i4").tobytes()))

    def _add(self, tensor: Tensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1
