"""CMake projects in tests: set up, configured, built, and what each build did."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import tflite

from tests.conftest import ROOT
from tests.support.cli import DATA

PROJECTS = ROOT / "tests" / "build_systems" / "projects"
PYTHON = f"-DUSMP_BUILD_PYTHON={Path(sys.executable).as_posix()}"

_TOOLS = {"Ninja": "ninja", "Ninja Multi-Config": "ninja", "Unix Makefiles": "make"}
_STEP = re.compile(
    r"^\[[\s\d/%]+\] (Planning|Building C object|Linking C static library|Linking C executable) (.*)$", re.MULTILINE
)
_VERBS = {"Planning": "plan", "Building": "compile", "Linking": "link"}
_MEDDLERS = ("CMAKE_GENERATOR", "CMAKE_BUILD_TYPE", "MAKEFLAGS", "NINJA_STATUS", "VERBOSE")
"""What the environment of the tests may hold that changes how CMake builds."""


@dataclass(frozen=True)
class Project:
    """A project: its source tree and its build tree."""

    source: Path
    binary: Path
    generator: str = "Unix Makefiles"
    env: Mapping[str, str] | None = None
    """Instead of the environment of the tests."""

    @property
    def generated(self) -> Path:
        """Where the plan called `plan` generates."""
        return self.binary / "plan.usmp"

    def configure(self, *options: str) -> str:
        """Configure; return what CMake said.  Fails the test if CMake fails."""
        code, text = self.try_to_configure(*options)
        assert code == 0, text
        return text

    def try_to_configure(self, *options: str) -> tuple[int, str]:
        """Configure; return the exit code and what CMake said."""
        return self._cmake("-S", str(self.source), "-B", str(self.binary), "-G", self.generator, *options)

    def build(self, *options: str) -> list[str]:
        """Build; return what was done, sorted: `plan`, `compile digits.c`, `link app`."""
        code, text = self.try_to_build(*options)
        assert code == 0, text
        return steps(text)

    def try_to_build(self, *options: str) -> tuple[int, str]:
        """Build; return the exit code and what was said."""
        return self._cmake("--build", str(self.binary), "--parallel", "2", *options)

    def products(self) -> dict[str, int]:
        """Return the time of every file that the build made: generated files, stamps, objects, libraries, programs."""
        kinds = (".a", ".c", ".h", ".json", ".ld", ".o", ".obj", ".stamp")
        files = [path for path in self.binary.rglob("*") if path.suffix in kinds or path.name == "app"]
        return {path.relative_to(self.binary).as_posix(): path.stat().st_mtime_ns for path in files if path.is_file()}

    def _cmake(self, *arguments: str) -> tuple[int, str]:
        env = dict(os.environ if self.env is None else self.env)
        for name in _MEDDLERS:
            env.pop(name, None)
        done = subprocess.run(
            ["cmake", *arguments],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout


def steps(text: str) -> list[str]:
    """Read from a build's output what it did."""
    found = []
    for what, name in _STEP.findall(text):
        file = name.rpartition("/")[2].removesuffix(".o").removesuffix(".obj")
        found.append("plan" if what == "Planning" else f"{_VERBS[what.split()[0]]} {file}")
    return sorted(found)


def need(generator: str) -> None:
    """Skip the test where a tool is missing."""
    for tool in ("cmake", _TOOLS[generator]):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def copy_project(name: str, to: Path, models: Mapping[str, str]) -> Path:
    """Copy a project of ours, and models of ours into it: where in the project → which of tests/data."""
    shutil.copytree(PROJECTS / name, to)
    for place, model in models.items():
        shutil.copyfile(DATA / f"{model}.tflite", to / place)
    return to


def write_project(to: Path, files: Mapping[str, str]) -> Path:
    """Write a project from texts; `DATA` stands for the folder of our models, `ROOT` for our source tree."""
    for name, text in files.items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("DATA", DATA.as_posix()).replace("ROOT", ROOT.as_posix()), encoding="utf-8")
    return to


def answers(app: Path, picture: int = 0) -> tuple[bytes, bytes]:
    """What the program says of a picture, and what TensorFlow Lite Micro says."""
    golden = np.load(DATA / "digits.npz")
    said = subprocess.run([app], input=golden["images"][picture].tobytes(), capture_output=True, check=True).stdout
    return said, golden["digits_output"][picture].tobytes() + golden["odd_even_output"][picture].tobytes()


def touch(path: Path) -> None:
    """Give a file the time of now; file systems are slower than tests, so a little later than its neighbours'.

    What is made of it afterwards must be newer, so wait until that time has come.
    """
    path.touch()
    newest = max(file.stat().st_mtime_ns for file in path.parent.iterdir())
    os.utime(path, ns=(newest + 10_000_000, newest + 10_000_000))
    time.sleep(0.02)


def train_again(model: Path) -> None:
    """Make a model another one with the same graph: other weights, other scales."""
    data = bytearray(model.read_bytes())
    graph = tflite.Model.GetRootAsModel(data, 0).Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        constants = tflite.Model.GetRootAsModel(data, 0).Buffers(tensor.Buffer())
        if constants.DataLength() and tensor.Quantization().ScaleLength():
            # Weights and biases alike, for a bias has the scale of input times weights.
            tensor.Quantization().ScaleAsNumpy()[:] *= np.float32(0.75)
            constants.DataAsNumpy()[0] ^= 1
    model.write_bytes(data)
    touch(model)


def rename_tensors(model: Path) -> None:
    """Make a model another one with the same numbers: comments of the generated C are not the same."""
    data = model.read_bytes()
    renamed = data.replace(b"MatMul", b"Matmul")
    assert renamed != data
    model.write_bytes(renamed)
    touch(model)
