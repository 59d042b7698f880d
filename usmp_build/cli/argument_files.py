"""Reads arguments from files, for build systems whose command lines would exceed the limits of the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from usmp_build.errors import Diagnostic, UsageError
from usmp_build.files import Unreadable, read_file

LARGEST = 1 << 24
"""Most bytes of a file of arguments; a build with a thousand models takes about a hundred thousand."""


def with_files(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with every @FILE replaced by its lines, each one argument; empty ones are dropped.

    After "--", and in such files, an @ has no special meaning.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    expanded: list[str] = []
    for argument in arguments[:end]:
        expanded += _lines(argument[1:]) if argument.startswith("@") else [argument]
    return [*expanded, *arguments[end:]]


def _lines(file: str) -> Iterator[str]:
    try:
        text = read_file(Path(file), LARGEST).decode("utf-8-sig")
    except (Unreadable, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
        message = f"cannot read arguments from {file}: {reason}"
        help_ = "write the path of a text file after @, with one argument on each line"
        raise UsageError(Diagnostic("U236", message, help=help_)) from None
    return filter(None, (line.removesuffix("\r") for line in text.split("\n")))
