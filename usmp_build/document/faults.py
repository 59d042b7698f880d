"""Collects everything that is wrong with a file, to report it at once."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from usmp_build.errors import Diagnostic, ModelError, ProblemError, Span, UsmpError
from usmp_build.frozen import frozen


@frozen
class Codes:
    """The exception of a kind of document, the codes of its faults, and the command that prints its schema."""

    error: type[UsmpError]
    unreadable: str
    """The code when it is too large, or no text."""
    malformed: str
    """The code when it is not JSON."""
    value: str
    """The code when a value is of the wrong kind."""
    schema: str
    noun: str = "file"
    """What messages call it."""


PROBLEMS = Codes(ProblemError, "Q101", "Q112", "Q113", "usmp-build schema --problem")
PROGRAMS = Codes(ModelError, "T260", "T261", "T262", "usmp-build schema --program")


Place: TypeAlias = tuple[str | int, ...]
"""How a reader identifies a place: a path in JSON, table and line in CSV."""

MOST_FAULTS = 100
"""Most faults reported at once."""


class Places(Protocol):
    """Translates places to positions in the text."""

    def span(self, place: Place, what: str = "") -> Span:
        """Return the position of a place, or of the value of its column or key called `what`."""


class Faults:
    """Collects the faults of a file; reading stops at `MOST_FAULTS`."""

    def __init__(self, codes: Codes = PROBLEMS) -> None:
        self._codes = codes
        self._diagnostics: list[Diagnostic] = []

    def add(self, code: str, message: str, place: Span, help_: str) -> None:
        """Add a fault.  Raises the exception of this kind of document when there are too many."""
        self._diagnostics.append(Diagnostic(code, message, place, help_))
        if len(self._diagnostics) >= MOST_FAULTS:
            self.stop()

    def stop(self) -> None:
        """Raise the exception of this kind of document with all faults, by place, if there are any."""
        if self._diagnostics:
            raise self._codes.error(*sorted(dict.fromkeys(self._diagnostics), key=_position))


def _position(diagnostic: Diagnostic) -> tuple[int, int, str]:
    place = diagnostic.place
    return (place.line, place.column, diagnostic.message) if isinstance(place, Span) else (0, 0, diagnostic.message)
