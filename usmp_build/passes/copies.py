"""Inserts COPY operators, each right before its first reader, and renumbers tables for the operators that move.

    %7 = CONV_2D(%3, ...)                  %7 = CONV_2D(%3, ...)
    %8 = ADD(%7, %5)            →         %21 = COPY(%7)
    %9 = MUL(%7, %8)                       %8 = ADD(%21, %5)
                                           %9 = MUL(%21, %8)

A copy may take over the number of its source, which then gets the new one: so outputs of the subgraph and pinned
tensors keep theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, Tensor
from usmp_build.ir.scopes import COPY

_Value = TypeVar("_Value")


@frozen
class NewCopy:
    """A copy to be inserted."""

    source: int
    """Tensor."""
    tensor: Tensor
    """The tensor that gets the new number: the copy, or the source whose number the copy takes over."""
    readers: tuple[tuple[int | None, int], ...]
    """Operators, each with the position of the input that reads the copy; None: the subgraph's output there."""
    takes_number: bool = False
    """Whether the copy takes over the number of its source, which then gets the new one."""
    view_of: int | None = None
    """The position of an earlier copy whose bytes this one shows: then it stands for another view of the same bytes,
    and nothing is copied again."""


@frozen
class InsertedCopy:
    """A copy that was inserted."""

    operator: int
    source: int
    """The tensor that it stands for; a COPY reads it."""
    written: int
    """The tensor that it writes."""
    is_view: bool = False
    """Whether it is a view of another copy."""


@frozen
class Inserted:
    """A subgraph with copies inserted."""

    graph: Subgraph
    moved: Mapping[int, int]
    """Old index of an operator → new index."""
    all: tuple[InsertedCopy, ...]
    """One for each requested copy, in that order."""

    @property
    def copies(self) -> tuple[InsertedCopy, ...]:
        """Those that copy bytes, and are no views of others."""
        return tuple(each for each in self.all if not each.is_view)

    @property
    def views(self) -> tuple[InsertedCopy, ...]:
        """Those that show the bytes of another copy."""
        return tuple(each for each in self.all if each.is_view)


def insert(graph: Subgraph, wanted: Sequence[NewCopy]) -> Inserted:
    """Return `graph` with these copies inserted."""
    count = len(graph.operators)
    fed: dict[tuple[int | None, int], int] = {}  # reader and position → the copy that it reads
    computed: dict[int, int] = {}  # copy that took over a number → the new number of its source
    written = [new.source if new.takes_number else len(graph.tensors) + n for n, new in enumerate(wanted)]
    for number, new in enumerate(wanted):
        fed |= dict.fromkeys(new.readers, written[number])
        if new.takes_number:
            computed[new.source] = len(graph.tensors) + number
    due = _due(wanted, count)
    operators: list[Operator] = []
    moved: dict[int, int] = {}
    copies_by_number: dict[int, InsertedCopy] = {}
    position = 1 + max((op.position for op in graph.operators), default=-1)
    for index in range(count + 1):
        for number in due.get(index, ()):
            source, view_of = computed.get(wanted[number].source, wanted[number].source), wanted[number].view_of
            kind, read = (COPY, source) if view_of is None else ("VIEW", written[view_of])
            copies_by_number[number] = InsertedCopy(len(operators), source, written[number], view_of is not None)
            operators.append(Operator(kind, (read,), (written[number],), position=position + len(copies_by_number) - 1))
        if index < count:
            moved[index] = len(operators)
            operators.append(_rewired(graph.operators[index], index, fed, computed))
    tensors = (*graph.tensors, *(new.tensor for new in wanted))
    outputs = tuple(fed.get((None, position), tensor) for position, tensor in enumerate(graph.outputs))
    after = replace(graph, tensors=tensors, operators=tuple(operators), outputs=outputs)
    return Inserted(after, moved, tuple(copies_by_number[number] for number in range(len(wanted))))


def _due(wanted: Sequence[NewCopy], count: int) -> dict[int, list[int]]:
    """Return operator → the copies right before its first reader, each followed by those that show its bytes."""
    views: dict[int, list[int]] = {}
    for number, new in enumerate(wanted):
        if new.view_of is not None:
            views.setdefault(new.view_of, []).append(number)
    due: dict[int, list[int]] = {}
    for number, new in enumerate(wanted):
        if new.view_of is None:
            group = [number, *views.get(number, ())]
            readers = [reader for each in group for reader, _ in wanted[each].readers]
            first = min((count if reader is None else reader for reader in readers), default=count)
            due.setdefault(first, []).extend(group)
    return due


def _rewired(
    op: Operator, index: int, fed: Mapping[tuple[int | None, int], int], computed: Mapping[int, int]
) -> Operator:
    inputs = tuple(
        None if t is None else fed.get((index, position), computed.get(t, t)) for position, t in enumerate(op.inputs)
    )
    return replace(op, inputs=inputs, outputs=tuple(computed.get(t, t) for t in op.outputs))


def carried(
    table: Mapping[OperatorRef, _Value], place: tuple[int, int], inserted: Inserted
) -> dict[OperatorRef, _Value]:
    """Return a table of the operators of one subgraph, keyed by their new numbers."""
    moved = ((OperatorRef(*place, old), OperatorRef(*place, new)) for old, new in inserted.moved.items())
    return {new: table[old] for old, new in moved if old in table}
