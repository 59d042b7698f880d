"""A problem as a file states it: by names, unchecked, with the place of everything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from usmp_build.errors import Diagnostic, ProblemError, Span

Place: TypeAlias = tuple[str | int, ...]
"""What a door knows a place by: a path in JSON, table and line in CSV."""

MOST_FAULTS = 100
"""That are told at once."""
LONGEST_NAME = 1024


class Places(Protocol):
    """Finds places again."""

    def span(self, place: Place, what: str = "") -> Span:
        """Return where this is, or the value of its column or key called `what`."""


@dataclass(slots=True)
class PoolDraft:
    """A pool."""

    name: str
    limit: int | None
    place: Place


@dataclass(slots=True)
class BufferDraft:
    """A buffer, with one interval for each row it has."""

    name: str
    size: int
    place: Place
    alignment: int = 1
    pools: tuple[str, ...] = ()
    """Empty: all there are."""
    costs: tuple[int, ...] = ()
    offset: int | None = None
    intervals: list[tuple[int, int, Place]] = field(default_factory=list)
    """Start, stop, and where that stands."""


@dataclass(slots=True)
class SeparationDraft:
    """How far `above` must start behind the start of `below` if it is above it."""

    below: str
    above: str
    bytes: int
    place: Place


@dataclass(slots=True)
class Draft:
    """Everything that a file states."""

    places: Places
    pools: list[PoolDraft]
    buffers: list[BufferDraft]
    separations: list[SeparationDraft] = field(default_factory=list)
    conflicts: list[tuple[str, str, Place]] | None = None
    """None: two buffers conflict when they are alive at one step."""


class Faults:
    """Collects what is wrong with a file; the file is given up at the hundredth fault."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def add(self, code: str, message: str, place: Span, help_: str) -> None:
        """Take a fault down.  Raises ProblemError when there are too many."""
        self._found.append(Diagnostic(code, message, place, help_))
        if len(self._found) >= MOST_FAULTS:
            self.stop()

    def stop(self) -> None:
        """Raise ProblemError with all faults, by place, if there are any."""
        if self._found:
            raise ProblemError(*sorted(dict.fromkeys(self._found), key=_position))


def _position(diagnostic: Diagnostic) -> tuple[int, int, str]:
    place = diagnostic.place
    return (place.line, place.column, diagnostic.message) if isinstance(place, Span) else (0, 0, diagnostic.message)
