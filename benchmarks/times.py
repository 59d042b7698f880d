"""The command: CPU seconds and memory of the tool, from planning one small model to a refusal of five.

    python -m benchmarks.times models/*.tflite

takes hello, kws, vww, ic, micro_speech and person_detect from among the models; rows of others are left out.  Each line
is one command in a process of its own, Python's start included: CPU time is far less noisy than time on the clock.
Two large nets are made here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.large_nets import chain, many_cells

_POOLS = '[project]\nname = "firmware"\n[pools.sram]\naccess = "rw"\n[pools.flash]\naccess = "ro"\n'
_SMALL = _POOLS.replace('access = "rw"\n', 'access = "rw"\nsize = "24 KiB"\n')
_TWO = _SMALL.replace("[pools.sram]", '[pools.dtcm]\naccess = "rw"\nsize = "16 KiB"\n[pools.sram]')
_THREE = ("kws", "vww", "ic")


@dataclass(frozen=True, slots=True)
class Case:
    """A command, and the firmware that it is given."""

    name: str
    verb: str
    models: tuple[str, ...]
    manifest: str = _POOLS
    """Without the models."""
    plan: str = ""
    """Lines of [plan]."""


_CASES = (
    Case("`plan` of hello", "plan", ("hello",)),
    Case("`plan` of kws", "plan", ("kws",)),
    Case('the same with `recompute = "5 %"`', "plan", ("kws",), plan='recompute = "5 %"'),
    Case("`generate` of kws, vww and ic", "generate", _THREE),
    Case("`plan` of these", "plan", _THREE),
    Case("`report` of these", "report", _THREE),
    Case("`plan` of these, micro_speech and person_detect", "plan", (*_THREE, "micro_speech", "person_detect")),
    Case("refusal of vww in 24 KiB", "plan", ("vww",), _SMALL),
    Case(
        "refusal of five, two of them concurrent, in 16 and 24 KiB",
        "plan",
        (*_THREE, "micro_speech", "person_detect"),
        'concurrent = [["kws", "micro_speech"]]\n' + _TWO,
    ),
    Case("`plan` of a chain of 800 layers", "plan", ("chain",)),
    Case("`plan` of 994 operators in cells", "plan", ("cells",)),
)


def main(paths: Sequence[str]) -> int:
    """Print the table."""
    models = {Path(path).stem: Path(path).read_bytes() for path in paths}
    models |= {"chain": chain(800), "cells": many_cells(90)}
    print("| command | CPU s | MiB |")
    print("|---|--:|--:|")
    for line in _lines(models):
        print(line, flush=True)
    return 0


def _lines(models: Mapping[str, bytes]) -> Iterator[str]:
    for case in _CASES:
        if models.keys() >= {*case.models}:
            with tempfile.TemporaryDirectory(prefix="usmp-benchmark-") as folder:
                _write(case, models, Path(folder))
                seconds, kib = _spent([case.verb, "usmp.toml"], Path(folder))
            yield f"| {case.name} | {seconds:.1f} | {kib // 1024:,} |"


def _write(case: Case, models: Mapping[str, bytes], folder: Path) -> None:
    manifest = case.manifest + (f"[plan]\n{case.plan}\n" if case.plan else "")
    for name in case.models:
        (folder / f"{name}.tflite").write_bytes(models[name])
        manifest += f'[models.{name}]\npath = "{name}.tflite"\n'
    (folder / "usmp.toml").write_text(manifest, encoding="utf-8")


def _spent(words: Sequence[str], folder: Path) -> tuple[float, int]:
    """Return the CPU seconds and the most KiB of memory of one command."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "usmp_build", *words]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in {0, 3}, f"{words} ended with {process.returncode}"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
