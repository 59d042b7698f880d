"""Instructions of one inference on a board in QEMU, all together or step by step, and the stack that it touches there.

The firmware is that of examples/firmware, and the counter that of the tests; both come with what they need to know.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Column, Figures
from benchmarks.subject import MANIFEST, Subject
from benchmarks.timings import estimate
from benchmarks.tools import Unmeasured
from tests.support import counting, firmware
from tests.support.counting import Interval
from tests.support.tree import ROOT
from usmp_build import pipeline
from usmp_build.output import writer

BOARDS: dict[Column, str] = {"M4": "m4", "M55": "m55"}
_MAIN = Path(__file__).with_name("board.c")
_SECONDS = 600
_REFUSED = re.compile(r"error\[\w+\]: .*|region `\w+' overflowed by \d+ bytes")
"""What usmp_build and the linker say of a model that a board has no room for; all else is an error of ours."""
_PLANNED = f"-Dusmp_build_DIR={(ROOT / 'tests' / 'firmware' / 'planned').as_posix()}"
"""Takes the files in `generated` instead of planning: one plan for all boards."""
_STEPS = 16_384
"""Of operators, or rows of them, as board.c stores."""
_HOOKS = ("bench_step", "usmp_hook", "usmp_hook_row", "usmp_hook_rows", "usmp_hook_pixels")


def run(subject: Subject, column: Column) -> Figures:
    """Build and run one inference on the board of a column; on the M4, estimate cycles.  Raises Unmeasured."""
    board = _usable(BOARDS[column])
    folder = subject.folder / board.name
    elf = _build(subject, board, folder, ())
    _, intervals = _run(board, elf, ("model_run", "bench_end"))
    inference = next(interval for interval in intervals if interval.mark == "bench_end")
    return {column: inference.instructions, **(estimate(inference) if column == "M4" else {})}


def steps(subject: Subject, name: str, include: Path | None = None) -> tuple[Counter[int], int]:
    """Build the subject's plan with USMP_HOOK and run it on a board.

    Return instructions by operator's position, and the bytes of stack that were touched.  The few instructions that
    call the hook count for the operator.  Raises Unmeasured.
    """
    board = _usable(name)
    if not (subject.folder / "generated").exists():
        writer.write(pipeline.emit(pipeline.lay_out(subject.planned)), subject.folder / "generated")
    folder = subject.folder / f"{board.name}_steps"
    elf = _build(subject, board, folder, ("USMP_HOOK", f"BENCH_STEPS={_STEPS}"), _PLANNED, include)
    (touched, *said), intervals = _run(board, elf, ("model_run", "bench_step", "bench_end"))
    counts = [interval.instructions for interval in intervals if interval.mark == "bench_step"]
    if len(counts) > _STEPS:
        raise Unmeasured(f"{board.name}: more than {_STEPS:,} operators and rows")
    total: Counter[int] = Counter()
    for position, count in zip(map(int, said), counts, strict=True):
        total[position] += count
    return total, int(touched)


def _usable(name: str) -> firmware.Board:
    board = firmware.BOARDS[name]
    if why := firmware.obstacle(board) or counting.obstacle(board.qemu[0]):
        raise Unmeasured(why)
    return board


def _run(board: firmware.Board, elf: Path, marks: Sequence[str]) -> tuple[list[str], list[Interval]]:
    """Return the words that the firmware prints, and the intervals between the marks."""
    symbols, out = firmware.symbols(board, elf), elf.parent / "intervals.jsonl"
    places = {name: symbols[name][0] for name in marks}
    ignored = [symbols[name] for name in _HOOKS if name in symbols]
    plugin = counting.build_plugin(elf.parent)
    arguments = counting.plugin_arguments(plugin, out, {}, places, ignored)
    try:
        done = firmware.run(board, elf, elf.parent, plugin_args=arguments, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unmeasured(f"{board.name}: one inference takes longer than ten minutes") from None
    assert done.code == 0, f"the firmware fails: {done.out}{done.err}"
    return done.out.split(), counting.read_intervals(out)


def _build(
    subject: Subject,
    board: firmware.Board,
    folder: Path,
    definitions: Sequence[str],
    find: str = firmware.FIND,
    include: Path | None = None,
) -> Path:
    main = subject.folder / _MAIN.name
    main.write_bytes(_MAIN.read_bytes())
    manifest = subject.folder / MANIFEST
    code, said = firmware.try_build(
        board, folder, manifest=manifest, main=main, definitions=definitions, find=find, include=include
    )
    if code == 0:
        return folder / "firmware.elf"
    refused = _REFUSED.search(said)
    assert refused, said
    raise Unmeasured(f"{board.name}: {refused[0]}".replace("`", "'"))
