"""Arguments from files: for build systems, whose command lines grow longer than some systems allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from usmp_build.errors import Diagnostic, UsageError
from usmp_build.files import Unreadable, read_file

LARGEST = 1 << 24
"""Bytes of a file of arguments.  Those of a build with a thousand models take some hundred thousand."""


def with_files(arguments: Sequence[str]) -> list[str]:
    """Replace every @FILE by the lines of the file, each of which is an argument as it stands; empty ones are none.

    Behind "--", and in such files, an @ is a character like others.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    found: list[str] = []
    for argument in arguments[:end]:
        found += _lines(argument[1:]) if argument.startswith("@") else [argument]
    return [*found, *arguments[end:]]


def _lines(file: str) -> Iterator[str]:
    try:
        text = read_file(Path(file), LARGEST).decode("utf-8-sig")
    except (Unreadable, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
        message = f"cannot read arguments from {file}: {reason}"
        raise UsageError(Diagnostic("U236", message, help="after @ stands a text file, one argument a line")) from None
    return filter(None, (line.removesuffix("\r") for line in text.split("\n")))
