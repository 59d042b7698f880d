"""Programs of others: run, or said to be missing."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 600


class Unmeasured(Exception):
    """Why there is no figure, in words for the notes below the tables."""


def run(command: Sequence[str], cwd: Path | None = None) -> bytes:
    """Return what a program writes.  Raises Unmeasured when it is missing, fails, or takes longer than ten minutes."""
    return both(command, cwd)[0]


def both(command: Sequence[str], cwd: Path | None = None) -> tuple[bytes, bytes]:
    """Return what a program writes to its output and to its errors.  Raises as `run` does."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, timeout=_SECONDS, check=False)
    except FileNotFoundError:
        raise Unmeasured(f"{name} is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unmeasured(f"{name} does not run: {type(error).__name__}") from None
    if done.returncode:
        raise Unmeasured(f"{name} fails: {reason(done.stderr.decode('utf-8', 'replace')) or f'code {done.returncode}'}")
    return done.stdout, done.stderr


def reason(said: str) -> str:
    """Return the first line that speaks of an error, else the last one."""
    lines = said.strip().splitlines()
    return next((line for line in lines if "rror" in line), lines[-1] if lines else "").strip()


def version(*command: str) -> str:
    """Return the first line that a program says of itself."""
    try:
        return run(command).decode("utf-8", "replace").partition("\n")[0].strip()
    except Unmeasured as why:
        return str(why)
