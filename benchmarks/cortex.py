"""The generated C of a model, compiled for Cortex-M4 at -O2: what size.py and stack.py look at."""

from __future__ import annotations

from pathlib import Path

from benchmarks.subject import SOURCES, Subject
from benchmarks.tools import run

COMPILER = "arm-none-eabi-gcc"
_FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-ffunction-sections", "-fdata-sections", "-std=c11", "-O2")
"""As in examples/firmware."""


def objects(subject: Subject) -> list[Path]:
    """Compile; beside each object (.o) lies a call graph with stack sizes (.ci).  Raises Unmeasured."""
    run([COMPILER, *_FLAGS, "-fcallgraph-info=su", "-c", *SOURCES], cwd=subject.folder)
    return [(subject.folder / source).with_suffix(".o") for source in SOURCES]
