"""Shows progress: on one line of a terminal, which is erased at the end; in logs as a line now and then.

With --verbose each phase has a line, and elsewhere in logs one that takes long has a line every ten seconds: whoever
reads the log of a build sees what it waits for.

At the end it says for which instructions was planned, if the command line leaves that open.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from types import TracebackType

_CLEAR = "\r\x1b[K"

SECONDS_EACH = 10.0
"""Between two lines of a log about one phase."""


def progress_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how much is said beside results."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument("-q", "--quiet", action="store_true", help="no progress and no notes, only results and errors")
    either.add_argument("-v", "--verbose", action="store_true", help="a line for each phase on standard error")


class Progress:
    """Shows one phase after another on standard error; it is a context manager."""

    def __init__(self, parsed: argparse.Namespace) -> None:
        is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._lists: bool = parsed.verbose
        self._shows = is_terminal and not parsed.quiet and not parsed.verbose
        self._phase, self._steps = "", 0
        self._parsed = parsed
        self._ended = threading.Event()
        self._log: threading.Thread | None = None
        if not is_terminal and not parsed.quiet:
            self._log = threading.Thread(target=self._write_log, daemon=True)

    def _write_log(self) -> None:
        """Write a line after every ten seconds in which work has not ended."""
        rounds = 0
        while not self._ended.wait(SECONDS_EACH):
            rounds += 1
            print(f"{self._phase} ... {rounds * SECONDS_EACH:.0f} s", file=sys.stderr, flush=True)

    def __call__(self, phase: str) -> None:
        """Show the phase that begins now."""
        self._phase, self._steps = phase, 0
        if self._lists:
            print(phase, file=sys.stderr, flush=True)
        if self._shows:
            print(f"{_CLEAR}{phase} ...", end="", file=sys.stderr, flush=True)

    def step(self) -> None:
        """Count a step of the phase; how many there will be is unknown."""
        self._steps += 1
        if self._shows:
            print(f"{_CLEAR}{self._phase} ... {self._steps:,}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        if self._log is not None:
            self._log.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._ended.set()
        if self._log is not None:
            self._log.join()
        if self._shows:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
        note = getattr(self._parsed, "isa_note", "")
        if note and error is None and not self._parsed.quiet:
            print(note, file=sys.stderr, flush=True)
