"""Copies become operators, each right before its first reader; and tables follow the operators that it moved.

    %7 = CONV_2D(%3, ...)                  %7 = CONV_2D(%3, ...)
    %8 = ADD(%7, %5)            →         %21 = COPY(%7)
    %9 = MUL(%7, %8)                       %8 = ADD(%21, %5)
                                           %9 = MUL(%21, %8)

A copy may take over the number of its source, which then gets the new one: so outputs of the subgraph, and tensors
that are pinned, keep theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, Tensor
from usmp_build.ir.scopes import COPY

_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True)
class NewCopy:
    """A copy that is wanted."""

    source: int
    """Tensor."""
    tensor: Tensor
    """What gets the new number: the copy, or what is computed instead of it."""
    readers: tuple[tuple[int | None, int], ...]
    """Operators and the positions of their inputs; None: the subgraph's output at the position."""
    takes_number: bool = False
    """Whether the copy takes over the number of its source, and what is computed gets the new one."""


@dataclass(frozen=True, slots=True)
class Made:
    """A copy that was inserted."""

    operator: int
    source: int
    """The tensor that it reads."""
    written: int
    """The tensor that it writes."""


@dataclass(frozen=True)
class Inserted:
    """A subgraph with copies, and what became of its parts."""

    graph: Subgraph
    moved: Mapping[int, int]
    """Operator → where it is now."""
    made: tuple[Made, ...]
    """For each copy that was wanted."""


def insert(graph: Subgraph, wanted: Sequence[NewCopy]) -> Inserted:
    """Insert copies."""
    count = len(graph.operators)
    fed: dict[tuple[int | None, int], int] = {}  # reader and position → the copy that it reads
    computed: dict[int, int] = {}  # copy that took over a number → the tensor that is computed instead
    due: dict[int, list[int]] = {}  # operator → the copies that are made right before it
    written = [new.source if new.takes_number else len(graph.tensors) + n for n, new in enumerate(wanted)]
    for number, new in enumerate(wanted):
        fed |= dict.fromkeys(new.readers, written[number])
        first = min((count if reader is None else reader for reader, _ in new.readers), default=count)
        due.setdefault(first, []).append(number)
        if new.takes_number:
            computed[new.source] = len(graph.tensors) + number
    operators: list[Operator] = []
    moved: dict[int, int] = {}
    made: dict[int, Made] = {}
    position = 1 + max((op.position for op in graph.operators), default=-1)
    for index in range(count + 1):
        for number in due.get(index, ()):
            source = computed.get(wanted[number].source, wanted[number].source)
            made[number] = Made(len(operators), source, written[number])
            operators.append(Operator(COPY, (source,), (written[number],), position=position + len(made) - 1))
        if index < count:
            moved[index] = len(operators)
            operators.append(_rewired(graph.operators[index], index, fed, computed))
    tensors = (*graph.tensors, *(new.tensor for new in wanted))
    outputs = tuple(fed.get((None, position), tensor) for position, tensor in enumerate(graph.outputs))
    after = replace(graph, tensors=tensors, operators=tuple(operators), outputs=outputs)
    return Inserted(after, moved, tuple(made[number] for number in range(len(wanted))))


def _rewired(
    op: Operator, index: int, fed: Mapping[tuple[int | None, int], int], computed: Mapping[int, int]
) -> Operator:
    """Let an operator read copies, and compute what these are made from."""
    inputs = tuple(
        None if t is None else fed.get((index, position), computed.get(t, t)) for position, t in enumerate(op.inputs)
    )
    return replace(op, inputs=inputs, outputs=tuple(computed.get(t, t) for t in op.outputs))


def carried(
    known: Mapping[OperatorRef, _Known], place: tuple[int, int], inserted: Inserted
) -> dict[OperatorRef, _Known]:
    """Return what is known of the operators of one subgraph, under the numbers that they have now."""
    moved = ((OperatorRef(*place, old), OperatorRef(*place, new)) for old, new in inserted.moved.items())
    return {now: known[was] for was, now in moved if was in known}
