"""Instructions of one inference on a board in QEMU, and the stack that it touches there.

The firmware is that of examples/firmware, and the counter that of the tests; both come with what they need to know.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from benchmarks.figures import Column, Figures
from benchmarks.subject import MANIFEST, Subject
from benchmarks.tools import Unmeasured
from tests.support import counting, firmware

BOARDS: dict[Column, str] = {"M4": "m4", "M55": "m55"}
_MAIN = Path(__file__).with_name("board.c")
_SECONDS = 600
_REFUSED = re.compile(r"error\[\w+\]: .*|region `\w+' overflowed by \d+ bytes")
"""What usmp_build and the linker say of a model that a board has no room for; all else is an error of ours."""


def run(subject: Subject, column: Column) -> Figures:
    """Build and run one inference on the board of a column.  Raises Unmeasured."""
    board = firmware.BOARDS[BOARDS[column]]
    if why := firmware.obstacle(board) or counting.obstacle(board.qemu[0]):
        raise Unmeasured(why)
    folder = subject.folder / board.name
    elf = _build(subject, board, folder)
    symbols = firmware.symbols(board, elf)
    marks = {name: symbols[name][0] for name in ("model_run", "bench_end")}
    out = folder / "intervals.jsonl"
    arguments = counting.plugin_arguments(counting.build_plugin(folder), out, {}, marks, ())
    try:
        done = firmware.run(board, elf, folder, plugin_args=arguments, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unmeasured(f"{column}: one inference takes longer than ten minutes") from None
    assert done.code == 0, f"the firmware fails: {done.out}{done.err}"
    count = next(interval.instructions for interval in counting.read_intervals(out) if interval.mark == "bench_end")
    return {column: count, "stack seen": int(done.out)} if column == "M4" else {column: count}


def _build(subject: Subject, board: firmware.Board, folder: Path) -> Path:
    main = subject.folder / _MAIN.name
    main.write_bytes(_MAIN.read_bytes())
    code, said = firmware.try_build(board, folder, manifest=subject.folder / MANIFEST, main=main)
    if code == 0:
        return folder / "firmware.elf"
    refused = _REFUSED.search(said)
    assert refused, said
    raise Unmeasured(f"{board.name}: {refused[0]}".replace("`", "'"))
