"""The schedule: a small structured program over all models of the firmware, which defines the timeline.

An operator, one row of it, or a statement of a program, is a leaf `Step`.  Control flow keeps its structure, because
lifetimes depend on it: the arms of a branch exclude each other, only values carried from round to round live for the
whole loop, and parallel rounds are alive together.  An operator with scratch is a call whose body begins a `Scope`.

Models that never run together simply follow one another.  Walking the schedule in order and counting every leaf
(a shared body once for each call) gives the timeline 0, 1, 2, ... on which lifetimes are measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple, TypeAlias

from usmp_build.frozen import frozen
from usmp_build.ir.graph import OperatorRef, TensorRef


class ScratchRef(NamedTuple):
    """A scratch buffer of an operator's kernel, by its position in the kernel's list."""

    operator: OperatorRef
    position: int


class RowRef(NamedTuple):
    """A row of a tensor that operators read and write row by row, or where it has moved to."""

    tensor: TensorRef
    row: int
    """The number of its place in the table of rows: those from the number of rows on are of rows that have moved."""


Value: TypeAlias = TensorRef | ScratchRef | RowRef


class Direction(Enum):
    """The direction in which a kernel goes through its output."""

    FORWARD = "forward"
    BACKWARD = "backward"
    EITHER = "either"
    """Undecided: such a schedule gives bounds only, no C."""


@frozen
class Step:
    """A leaf, which runs from beginning to end: an operator, one row of it, or a statement.

    `reads`, `writes` and `updates` are in access order.  Tensors in `writes` are overwritten completely; those in
    `updates` keep the bytes that are not written.
    """

    name: str
    model: int
    reads: tuple[Value, ...] = ()
    writes: tuple[Value, ...] = ()
    operator: OperatorRef | None = None
    """None for statements, and for steps that the schedule adds: entering and leaving a model, copies to and from a
    subgraph."""
    updates: tuple[Value, ...] = ()
    scratch: tuple[ScratchRef, ...] = ()
    keeps: tuple[TensorRef, ...] = ()
    """Tensors not touched, but which the application may read while the step runs."""
    direction: Direction = Direction.FORWARD
    """Direction of the operator's kernel."""
    job: int | None = None
    """Which job of an operator that runs row by row it is, in the order in which they run; None: the whole operator."""
    row: int | None = None
    """The row that this job computes, or consumes for a reduction."""

    elementwise: tuple[tuple[TensorRef, TensorRef, int], ...] = ()
    """Of a statement: what it writes, what it reads element by element, and how many bytes the former must at least
    start before the latter."""

    @property
    def arrival(self) -> RowRef | None:
        """The row of an input that arrives in it from outside."""
        rows = (each for each in self.writes if isinstance(each, RowRef))
        return next(rows, None) if self.operator is None and not self.reads else None

    @property
    def move(self) -> tuple[RowRef, RowRef] | None:
        """The places between which it moves a row."""
        match self.operator, self.reads, self.writes:
            case None, (RowRef() as source,), (RowRef() as target,):
                return source, target
        return None

    @property
    def values(self) -> tuple[Value, ...]:
        """All values that it touches, in access order, except scratch that is used only within it."""
        return (*self.reads, *self.writes, *self.updates)

    @property
    def tensors(self) -> tuple[TensorRef, ...]:
        """All tensors that it touches, or rows of them, in access order."""
        return _tensors(self.values)

    @property
    def written(self) -> tuple[TensorRef, ...]:
        """All tensors that it writes, or rows of them."""
        return _tensors((*self.writes, *self.updates))


def _tensors(values: Iterable[Value]) -> tuple[TensorRef, ...]:
    tensors = (each.tensor if isinstance(each, RowRef) else each for each in values)
    return tuple(dict.fromkeys(each for each in tensors if isinstance(each, TensorRef)))


@frozen
class Sequence:
    """Nodes that run one after another."""

    body: tuple[Node, ...]


@frozen
class Branch:
    """Exactly one of the arms runs."""

    arms: tuple[Node, ...]


@frozen
class Loop:
    """`test` runs, then `body` and `test` again, any number of times: `while (test()) body();`."""

    test: Node
    body: Node


@frozen
class Repeat:
    """`body` runs a number of times that does not depend on what it computes."""

    body: Node
    rounds: int | None
    """None: unknown before it runs; possibly 0."""
    parallel: bool = False
    """Whether rounds may run at the same time."""
    workers: int | None = None
    """Most rounds that run at the same time; None: all of them."""


@frozen
class Scope:
    """Values that hold nothing whenever `body` begins, and are not touched outside of it."""

    values: tuple[Value, ...]
    body: Node


@frozen
class Call:
    """The body of a subgraph or operator, run in this place.  All calls of one subgraph share its tensors."""

    callee: str
    body: Node


Node: TypeAlias = Step | Sequence | Branch | Loop | Repeat | Scope | Call


@frozen
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


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly within a node, in timeline order."""
    match node:
        case Step():
            return ()
        case Sequence(body) | Branch(body):
            return body
        case Loop(test, body):
            return (test, body)
        case Repeat(body) | Scope(_, body) | Call(_, body):
            return (body,)


def steps(node: Node) -> Iterator[Step]:
    """Walk the leaves of a node in timeline order."""
    stack: list[Node] = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, Step):
            yield node
        else:
            stack += reversed(children(node))


def without_rows(node: Node) -> Iterator[Step]:
    """Walk the same leaves, but of an operator that runs row by row only the step of its first job, and no moves."""
    return (step for step in steps(node) if not step.job and step.move is None)
