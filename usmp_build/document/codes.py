"""How errors of each kind of document are told apart: one reader, several manuals."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.errors import ModelError, ProblemError, UsmpError


@dataclass(frozen=True, slots=True)
class Codes:
    """The exception of a kind of document, the codes of its faults, and the command that prints its schema."""

    error: type[UsmpError]
    unreadable: str
    """It is too large, or no text."""
    malformed: str
    """It is not JSON."""
    value: str
    """A value is not of the kind that is wanted."""
    schema: str


PROBLEMS = Codes(ProblemError, "Q101", "Q112", "Q113", "usmp-build schema")
PROGRAMS = Codes(ModelError, "T260", "T261", "T262", "usmp-build schema --program")
