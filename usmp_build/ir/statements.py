"""Statements of functions in programs, as far as they concern memory.

A function is a `Subgraph` whose tensors are its parameters, which come first, its allocations and its constants.

    allocate %3 {                     PaddedInput lives in here
      for serial 58 {
        store %3 += %0                writes part of %3, reads %0
      }
    }
    call 1(%3, _, %2)
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TypeAlias

from usmp_build.errors import Diagnostic
from usmp_build.frozen import frozen

MAX_NESTING = 200
"""Deepest nesting of statements, including those of called functions."""


def too_deep(also: str = "") -> Diagnostic:
    """Return the error that statements are nested over MAX_NESTING deep; `also` is a clause on what was included."""
    message = f"statements are nested over {MAX_NESTING} deep{also}"
    return Diagnostic("T256", message, help="let loops and allocations end before others begin")


class LoopKind(Enum):
    """How the rounds of a loop relate in time."""

    SERIAL = "serial"
    UNROLLED = "unrolled"
    """Like SERIAL: one after another."""
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    """Like PARALLEL: all rounds at once, each in separate memory."""
    THREADS = "thread_binding"
    """Like PARALLEL."""

    @property
    def is_parallel(self) -> bool:
        """Whether rounds may run at the same time."""
        return self not in {LoopKind.SERIAL, LoopKind.UNROLLED}


LOOPS = {kind.value: kind for kind in LoopKind}
"""Kinds of loops by name."""


class Provider(Enum):
    """Who provides the memory of an allocation."""

    PLAN = "plan"
    APPLICATION = "application"
    """Its size is known only at run time: the function allocates it from the application."""
    FUNCTION = "function"
    """Its storage is outside the plan: registers, a stack, whatever the function's compiler uses."""


@frozen
class Allocate:
    """A tensor that exists within `body`.  It is undefined on entry, in every round of a loop around it."""

    tensor: int
    body: tuple[Statement, ...]
    provider: Provider = Provider.PLAN


@frozen
class For:
    """A loop."""

    kind: LoopKind
    extent: int | None
    """Number of rounds; None: known only at run time."""
    body: tuple[Statement, ...]
    workers: int | None = None
    """Most rounds of a parallel loop that run at the same time; None: all of them."""


@frozen
class Access:
    """A leaf: it reads some tensors and writes to others."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    whole: bool = False
    """Whether it writes every byte of the tensors it writes; else the rest keeps its value."""
    name: str = "store"
    """Name in reports, such as that of an external function."""
    elementwise: tuple[int, ...] = ()
    """Those of `reads` whose elements it reads in ascending order, none after it wrote the element of the same number:
    it may write over them.  It writes one tensor then."""


@frozen
class Invoke:
    """A call of another function of the program, by its number.  Its parameters are the arguments' bytes."""

    function: int
    arguments: tuple[int | None, ...]
    """One for each parameter, which are the first tensors of the function; None: not a tensor."""


@frozen
class If:
    """A branch: `then` runs if the first element of a tensor is not 0, else `other`."""

    condition: int
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


Statement: TypeAlias = Allocate | For | If | Access | Invoke


def bodies(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Return the statements directly within one: none of a leaf, two lists of a branch."""
    match statement:
        case Allocate(_, body) | For(_, _, body):
            return (body,)
        case If(_, then, other):
            return then, other
    return ()


def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield every statement, outer ones first, in the order of the text."""
    stack = list(reversed(body))
    while stack:
        statement = stack.pop()
        yield statement
        for body in reversed(bodies(statement)):
            stack += reversed(body)


def allocations(body: tuple[Statement, ...]) -> Iterator[Allocate]:
    """Yield all allocations, outer ones first."""
    return (statement for statement in walk(body) if isinstance(statement, Allocate))


@frozen
class Code:
    """C statements, at the depth of a function's body."""

    parts: tuple[str | int, ...]
    """C; a number stands for the name of that tensor of the function."""
    choices: tuple[tuple[str, str], ...] = ()
    """Functions of two numbers that it calls: "min" or "max", and their C type; `usmp_max_float` is one."""
    needs_math: bool = False
    """Whether it calls functions of <math.h>."""
