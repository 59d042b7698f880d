"""Instructions of one inference on a board in QEMU, and the stack that it touches there.

The firmware is that of examples/firmware, and the counter that of the tests; both come with what they need to know.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.figures import Column, Figures
from benchmarks.subject import MANIFEST, Subject
from benchmarks.tools import Unmeasured, reason
from tests.support import counting, firmware

BOARDS: dict[Column, str] = {"M4": "m4", "M55": "m55"}
_MAIN = Path(__file__).with_name("board.c")
_SECONDS = 600


def run(subject: Subject, column: Column) -> Figures:
    """Build and run one inference on the board of a column.  Raises Unmeasured."""
    board = next(board for board in firmware.BOARDS if board.name == BOARDS[column])
    try:
        firmware.need(board)
        counting.need_plugins(board.qemu[0])
        return _run(subject, column, board)
    except pytest.skip.Exception as missing:
        raise Unmeasured(str(missing.msg)) from None
    except (AssertionError, subprocess.SubprocessError) as error:
        raise Unmeasured(f"{column}: {reason(str(error))}") from None


def _run(subject: Subject, column: Column, board: firmware.Board) -> Figures:
    main = subject.folder / _MAIN.name
    main.write_bytes(_MAIN.read_bytes())
    folder = subject.folder / board.name
    elf = firmware.build(board, folder, manifest=subject.folder / MANIFEST, main=main)
    symbols = firmware.symbols(board, elf)
    marks = {name: symbols[name][0] for name in ("model_run", "bench_end")}
    out = folder / "intervals.jsonl"
    arguments = counting.plugin_arguments(counting.build_plugin(folder), out, {}, marks, ())
    done = firmware.run(board, elf, folder, plugin_args=arguments, timeout=_SECONDS)
    assert done.returncode == 0, f"the firmware fails: {done.stdout}{done.stderr}"
    count = next(interval.instructions for interval in counting.read_intervals(out) if interval.mark == "bench_end")
    return {column: count, "stack seen": int(done.stdout)} if column == "M4" else {column: count}
