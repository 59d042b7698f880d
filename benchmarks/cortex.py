"""The generated C of a model, compiled for Cortex-M4 at -O2: what size.py and stack.py look at."""

from __future__ import annotations

from pathlib import Path

from benchmarks.subject import SOURCES, Subject
from benchmarks.tools import run
from tests.support.firmware import BOARDS

_BOARD = BOARDS["m4"]
COMPILER = _BOARD.gcc
_FLAGS = (*_BOARD.flags, "-ffunction-sections", "-fdata-sections", "-std=c11", "-O2")


def objects(subject: Subject) -> list[Path]:
    """Compile; beside each object (.o) lies a call graph with stack sizes (.ci).  Raises Unmeasured."""
    run([COMPILER, *_FLAGS, "-fcallgraph-info=su", "-c", *SOURCES], cwd=subject.folder)
    return [(subject.folder / source).with_suffix(".o") for source in SOURCES]
