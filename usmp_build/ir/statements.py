"""What functions of two-level programs do: statements, as far as memory is concerned.

A function is a `Subgraph` whose tensors are its parameters, which come first, its allocations and its constants.

    allocate %3 {                     PaddedInput lives in here
      for serial 58 {
        store %3 += %0                some of %3 is written, %0 is read
      }
    }
    call 1(%3, _, %2)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from usmp_build.errors import Diagnostic

MAX_NESTING = 200
"""Statements within statements, those of called functions counted in."""


def too_deep(also: str = "") -> Diagnostic:
    """Say that statements are nested over MAX_NESTING deep; `also` is what was counted in."""
    message = f"statements are nested over {MAX_NESTING} deep{also}"
    return Diagnostic("T256", message, help="let loops and allocations end before others begin")


class LoopKind(Enum):
    """How the rounds of a loop relate in time."""

    SERIAL = "serial"
    UNROLLED = "unrolled"
    """Like SERIAL: one after the other."""
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    """Like PARALLEL: all rounds at once, each in memory of its own."""
    THREADS = "thread_binding"
    """Like PARALLEL."""

    @property
    def is_parallel(self) -> bool:
        """Whether rounds may run at the same time."""
        return self not in {LoopKind.SERIAL, LoopKind.UNROLLED}


LOOPS = {kind.value: kind for kind in LoopKind}
"""Kinds of loops by the word for them."""


class Provider(Enum):
    """Who finds the memory for an allocation."""

    PLAN = "plan"
    APPLICATION = "application"
    """Its size is known only when it runs: the function asks the application for memory."""
    FUNCTION = "function"
    """Its storage is no memory of ours: registers, a stack, what the function's own compiler makes of it."""


@dataclass(frozen=True, slots=True)
class Allocate:
    """A tensor that exists within `body`.  It holds nothing on entry, in every round of a loop around it."""

    tensor: int
    body: tuple[Statement, ...]
    provider: Provider = Provider.PLAN


@dataclass(frozen=True, slots=True)
class For:
    """A loop."""

    kind: LoopKind
    extent: int | None
    """Rounds; None when the number is known only when it runs."""
    body: tuple[Statement, ...]
    workers: int | None = None
    """Rounds that run at the same time, of a loop that is not serial; None: all of them."""


@dataclass(frozen=True, slots=True)
class Access:
    """A leaf: it reads some tensors and writes to others."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    whole: bool = False
    """Whether every byte of what it writes to is written; else the rest stays as it was."""
    name: str = "store"
    """What it is, for reports: an external function, for example."""


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of another function of the program, by its number.  Its parameters are the arguments' bytes."""

    function: int
    arguments: tuple[int | None, ...]
    """One for each of its parameters, which are the first tensors of the function; None: of no concern here."""


Statement: TypeAlias = Allocate | For | Access | Invoke


def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield every statement, outer ones first, in the order of the text."""
    stack = list(reversed(body))
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, Allocate | For):
            stack += reversed(statement.body)


def allocations(body: tuple[Statement, ...]) -> Iterator[Allocate]:
    """Yield the allocations."""
    return (statement for statement in walk(body) if isinstance(statement, Allocate))
