"""Options of operators: the base class, and options that affect the graph itself.

All others are defined with the traits of their kinds, in `operators`.  Names and meanings are those of TFLite's schema
(schema.fbs, `table Conv2DOptions` and so on); the metadata of a field says where files store it, which the importer and
the textual form use.  Fields that are None unless a rewrite sets them are ours: no file has them, and only the
reference library gets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from typing import NamedTuple, TypeAlias

from usmp_build.frozen import frozen


class Padding(Enum):
    """Padding of windows at the border of an image."""

    SAME = 0
    VALID = 1


class Activation(Enum):
    """The activation function fused into an operator (TFLite's ActivationFunctionType)."""

    NONE = 0
    RELU = 1
    RELU_N1_TO_1 = 2
    RELU6 = 3
    TANH = 4
    SIGN_BIT = 5


Frame: TypeAlias = tuple[int, int, int, int]
"""Explicit padding in pixels: above, below, left and right."""
Limits: TypeAlias = tuple[int, int]
"""The least and the largest output, as integers of its type; outputs are clamped to them after the activation."""
Order: TypeAlias = tuple[int, ...]
"""For each axis of what TRANSPOSE makes, which axis of its input that is."""


def in_order(numbers: Sequence[int], order: Order | None) -> tuple[int, ...]:
    """Return numbers, one for each axis, as a TRANSPOSE moves them; None: it moves nothing.

    >>> in_order((1, 64, 3, 16), (0, 2, 1, 3))
    (1, 3, 64, 16)
    """
    return tuple(numbers) if order is None else tuple(numbers[axis] for axis in order)


class Slot(NamedTuple):
    """The place of an option in a table of TFLite's schema."""

    position: int
    letter: str
    """Its format, as a letter of Python's `struct`; "s": a string."""
    absent: float | str
    """Its value if the file does not store it: the schema's default, not ours."""


SLOT = "slot"
"""The key of an option's `Slot` in the metadata of its field."""


def slot(position: int, letter: str, absent: float | str = 0) -> dict[str, Slot]:
    """Return the field metadata of an option that files store."""
    return {SLOT: Slot(position, letter, absent)}


KEY = "key"
"""The key of whether a file must have an option, in the metadata of a custom operator's: its name is the field's."""


def named(*, required: bool = True) -> dict[str, bool]:
    """Return the field metadata of an option that custom operators store under its name."""
    return {KEY: required}


@frozen
class Options:
    """Base of all options."""


@frozen
class VarHandle(Options):
    """VAR_HANDLE: the name of a variable; all handles of one name are the same variable."""

    container: str = field(default="", metadata=slot(0, "s", ""))
    shared_name: str = field(default="", metadata=slot(1, "s", ""))


@frozen
class If(Options):
    """IF: indices of the subgraphs of its arms."""

    then_subgraph: int = field(default=0, metadata=slot(0, "i"))
    else_subgraph: int = field(default=0, metadata=slot(1, "i"))


@frozen
class While(Options):
    """WHILE: indices of the subgraphs of its test and its body."""

    cond_subgraph: int = field(default=0, metadata=slot(0, "i"))
    body_subgraph: int = field(default=0, metadata=slot(1, "i"))


@frozen
class Call(Options):
    """CALL and CALL_ONCE: the index of the subgraph."""

    subgraph: int = field(default=0, metadata=slot(0, "i"))


@frozen
class Parts(Options):
    """JOIN and CUT, which are ours: the offsets of the parts in the whole."""

    offsets: tuple[int, ...] = ()
    """Offset in bytes of every input of a JOIN or every output of a CUT."""
    pitch: int = 0
    """Bytes from one pixel of a part to the next; 0: parts are contiguous."""


def called_subgraphs(options: Options | None) -> tuple[int, ...]:
    """Return the subgraphs that an operator with these options calls."""
    match options:
        case If():
            return (options.then_subgraph, options.else_subgraph)
        case While():
            return (options.cond_subgraph, options.body_subgraph)
        case Call():
            return (options.subgraph,)
    return ()
