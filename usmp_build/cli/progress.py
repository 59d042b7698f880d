"""One line that says what is going on, for whoever waits at a terminal."""

from __future__ import annotations

import sys
from types import TracebackType

_CLEAR = "\r\x1b[K"


class Progress:
    """Shows one phase after the other on standard error, and leaves nothing behind; silent without a terminal."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()

    def __call__(self, phase: str) -> None:
        """Say what begins now."""
        if self._shows:
            print(f"{_CLEAR}{phase} ...", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._shows:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
