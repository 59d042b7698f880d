"""The command: cycles of a RISC-V core that is simulated from its RTL, for each model and each kind of operator.

    python -m benchmarks.cycles [--isa scalar] [--wait 0] [--optimize=-O2] models/*.tflite

The core is an Ibex with three stages (the package pythondata-cpu-ibex), as Verilator simulates it; flash, which has all
code and constants, takes `--wait` cycles more for a word than RAM.  Outputs must be those of TensorFlow Lite
Micro where its package is installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import inputs, interpreters, tools
from benchmarks.processors import name_of
from benchmarks.subject import POOLS, SOURCES, Subject, generate, prepare
from benchmarks.tools import Unmeasured
from usmp_build.request import Isa

_RTL = Path(__file__).with_name("rtl")
_PACKAGES = "prim_util_pkg", "prim_count_pkg", "prim_cipher_pkg", "prim_secded_pkg", "prim_mubi_pkg", "prim_ram_1p_pkg"
_COMPILER = "riscv64-unknown-elf-gcc", "--specs=picolibc.specs", "-march=rv32imc", "-mabi=ilp32", "-misa-spec=2.2"
_COLUMNS = "cycles", "instructions", "waits for data", "waits for code"


class Counts(NamedTuple):
    """What the core has counted, in the order in which program.c says it."""

    cycles: int
    instructions: int
    data: int
    code: int

    def less(self, other: Counts) -> Counts:
        """Return what was counted since the other ones."""
        return Counts(*(a - b for a, b in zip(self, other, strict=True)))


def main(words: Sequence[str]) -> int:
    """Print the table; return 1 if a model is not measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cycles", description="Cycles of a RISC-V core.")
    parser.add_argument("--isa", default=Isa.SCALAR.value, choices=[Isa.PORTABLE.value, Isa.SCALAR.value])
    parser.add_argument("--wait", default=0, type=int)
    parser.add_argument("--optimize", default="-O2")
    parser.add_argument("models", nargs="+", type=Path)
    parsed = parser.parse_args(words)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        core = machine(Path(folder))
        print("| model | operators |" + "".join(f" {name} |" for name in _COLUMNS) + " cycles/instruction |")
        print("|---|---|" + "--:|" * (len(_COLUMNS) + 1))
        for path in parsed.models:
            try:
                subject = prepared(path, Path(folder) / path.stem, Isa(parsed.isa))
                for line in lines(path.stem, subject, run(core, subject, parsed.wait, parsed.optimize)):
                    print(line, flush=True)
            except Unmeasured as why:
                failed = 1
                print(f"{path}: {why}", file=sys.stderr)
    return failed


def machine(folder: Path) -> Path:
    """Compile the core and the machine around it."""
    found = find_spec("pythondata_cpu_ibex")
    if found is None or found.origin is None:
        raise SystemExit("there is no core: install pythondata-cpu-ibex")
    root = Path(found.origin).parent / "system_verilog"
    shared, prim = root / "vendor/lowrisc_ip/ip/prim/rtl", root / "dv/uvm/core_ibex/common/prim"
    folders = root / "rtl", shared, root / "vendor/lowrisc_ip/ip/prim_generic/rtl", prim
    included = root / "rtl", shared, root / "vendor/lowrisc_ip/dv/sv/dv_utils"
    packages = [*(shared / f"{name}.sv" for name in _PACKAGES), prim / "prim_pkg.sv", root / "rtl/ibex_pkg.sv"]
    command = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "-CFLAGS", "-O2", "-sv", "-DSYNTHESIS"]
    command += ["-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", "core", "--Mdir", str(folder / "machine")]
    command += [word for each in folders for word in ("-y", str(each))] + [f"-I{each}" for each in included]
    command += [*map(str, packages), str(_RTL / "core.sv"), str(_RTL / "machine.cpp"), "-o", "machine"]
    tools.run(command)
    return folder / "machine" / "machine"


def prepared(path: Path, folder: Path, isa: Isa) -> Subject:
    """Plan a model and write its C to a new folder.  Raises Unmeasured when it is refused."""
    folder.mkdir()
    subject = prepare(path, folder, isa=isa)
    generate(subject)
    return subject


def run(core: Path, subject: Subject, wait: int, optimize: str) -> list[tuple[int, Counts]]:
    """Return what the core had counted at the beginning, and after each step, with its position; -1 is none."""
    sources = [*SOURCES, POOLS, str(_RTL / "program.c"), str(_RTL / "program.S")]
    folder, image = subject.folder, subject.folder / "image"
    flags = [optimize, "-std=c99", "-DUSMP_HOOK", "-I.", "-ffunction-sections", "-Wl,--gc-sections", "-nostartfiles"]
    tools.run([*_COMPILER, *flags, *sources, "-T", str(_RTL / "program.ld"), "-lm", "-o", "program.elf"], folder)
    tools.run(["riscv64-unknown-elf-objcopy", "-O", "binary", "program.elf", str(image)], folder)
    said, output = tools.both([str(core), str(image), str(wait)])
    _compare(subject, output)
    rows = [tuple(map(int, line.split())) for line in said.decode().splitlines()]
    return [(position, Counts(*counts)) for position, *counts in rows]


def _compare(subject: Subject, output: bytes) -> None:
    """Raise Unmeasured if TensorFlow Lite Micro makes other outputs."""
    if find_spec("tflite_micro") is None:
        return
    model = subject.planned.analysis.models[0]
    interpreter = interpreters.tflm(str(subject.folder / "model.tflite"))
    for index, array in enumerate(inputs.drawn(model)):
        interpreter.fill(array, index)
    interpreter.invoke()
    expected = b"".join(np.asarray(interpreter.output(i)).tobytes() for i in range(len(model.main.outputs)))
    if output != expected:
        raise Unmeasured("its outputs are not those of TensorFlow Lite Micro")


def lines(name: str, subject: Subject, marks: Sequence[tuple[int, Counts]]) -> Iterator[str]:
    """Yield a row for the model, and one for each kind of operator."""
    graph = subject.planned.analysis.models[0].main
    operators = {operator.position: operator for operator in graph.operators}
    of_kinds: dict[str, Counter[str]] = {}
    for (_, before), (position, after) in pairwise(marks):
        operator = operators.get(position)
        kind = name_of(operator, graph) if operator else "added by the plan"
        of_kinds.setdefault(kind, Counter()).update(after.less(before)._asdict())
    (_, first), (_, last) = marks[0], marks[-1]
    for kind, counts in {"all": Counter(last.less(first)._asdict()), **of_kinds}.items():
        cells = [f"{counts[field]:,}" for field in Counts._fields]
        share = counts["cycles"] / max(1, counts["instructions"])
        yield f"| {name} | {kind} | {' | '.join(cells)} | {share:.2f} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
