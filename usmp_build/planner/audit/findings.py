"""Collects the errors that an audit finds, with their places in the file."""

from __future__ import annotations

from usmp_build.document.faults import Place, Places
from usmp_build.errors import Diagnostic, Span

MOST = 100
"""Most findings that are reported one by one."""

WRONG_PLAN = "do not use this plan; report it to its author"
WRONG_FACT = "the places may be right all the same; report this to the author of the plan"


class Findings:
    """Collects what is wrong with a plan."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._diagnostics: list[Diagnostic] = []
        self._more = 0

    def add(self, code: str, message: str, place: Place, what: str = "", help_: str = WRONG_PLAN) -> None:
        """Add a finding, or count it if there are many."""
        if len(self._diagnostics) < MOST:
            self._diagnostics.append(Diagnostic(code, message, self._places.span(place, what), help_))
        else:
            self._more += 1

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings, sorted by place."""
        more = f"and {self._more:,} more of this kind" if self._more else ""
        return (
            *sorted(self._diagnostics, key=_position),
            *([Diagnostic("V110", more, help=WRONG_PLAN)] if more else []),
        )

    def __bool__(self) -> bool:
        return bool(self._diagnostics)


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    place = diagnostic.place
    return (place.line, place.column) if isinstance(place, Span) else (0, 0)
