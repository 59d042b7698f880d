"""What went wrong, where, and what to do about it.

A problem is a value (`Diagnostic`) until the command line prints it.  Every error the user can cause is a
`UsmpError`; its exit code is the one documented in docs/cli.md.  Anything else that escapes is a bug of ours, which the
command line reports as an `InternalFault`.
"""

from __future__ import annotations

from typing import ClassVar

from usmp_build.frozen import frozen


@frozen
class Span:
    """A piece of one line of a text file.  Lines and columns count from 1, as editors do."""

    file: str
    line: int
    column: int
    length: int = 1
    source: str = ""
    """The whole line, for the excerpt under the message."""


@frozen
class Diagnostic:
    """A sentence, a place and a next step."""

    code: str
    """Stable, and explained in docs/errors/."""
    message: str
    place: Span | str = ""
    """A span of a text file, or the name of a file that has no lines (a model)."""
    help: str = ""

    is_warning: bool = False
    """Whether work goes on all the same."""

    def __str__(self) -> str:
        kind = "warning" if self.is_warning else "error"
        lines = [f"{_prefix(self.place)}{kind}[{self.code}]: {printable(self.message)}"]
        if isinstance(self.place, Span) and self.place.source:
            lines += _excerpt(self.place)
        if self.help:
            lines.append(f"help: {printable(self.help)}")
        return "\n".join(lines)


class UsmpError(Exception):
    """The base of all errors that the user can cause."""

    exit_code: ClassVar[int] = 1

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


class ManifestError(UsmpError):
    """The manifest is wrong, or asks for something that does not exist."""


class ProblemError(UsmpError):
    """A file that states a memory problem, or a plan of one, is wrong."""


class ModelError(UsmpError):
    """A model file is damaged, or says something that we refuse."""


class KernelError(UsmpError):
    """C was asked for an operator that the kernel library cannot run."""


class UsageError(UsmpError):
    """The command line is wrong."""

    exit_code = 2


class DoesNotFit(UsmpError):
    """No plan was found within the limits of the pools."""

    exit_code = 3


class CheckFailed(UsmpError):
    """A check that the user asked for, or a plan that an algorithm returned, turned out wrong."""

    exit_code = 4


class InternalFault(UsmpError):
    """An unexpected exception: a bug of ours, or too little memory."""

    exit_code = 5


def printable(text: str) -> str:
    """Return `text` with control and bidirectional characters made visible: names come from untrusted files."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    r"""Return `text` with line breaks made visible, too.

    >>> one_line("a\nb\tc")
    'a\\nb\\tc'
    """
    return printable(text).replace("\n", "\\n")


def _prefix(place: Span | str) -> str:
    if isinstance(place, Span):
        return f"{printable(place.file)}:{place.line}:{place.column}: "
    return f"{printable(place)}: " if place else ""


def _excerpt(span: Span) -> list[str]:
    """The source line with carets under the span; tabs are kept so that the carets stay in line."""
    number = f"{span.line:5}"
    lead = "".join("\t" if c == "\t" else " " for c in span.source[: span.column - 1])
    room = max(1, len(span.source) - span.column + 1)
    carets = "^" * max(1, min(span.length, room))
    return [f"{number} | {printable(span.source.expandtabs(1))}", f"{' ' * 5} | {lead.expandtabs(1)}{carets}"]
