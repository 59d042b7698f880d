"""Cuts a model into segments: operators that follow each other, and that one interpreter runs as a model of their own.

Each operator is to be judged on the inputs that ours had.  What TensorFlow Lite Micro computes is ours, so that it may
run many in a row; behind an operator whose result may differ, a segment ends, and the next one goes on with ours:

    x → CONV_2D → y → GELU → z → ADD → w       TensorFlow Lite Micro: x → y and z → w; LiteRT, which has GELU: y → z

Operators that share state are in one segment, with all between them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.importers.tflite import read_tflite, resizes
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.labels import operator_label
from usmp_build.ir.variables import handles, run_by, unassigned
from usmp_build.selftest.oracle_process import TFLM
from usmp_build.selftest.undefined import may_shift_too_far
from usmp_build.tflm.cut import Cuts

_BY_NAME = -1
"""Stands for all variables that operators access by name: they begin with what one operator assigns, CALL_ONCE."""


@frozen
class Segment:
    """Operators by their positions; all other numbers are tensors."""

    package: str
    """That of the interpreter."""
    operators: Sequence[int]
    inputs: Sequence[tuple[int, Sequence[int] | None]]
    """With the shapes that it wants; None: any."""
    tensors: Sequence[int]
    """Those to answer with."""
    front: str = ""
    """What in front of the file makes a model of it, in hexadecimal; nothing for the whole model."""
    label: str = ""
    """Its operators, for messages."""


class File:
    """A .tflite file, and how it may be cut."""

    def __init__(self, data: bytes) -> None:
        self._model = read_tflite(data, "")
        self._cuts = Cuts(data)
        self._resizes = resizes(data)
        self.main = main = self._model.main
        nothing = set(unassigned(self._model))
        names = [self._names(op) for op in main.operators]
        is_undefined = [not nothing.isdisjoint(each) for each in names]
        self.undefined = {
            tensor: _initial(main.tensors[tensor])
            for op, is_so in zip(main.operators, is_undefined, strict=True)
            for tensor in op.outputs
            if is_so and main.tensors[tensor].dtype.numpy
        }
        """Tensors that are made of variables that nothing assigns, as the generated code has them."""
        defined = [index for index, is_so in enumerate(is_undefined) if not is_so]
        self.units = _units({i: [*self._variables(i), *([_BY_NAME] if names[i] else [])] for i in defined})
        """Operators that cannot be separated, by their positions, in order."""

    @property
    def is_defined(self) -> bool:
        """Whether the results of all operators are defined, whatever the inputs are."""
        ops = self.main.operators
        return not self.undefined and not any(may_shift_too_far(op, self.main) for op in ops)

    @property
    def is_misread(self) -> bool:
        """Whether TensorFlow Lite Micro would read or write beyond tensors, and must not be asked."""
        return any(map(self._is_misread, self.main.operators))

    def trials(self) -> list[str]:
        """Return the front of each unit; nothing for those that TensorFlow Lite Micro must not be asked about."""
        units = ((unit, any(self._is_misread(self.main.operators[index]) for index in unit)) for unit in self.units)
        return ["" if is_misread else self._segment(TFLM, unit, ()).front for unit, is_misread in units]

    def segments(self, accepted: Sequence[bool], other: str, wanted: Collection[int]) -> list[Segment]:
        """Return segments of the units that TensorFlow Lite Micro accepts, and one for each other unit.

        Each answers with the tensors that are wanted, or that other segments read.
        """
        groups: list[tuple[str, list[int]]] = []
        is_open = False
        for unit, is_accepted in zip(self.units, accepted, strict=True):
            if is_open and is_accepted:
                groups[-1][1].extend(unit)
            else:
                groups.append((TFLM if is_accepted else other, list(unit)))
            is_open = is_accepted and not self.may_shift_too_far(unit)
        drafts = [self._segment(package, operators, ()) for package, operators in groups]
        read = {*wanted, *(tensor for draft in drafts for tensor, _ in draft.inputs)}
        for op in self.may_shift_too_far(range(len(self.main.operators))):
            read.update(t for t in (*op.inputs, *op.outputs) if t is not None)
        return [self._segment(draft.package, draft.operators, read) for draft in drafts]

    def may_differ(self, segment: Segment) -> bool:
        """Return whether results may differ from ours, so that what follows goes on with ours."""
        return segment.package != TFLM or bool(self.may_shift_too_far(segment.operators))

    def may_shift_too_far(self, operators: Sequence[int]) -> list[Operator]:
        """Return those of these operators whose quotients may be undefined."""
        ops = [self.main.operators[index] for index in operators]
        return [op for op in ops if may_shift_too_far(op, self.main)]

    def _segment(self, package: str, operators: Sequence[int], read: Collection[int]) -> Segment:
        ops, tensors = [self.main.operators[index] for index in operators], self.main.tensors
        written = [t for op in ops for t in op.outputs if tensors[t].dtype is not DType.RESOURCE]
        operands = dict.fromkeys(t for op in ops for t in op.inputs if t is not None)
        variables = {t for index in operators for t in self._variables(index)}
        inside = variables.union(*(op.outputs for op in ops))
        inputs = [(t, tensors[t].shape) for t in operands if t not in inside and not tensors[t].is_constant]
        front = self._cuts.front(operators, [t for t, _ in inputs], written, run_by(self._model, *ops))
        answers = sorted(variables.union(written).intersection(read))
        return Segment(package, operators, inputs, answers, front.hex(), self.label(operators))

    def _names(self, op: Operator) -> set[str]:
        """Return the variables that an operator accesses by name, or what it calls."""
        here, graphs = handles(self.main), (self._model.subgraphs[index] for index in run_by(self._model, op))
        operands = {here[t] for t in (*op.inputs, *op.outputs) if t in here}
        return operands.union(*(handles(graph).values() for graph in graphs))

    def _variables(self, index: int) -> list[int]:
        """Return the tensors among the operands of an operator that keep their values."""
        op = self.main.operators[index]
        return [t for t in (*op.inputs, *op.outputs) if t is not None and self.main.tensors[t].is_variable]

    def _is_misread(self, op: Operator) -> bool:
        """Tell whether TensorFlow Lite Micro takes weights of int8 for floats, or resizes tensors in loops."""
        called = [self._model.subgraphs[index] for index in run_by(self._model, op)]
        inner = [(self.main, op), *((graph, each) for graph in called for each in graph.operators)]
        return (self._resizes and bool(called)) or any(_is_dynamic_lstm(each, graph) for graph, each in inner)

    def label(self, operators: Sequence[int]) -> str:
        """Return the name of operators that follow each other in messages."""
        first = operator_label(0, operators[0], self.main.operators[operators[0]].kind)
        return first + f" to {operators[-1]}" * (len(operators) > 1)


def _initial(tensor: Tensor) -> NDArray[Any]:
    """Return what is in a variable that nothing assigns."""
    kind = np.dtype(tensor.dtype.numpy)
    points = tensor.quantization.zero_points if tensor.quantization else ()
    byte = points[0] & 0xFF if points else 0
    return np.full(tensor.elements * kind.itemsize, byte, np.uint8).view(kind).reshape(tensor.shape)


def _is_dynamic_lstm(op: Operator, graph: Subgraph) -> bool:
    types = {graph.tensors[t].dtype for t in op.inputs[:3] if t is not None}
    return op.kind == "UNIDIRECTIONAL_SEQUENCE_LSTM" and types == {DType.FLOAT32, DType.INT8}


def _units(states: dict[int, list[int]]) -> list[list[int]]:
    """Group operators so that what shares state is in one group; `states` has what each of them shares."""
    last = {state: index for index, each in states.items() for state in each}
    units: list[list[int]] = []
    end = -1
    for index, each in states.items():
        if index > end:
            units.append([])
        units[-1].append(index)
        end = max(end, index, *(last[state] for state in each))
    return units
