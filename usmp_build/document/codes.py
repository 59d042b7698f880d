"""Exceptions and error codes of each kind of document that the JSON reader handles."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.errors import ModelError, ProblemError, UsmpError


@dataclass(frozen=True, slots=True)
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


PROBLEMS = Codes(ProblemError, "Q101", "Q112", "Q113", "usmp-build schema")
PROGRAMS = Codes(ModelError, "T260", "T261", "T262", "usmp-build schema --program")
