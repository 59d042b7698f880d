"""Shows progress on one line of a terminal."""

from __future__ import annotations

import sys
from types import TracebackType

_CLEAR = "\r\x1b[K"


class Progress:
    """Shows one phase after another on standard error, and erases the last one; silent without a terminal."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()

    def __call__(self, phase: str) -> None:
        """Show the phase that begins now."""
        if self._shows:
            print(f"{_CLEAR}{phase} ...", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._shows:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
