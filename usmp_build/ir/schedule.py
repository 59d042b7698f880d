"""What runs when: a small structured program over all models of the firmware.

An operator is a leaf `Step`.  Control flow keeps its structure, because lifetimes depend on it: the arms of a
branch exclude each other, and only what is carried round a loop lives for the whole loop.

Models that never run together simply follow one another.  Walking the program in order and counting every leaf
(a shared body once for each call) gives the timeline 0, 1, 2, ... on which lifetimes are measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from usmp_build.ir.graph import OperatorRef, TensorRef


@dataclass(frozen=True, slots=True)
class Step:
    """A leaf: one thing that runs from beginning to end, here mostly one operator.

    `reads` and `writes` are in access order; a tensor that is written is written as a whole.
    """

    name: str
    model: int
    reads: tuple[TensorRef, ...] = ()
    writes: tuple[TensorRef, ...] = ()
    operator: OperatorRef | None = None
    """None for what the schedule itself adds: entering and leaving a model, copies to and from a subgraph."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """One node after the other."""

    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Exactly one of the arms runs."""

    arms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`test` runs, then `body` and `test` again, any number of times: `while (test()) body();`."""

    test: Node
    body: Node


@dataclass(frozen=True, slots=True)
class Call:
    """The body of a subgraph, run in this place.  All calls of one subgraph share its tensors."""

    callee: str
    body: Node


Node: TypeAlias = Step | Sequence | Branch | Loop | Call


@dataclass(frozen=True, slots=True)
class Schedule:
    """One program for each model, one after the other on the timeline."""

    programs: tuple[Sequence, ...]
    starts: tuple[int, ...]
    """The first step of each program, and the end of the timeline."""

    @property
    def root(self) -> Sequence:
        """Everything as one node."""
        return Sequence(self.programs)

    @property
    def length(self) -> int:
        """The number of steps."""
        return self.starts[-1]


def steps(node: Node) -> Iterator[Step]:
    """Walk the leaves of a node in timeline order."""
    stack: list[Node] = [node]
    while stack:
        match stack.pop():
            case Step() as step:
                yield step
            case Sequence(body):
                stack += reversed(body)
            case Branch(arms):
                stack += reversed(arms)
            case Loop(test, body):
                stack += (body, test)
            case Call(_, body):
                stack.append(body)
