"""The generated C of a model, compiled for a Cortex-M at -O2: what size.py and stack.py look at."""

from __future__ import annotations

from pathlib import Path

from benchmarks.subject import SOURCES, Subject
from benchmarks.tools import run
from tests.support.firmware import BOARDS, Board

_M4 = BOARDS["m4"]
COMPILER = _M4.gcc
_FLAGS = ("-ffunction-sections", "-fdata-sections", "-std=c11", "-O2")


def objects(subject: Subject, board: Board = _M4) -> list[Path]:
    """Compile; beside each object (.o) lies a call graph with stack sizes (.ci).  Raises Unmeasured."""
    run([board.gcc, *board.flags, *_FLAGS, "-fcallgraph-info=su", "-c", *SOURCES], cwd=subject.folder)
    return [(subject.folder / source).with_suffix(".o") for source in SOURCES]
