"""The command: how far below max-live plans are, model by model, what brought them there, and what it costs.

    python -m benchmarks.ram models/*.tflite --nets --out benchmarks/data/below-max-live

`--nets` adds the nets that tests make by script.  Instructions are counted in QEMU, and TensorFlow Lite Micro is asked
for its arena on this machine; where a tool is missing, a figure is "-".
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import board, draw
from benchmarks.published import published
from benchmarks.subject import MODEL, Subject, generate, prepare
from benchmarks.tools import Unmeasured
from tests.support.nets import NETS
from usmp_build import pipeline
from usmp_build.files import DictFiles
from usmp_build.ir.schedule import Direction
from usmp_build.passes.rewrite.work import work
from usmp_build.request import REWRITES

_MANIFEST = f'[project]\nname = "p"\n[models.m]\npath = "{MODEL}"\n'
_ALIGNED = '[[targets.cpu.rules]]\noperators = "*"\nalignment = 4\n'
_LAYER_BY_LAYER = "[plan]\nrows = false\n"
_OFF = ", ".join(f"{each} = false" for each in REWRITES)
_WITHOUT = f'order = "file"\n[plan]\noverlap = false\nrewrites = {{ {_OFF} }}\n'
"""After the table of the model."""
_HEADS = {
    "workspace": "| model | TFLM, M4 | TFLM, here | its plan | max-live "
    "| layer by layer | any schedule | achieved | 4-aligned | floor |",
    "choices": "| model | backward | order |",
    "rewrites": "| model | channels removed | operators | weights | MACs | constants |",
    "instructions": "| model | without | now | more |",
}


@dataclass(frozen=True)
class Row:
    """A model, and the cells of its lines in the tables."""

    name: str
    workspace: tuple[str, ...]
    choices: tuple[str, ...]
    rewrites: tuple[str, ...]
    instructions: tuple[str, ...]


def row(path: Path) -> Row:
    """Plan and measure one model.  Raises Unmeasured when it is refused."""
    with tempfile.TemporaryDirectory(prefix="usmp-benchmark-") as folder:
        ours, without = Path(folder) / "ours", Path(folder) / "without"
        for each in (ours, without):
            each.mkdir()
        subject, plain = prepare(path, ours), prepare(path, without, _WITHOUT)
        return Row(
            path.stem, tuple(_workspace(subject, path)), tuple(_choices(subject)), tuple(_rewrites(subject)),
            tuple(_instructions(subject, plain)),
        )  # fmt: skip


def _workspace(subject: Subject, path: Path) -> Iterator[str]:
    figures = published(path.stem, len(subject.data))
    yield _shown(figures.get("TFLM arena"))
    yield from map(_shown, arena(path))
    ours = subject.planned.summary.workspace
    yield _shown(pipeline.compare(subject.planned).max_live)
    yield _shown(_achieved(subject, _LAYER_BY_LAYER))
    yield from map(_shown, (ours.any_schedule, ours.achieved, _achieved(subject, _ALIGNED), ours.floor))


def _achieved(subject: Subject, tables: str) -> int:
    """Return the bytes of workspace with further tables in the manifest."""
    files = DictFiles({"usmp.toml": (_MANIFEST + tables).encode(), MODEL: subject.data})
    return pipeline.plan(pipeline.read("usmp.toml", files), files).summary.workspace.achieved


def _choices(subject: Subject) -> Iterator[str]:
    planned = subject.planned
    directions = planned.analysis.directions.values()
    yield f"{sum(each is Direction.BACKWARD for each in directions)} of {len(directions)}"
    if by_rows := planned.summary.models[0].by_rows:
        yield f"of rows, {len(by_rows)} operators"
    else:
        yield "another" if planned.analysis.choices.orders else "of the file"


def _rewrites(subject: Subject) -> Iterator[str]:
    planned = subject.planned
    (imported,), (rewritten,), (record,) = planned.imported, planned.analysis.models, planned.analysis.rewrites
    yield _shown(sum(saving.channels for saving in record.savings))
    for name in ("operators", "weights", "macs", "constant_bytes"):
        old, new = (getattr(work(model), name) for model in (imported, rewritten))
        yield _shown(old) if old == new else f"{old:,} → {new:,}"


def _instructions(subject: Subject, plain: Subject) -> Iterator[str]:
    without, now = _counted(plain), _counted(subject)
    yield from (_shown(without), _shown(now))
    yield f"{round(100 * (now - without) / without, 1) + 0:+} %" if now and without else "-"


def _counted(subject: Subject) -> float | None:
    try:
        generate(subject)
        return board.run(subject, "M4")["M4"]
    except Unmeasured as why:
        print(f"{subject.folder}: {why}", file=sys.stderr)
        return None


def arena(path: Path) -> tuple[int | None, int | None]:
    """Ask TensorFlow Lite Micro, in a process of its own, for the bytes that it takes here: of all, and of its plan."""
    script = (
        "import sys; from tflite_micro import runtime as r; r.Interpreter.from_file(sys.argv[1]).print_allocations()"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    total, head = (re.search(rf"Arena allocation {part} (\d+)", said) for part in ("total", "head"))
    return int(total[1]) if total else None, int(head[1]) if head else None


def _shown(count: float | None) -> str:
    return "-" if count is None else f"{count:,.0f}"


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Return each table by the name that the page uses."""
    return {name: "\n".join(_table(head, name, rows)) for name, head in _HEADS.items()}


def _table(head: str, name: str, rows: Sequence[Row]) -> Iterator[str]:
    yield head
    yield "|---|" + "--:|" * (head.count("|") - 2)
    for each in rows:
        cells = getattr(each, name)
        if set(cells) != {"-"}:
            yield f"| {each.name} | {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ram", description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", type=Path, metavar="MODEL.tflite")
    parser.add_argument("--nets", action="store_true", help="and the nets that tests make by script")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write CSV files, too")
    parsed = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="usmp-nets-") as folder:
        nets = [Path(folder) / f"{name}.tflite" for name in NETS] if parsed.nets else []
        for path in nets:
            path.write_bytes(NETS[path.stem]())
        made = tables([row(path) for path in (*parsed.models, *nets)])
    print("\n\n".join(made.values()))
    if parsed.out:
        draw.save(parsed.out, made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
