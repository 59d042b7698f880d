"""TVM's programs, restated, on their way through manifest and pipeline."""

import json
from typing import Any

from tests.support.cli import RO, RW, tables
from tests.support.tree import ROOT
from usmp_build import pipeline
from usmp_build.files import DictFiles
from usmp_build.ir.storage import Kind
from usmp_build.pipeline import Planned

FOLDER = ROOT / "tests" / "cases" / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "io")


def read_case(name: str) -> dict[str, Any]:
    case: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return case


def manifest(io: str = "application", algorithm: str = "auto") -> str:
    model = f'path = "m.program.json"\nio = "{io}"\n'
    return tables("t", {"sram": RW, "flash": RO}, {"m": model}) + f'[plan]\nalgorithm = "{algorithm}"\n'


def plan_program(program: bytes, io: str = "application") -> Planned:
    """Plan a program file as a user would."""
    files = DictFiles({"usmp.toml": manifest(io).encode(), "m.program.json": program})
    return pipeline.plan(pipeline.read("usmp.toml", files), files)


def plan_case(name: str) -> Planned:
    return plan_program((FOLDER / f"{name}.json").read_bytes())


def conflicts(planned: Planned) -> dict[str, set[str]]:
    """Buffer → those it may not overlap, without the model's name; what has one name in two functions is numbered."""
    names = [buffer.name.removeprefix("m.") for buffer in planned.analysis.storage.buffers]
    return {
        name: {names[o] for o in others} for name, others in zip(names, planned.analysis.problem.conflicts, strict=True)
    }


def pressure(planned: Planned) -> int:
    """The bytes alive at the heaviest step, constants left out."""
    analysis = planned.analysis
    totals = [0] * analysis.schedule.length
    for buffer, intervals in zip(analysis.storage.buffers, analysis.lifetimes.intervals, strict=True):
        for start, stop in intervals if buffer.kind is not Kind.CONSTANT else ():
            for step in range(start, stop):
                totals[step] += buffer.size
    return max(totals)
