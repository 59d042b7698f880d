"""CMSIS-NN's instructions for each layer of models, measured where its sources are and kept in cmsis_nn.csv.

    python -m benchmarks.cmsis_nn FOLDER models/*.tflite

plans each model with `kernels = "cmsis-nn"`, builds that with the CMake project of FOLDER, and counts on the boards.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import board
from benchmarks.layers import layer, layers_of
from benchmarks.subject import generate, prepare
from benchmarks.tools import Unmeasured
from usmp_build.interfaces.kernels import Kernel
from usmp_build.request import Isa

TABLE = Path(__file__).with_name("cmsis_nn.csv")
BOARDS = {"M4": ("m4", Isa.DSP), "M55": ("m55", Isa.MVE)}
"""Processor → its board, and the instructions for which CMSIS-NN is compiled."""
_INCLUDE = """
set(CMSIS_OPTIMIZATION_LEVEL "-O2")
add_subdirectory("{}" cmsis-nn)
"""


def known() -> dict[str, dict[str, int]]:
    """Return what was measured: layer → processor → instructions."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["layer"]: {name: int(row[name]) for name in BOARDS if row[name]} for row in csv.DictReader(file)}


def measure(path: Path, sources: Path, processor: str) -> dict[str, int]:
    """Return the instructions of each layer of a model that CMSIS-NN runs.  Raises Unmeasured."""
    name, isa = BOARDS[processor]
    with tempfile.TemporaryDirectory(prefix="usmp-benchmark-") as folder:
        subject = prepare(path, Path(folder), isa=isa, kernels="cmsis-nn")
        generate(subject)
        include = Path(folder) / "include.cmake"
        include.write_text(_INCLUDE.format(sources.resolve().as_posix()), encoding="utf-8")
        counts, _ = board.steps(subject, name, include)
    analysis = subject.planned.analysis
    graph = analysis.models[0].main
    theirs = {
        ref.operator
        for ref, kernel in analysis.kernels.items()
        if isinstance(kernel, Kernel) and kernel.library == "cmsis-nn" and ref.subgraph == 0
    }
    file = layers_of(path)
    names = {
        operator.position: layer(operator, graph) for index, operator in enumerate(graph.operators) if index in theirs
    }
    return {name: counts[at] for at, name in names.items() if at in file and file[at].name == name}


def _project(text: str) -> Path:
    if not (Path(text) / "CMakeLists.txt").is_file():
        raise argparse.ArgumentTypeError(f'"{text}" is no project of CMake')
    return Path(text)


def main(arguments: Sequence[str]) -> int:
    """Measure, and write the table with what it had before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cmsis_nn", description=__doc__.partition("\n")[0])
    parser.add_argument("sources", type=_project, metavar="FOLDER", help="a copy of CMSIS-NN")
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite")
    parser.add_argument("--processor", action="append", choices=BOARDS, help="only on this one")
    parsed = parser.parse_args(arguments)
    table = known()
    for path in parsed.models:
        for processor in parsed.processor or BOARDS:
            try:
                for name, count in measure(path, parsed.sources, processor).items():
                    table.setdefault(name, {})[processor] = count
            except Unmeasured as why:
                print(f"{path.stem}, {processor}: {why}", file=sys.stderr)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["layer", *BOARDS])
        writer.writerows(
            [name, *(row.get(processor, "") for processor in BOARDS)] for name, row in sorted(table.items())
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
