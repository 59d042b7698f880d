"""Everything that is wrong with a file, told at once."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from usmp_build.document.codes import PROBLEMS, Codes
from usmp_build.errors import Diagnostic, Span

Place: TypeAlias = tuple[str | int, ...]
"""What a door knows a place by: a path in JSON, table and line in CSV."""

MOST_FAULTS = 100
"""That are told at once."""


class Places(Protocol):
    """Finds places again."""

    def span(self, place: Place, what: str = "") -> Span:
        """Return where this is, or the value of its column or key called `what`."""


class Faults:
    """Collects what is wrong with a file; the file is given up at the hundredth fault."""

    def __init__(self, codes: Codes = PROBLEMS) -> None:
        self._codes = codes
        self._found: list[Diagnostic] = []

    def add(self, code: str, message: str, place: Span, help_: str) -> None:
        """Take a fault down.  Raises the error of its kind when there are too many."""
        self._found.append(Diagnostic(code, message, place, help_))
        if len(self._found) >= MOST_FAULTS:
            self.stop()

    def stop(self) -> None:
        """Raise the error of its kind with all faults, by place, if there are any."""
        if self._found:
            raise self._codes.error(*sorted(dict.fromkeys(self._found), key=_position))


def _position(diagnostic: Diagnostic) -> tuple[int, int, str]:
    place = diagnostic.place
    return (place.line, place.column, diagnostic.message) if isinstance(place, Span) else (0, 0, diagnostic.message)
