"""States the rows of one subgraph as a question for `unify`: how long may those of each tensor in memory of pages be?

A "scope" is a length here.  The writer of a tensor and its separators must be satisfied; readers may get a copy with
other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Kernels
from usmp_build.interfaces.kernels import Input, Kernel, Operand, Output
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph
from usmp_build.ir.labels import operator_label, tensor_label
from usmp_build.ir.scopes import COPY
from usmp_build.passes.axes.rows import RowCut, marked, possible_rows
from usmp_build.passes.scopes.question import Edge, PoolQuestion
from usmp_build.request import PlaceRequest


class Reading(NamedTuple):
    """An operator that reads a tensor row by row."""

    operator: int
    position: int
    """Position of the input."""
    tensor: int
    pitch: int
    """Elements of the pieces that it reads; a row is a multiple."""


@dataclass
class PageQuestion:
    """A subgraph as a question; domains are `tensors`, then one port for each of `readings`."""

    place: tuple[int, int]
    """Model, subgraph."""
    graph: Subgraph
    kernels: Kernels
    tensors: tuple[int, ...]
    """The tensors in memory of pages, without views."""
    marks: Mapping[int, PlaceRequest]
    """Tensor → the rule that names its separators."""
    path: str
    """Path of the model file, for messages."""
    dims: Callable[[int], int]
    """Tensor → the number of axes of its memory."""
    readings: list[Reading] = field(default_factory=list, init=False)
    edges: list[Edge] = field(default_factory=list, init=False)
    deciders: list[str] = field(default_factory=list, init=False)
    """For each tensor what decides its rows, for messages."""

    def __post_init__(self) -> None:
        self._position = {tensor: position for position, tensor in enumerate(self.tensors)}
        self.allowed = [self._of_tensor(tensor) for tensor in self.tensors]
        self.deciders = [
            "its shape" if self.separators(tensor) is None else "its axis separators" for tensor in self.tensors
        ]
        for view, root in self.graph.roots.items():
            if view in self.marks and root in self._position:
                self._apply_view(view, root)
        operands = [item for index, op in enumerate(self.graph.operators) for item in self._operands(index, op)]
        for index, operand, tensor, pitch in operands:
            if isinstance(operand, Output):
                self._written(index, tensor, pitch)
        for index, operand, tensor, pitch in operands:
            if isinstance(operand, Input):
                self._read(index, operand, tensor, pitch)

    def question(self) -> PoolQuestion:
        """Return the question."""
        return PoolQuestion(self.allowed, edges=self.edges)

    def _operands(self, index: int, op: Operator) -> Iterator[tuple[int, Operand, int, int]]:
        """Yield the operands in memory of pages, each with the elements of a piece, which must divide its rows."""
        if op.kind == "VIEW":
            return
        kernel = self.kernels.get(OperatorRef(*self.place, index))
        pitches = kernel.row_pitches() if isinstance(kernel, Kernel) else {}
        for side, tensors in ((Input, op.inputs), (Output, op.outputs)):
            for position, tensor in enumerate(tensors):
                root = None if tensor is None else self.graph.roots.get(tensor, tensor)
                if root in self._position:
                    operand = side(position)
                    yield index, operand, root, 1 if op.kind == COPY else pitches.get(operand, 1)

    def _of_tensor(self, tensor: int) -> frozenset[int]:
        paged_tensor = self.graph.tensors[tensor]
        separators = self.separators(tensor)
        if separators is None:
            return frozenset(possible_rows(paged_tensor))
        cut = self.cut(tensor, separators)
        if isinstance(cut, RowCut):
            return frozenset({cut.elements})
        rule, dims = self.marks.get(tensor), self.dims(self.graph.roots.get(tensor, tensor))
        message = f"{self._label(tensor)} has the shape {list(paged_tensor.shape)}: {cut}"
        most = "one axis" if dims == 2 else f"at most {dims - 1} axes"
        help_ = f"name {most}, from 0 to the rank: what comes after the last one is a row"
        raise ManifestError(Diagnostic("P331", message, self.path if rule is None else rule.span, help_))

    def separators(self, tensor: int) -> tuple[int, ...] | None:
        """Return the axis separators that a rule or the model gives for a tensor; None: neither does."""
        rule = self.marks.get(tensor)
        return self.graph.tensors[tensor].axis_separators if rule is None else rule.axis_separators

    def cut(self, tensor: int, separators: tuple[int, ...]) -> RowCut | str:
        """Return the rows of a tensor cut at separators, or a clause that says why that is impossible."""
        try:
            return marked(self.graph.tensors[tensor], separators, self.dims(self.graph.roots.get(tensor, tensor)))
        except ValueError as reason:
            return str(reason)

    def _apply_view(self, view: int, root: int) -> None:
        position = self._position[root]
        row = min(self._of_tensor(view))
        if root in self.marks and row not in self.allowed[position]:
            message = f"{self._label(root)} and its view, {self._label(view)}, have axis separators for different rows"
            raise ManifestError(Diagnostic("P331", message, self.marks[view].span, "name those of one of them"))
        self.allowed[position] = frozenset({row})
        self.deciders[position] = f"the axis separators of its view, {self._label(view)}"

    def _written(self, index: int, tensor: int, pitch: int) -> None:
        position = self._position[tensor]
        divisible = frozenset(row for row in self.allowed[position] if row % pitch == 0)
        if not divisible:
            raise self._disagreement(tensor, index, "writes", pitch)
        if divisible != self.allowed[position]:
            self.deciders[position] = f"{self._operator(index)}, which writes it"
        self.allowed[position] = divisible

    def _read(self, index: int, operand: Input, tensor: int, pitch: int) -> None:
        port = frozenset(row for row in possible_rows(self.graph.tensors[tensor]) if row % pitch == 0)
        if pitch > 1:
            self.edges.append(Edge(self._position[tensor], len(self.allowed)))
            self.readings.append(Reading(index, operand.position, tensor, pitch))
            self.allowed.append(port)

    def refusal(self, reading: Reading) -> ManifestError:
        """Return the error that a reader needs a copy with other rows, which the manifest does not allow."""
        return self._disagreement(reading.tensor, reading.operator, "reads", reading.pitch)

    def _disagreement(self, tensor: int, operator: int, verb: str, pitch: int) -> ManifestError:
        position = self._position[tensor]
        rows = " or ".join(map(str, sorted(self.allowed[position])))
        message = f"{self._label(tensor)} has rows of {rows} elements by {self.deciders[position]}, but "
        message += f"{self._operator(operator)} {verb} pieces of {pitch}, into which these do not divide"
        rule = self.marks.get(tensor)
        ways = ["name other axis separators"] if rule else []
        ways += ["write `layout_copies = true` in [plan]"] if verb == "reads" else []
        help_ = "; or ".join([*ways, "let it live in plain memory"])
        return ManifestError(Diagnostic("P332", message, self.path if rule is None else rule.span, help_))

    def _label(self, tensor: int) -> str:
        return tensor_label(self.place[1], tensor, self.graph.tensors[tensor].name)

    def _operator(self, index: int) -> str:
        op = self.graph.operators[index]
        return operator_label(self.place[1], op.position, op.kind)
