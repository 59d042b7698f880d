"""A model to measure: planned by itself, and its C in a folder; or several, planned together.

Every subject is called `model`, of a project called `firmware`: its functions have the same names whatever its file's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import inputs
from benchmarks.tools import Unmeasured
from usmp_build import pipeline
from usmp_build.errors import UsmpError
from usmp_build.files import DictFiles
from usmp_build.layout.layout import Layout
from usmp_build.output import writer
from usmp_build.request import Isa

MANIFEST = "usmp.toml"
MODEL = "model.tflite"
SOURCES = ("model.c", "firmware_kernels.c")
"""What is generated for one model, without constants and pools."""
POOLS = "firmware_pools.c"

_PROJECT = """
[project]
name = "firmware"

[pools.sram]
access = "rw"
region = "SRAM"

[pools.flash]
access = "ro"
region = "FLASH"
"""
_TARGET = """
[targets.cpu]
isa = "{isa}"
kernels = "{kernels}"
"""
_MODEL = """
[models.{name}]
path = "{name}.tflite"
"""


@dataclass(frozen=True)
class Subject:
    """A model file, its plan, and the folder of its C."""

    files: DictFiles
    planned: pipeline.Planned
    folder: Path

    @property
    def data(self) -> bytes:
        """The model file."""
        return self.files.read(MODEL)


def prepare(path: Path, folder: Path, words: str = "", isa: Isa | None = None, kernels: str = "reference") -> Subject:
    """Read and plan a model, with these words after its table.  Raises Unmeasured when it is refused.

    Without `isa` the plan is portable, and a build for a board plans for that board's instructions.
    """
    target = _TARGET.format(isa=isa.value, kernels=kernels) if isa else ""
    files, planned = _plan({MODEL: path}, words + target)
    for name in (MANIFEST, MODEL):
        (folder / name).write_bytes(files.read(name))
    return Subject(files, planned, folder)


def together(paths: Sequence[Path]) -> pipeline.Planned:
    """Read several models and plan them into the same pools.  Raises Unmeasured when that is refused."""
    return _plan({f"model_{index}.tflite": path for index, path in enumerate(paths)})[1]


def generate(subject: Subject) -> Layout:
    """Write the model's C, and `benchmark.h` with its inputs.  Raises Unmeasured when an operator has no kernel."""
    try:
        layout = pipeline.lay_out(subject.planned)
    except UsmpError as error:
        raise Unmeasured(f"no C is generated: {_first_line(error)}") from None
    writer.write(pipeline.emit(layout), subject.folder)
    arrays = inputs.drawn(subject.planned.analysis.models[0])
    (subject.folder / "benchmark.h").write_text(inputs.header(layout.models[0][1], arrays), encoding="utf-8")
    return layout


def _plan(paths: dict[str, Path], words: str = "") -> tuple[DictFiles, pipeline.Planned]:
    manifest = _PROJECT + "".join(_MODEL.format(name=Path(name).stem) for name in paths) + words
    try:
        files = DictFiles({MANIFEST: manifest.encode(), **{name: path.read_bytes() for name, path in paths.items()}})
        return files, pipeline.plan(pipeline.read(MANIFEST, files), files)
    except OSError as error:
        raise Unmeasured(f"cannot be read: {error.strerror}") from None
    except UsmpError as error:
        raise Unmeasured(_first_line(error)) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].replace(f"{MODEL}: ", "")
