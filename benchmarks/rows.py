"""The command: what it saves to run layers row by row, and what it costs.

    python -m benchmarks.rows models/*.tflite

For each model, layer by layer → row by row: bytes of workspace, of code and read-only data, of stack, and instructions
of one inference; all but the first for Cortex-M4 at -O2.  Where a tool is missing, a figure is "-".
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import board, cortex, size, stack
from benchmarks.subject import Subject, generate, prepare
from benchmarks.tools import Unmeasured

_WORDS = ("[plan]\nrows = false\n", "")
"""Behind the table of the model."""


def main(paths: Sequence[str]) -> int:
    """Print the table."""
    print("| model | workspace | code and tables | stack | instructions |")
    print("|---|--:|--:|--:|--:|")
    for path in map(Path, paths):
        by_layer, by_row = (_figures(path, words) for words in _WORDS)
        cells = (f"{_shown(one)} → {_shown(other)}" for one, other in zip(by_layer, by_row, strict=True))
        print(f"| {path.stem} | {' | '.join(cells)} |", flush=True)
    return 0


def _figures(path: Path, words: str) -> tuple[float | None, ...]:
    with tempfile.TemporaryDirectory(prefix="usmp-benchmark-") as folder:
        subject = prepare(path, Path(folder), words)
        generate(subject)
        return (subject.planned.summary.workspace.achieved, *_compiled(subject), _instructions(subject))


def _compiled(subject: Subject) -> tuple[int | None, int | None]:
    try:
        objects = cortex.objects(subject)
        return sum(size.size(objects).values()), stack.deepest(objects).bytes
    except Unmeasured as why:
        print(why, file=sys.stderr)
        return None, None


def _instructions(subject: Subject) -> float | None:
    try:
        return board.run(subject, "M4")["M4"]
    except Unmeasured as why:
        print(why, file=sys.stderr)
        return None


def _shown(count: float | None) -> str:
    return "-" if count is None else f"{count:,.0f}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
