"""CMake projects in tests: set up, configured, built, and what each build did."""

import itertools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import tools
from tests.support.processes import environment, output, run
from tests.support.warm import interpreter

PYTHON = f"-DUSMP_BUILD_PYTHON={interpreter().as_posix()}"

CMAKES = ("cmake", *(os.environ.get("USMP_CMAKES") or "a CMake of USMP_CMAKES").split(os.pathsep))
"""The CMakes to test with: the one on PATH, and those of $USMP_CMAKES.

Where that names none, the second one is not there: its tests are skipped, which CI does not let pass.
"""
_TOOLS = {"Ninja": "ninja", "Ninja Multi-Config": "ninja", "Unix Makefiles": "make"}
_STEP = re.compile(
    r"^\[[\s\d/%]+\] (Planning|Building C object|Linking C static library|Linking C executable) (.*)$", re.MULTILINE
)
_VERBS = {"Planning": "plan", "Building": "compile", "Linking": "link"}


@dataclass(frozen=True)
class Project:
    """A project: its source tree and its build tree."""

    source: Path
    binary: Path
    generator: str = "Unix Makefiles"
    cmake: str = "cmake"
    env: Mapping[str, str] | None = None
    """Instead of the environment of the tests; without what changes builds."""

    @property
    def app(self) -> Path:
        """The program called `app`, as the default configuration builds it."""
        return self.binary / ("Debug" if "Multi-Config" in self.generator else "") / "app"

    @property
    def generated(self) -> Path:
        """Where the plan called `plan` generates."""
        return self.binary / "plan.usmp"

    def configure(self, *options: str) -> str:
        """Configure; return the output.  Fails the test if CMake fails."""
        code, text = self.try_to_configure(*options)
        assert code == 0, text
        return text

    def try_to_configure(self, *options: str) -> tuple[int, str]:
        """Configure; return the exit code and the output."""
        return self._cmake("-S", str(self.source), "-B", str(self.binary), "-G", self.generator, *options)

    def build(self, *options: str) -> list[str]:
        """Build; return what was done, sorted: `plan`, `compile digits.c`, `link app`."""
        code, text = self.try_to_build(*options)
        assert code == 0, text
        return steps(text)

    def try_to_build(self, *options: str) -> tuple[int, str]:
        """Build; return the exit code and the output.  Processes of Make would write into each other's lines."""
        lines = ("--", "--output-sync=line") if "Make" in self.generator else ()
        return self._cmake("--build", str(self.binary), "--parallel", "2", *options, *lines)

    def products(self) -> dict[str, int]:
        """Return the time of every file that the build wrote: generated files, stamps, objects, libraries, programs."""
        kinds = (".a", ".c", ".h", ".json", ".ld", ".o", ".obj", ".stamp")
        files = [path for path in self.binary.rglob("*") if path.suffix in kinds or path.name == "app"]
        return {path.relative_to(self.binary).as_posix(): path.stat().st_mtime_ns for path in files if path.is_file()}

    def _cmake(self, *arguments: str) -> tuple[int, str]:
        env = environment() if self.env is None else self.env
        done = run([self.cmake, *arguments], env=env, merged=True)
        return done.code, done.out


def steps(text: str) -> list[str]:
    """Read from a build's output what it did."""
    done = []
    for what, name in _STEP.findall(text):
        file = name.rpartition("/")[2].removesuffix(".o").removesuffix(".obj")
        done.append("plan" if what == "Planning" else f"{_VERBS[what.split()[0]]} {file}")
    return sorted(done)


def version(cmake: str) -> str:
    """Return the version of a CMake; its name where it is not there."""
    return cmake if tools.missing(cmake) else output([cmake, "--version"]).split()[2]


EVERY_CMAKE = pytest.mark.parametrize("cmake", CMAKES, ids=version)
COVERING = pytest.mark.parametrize(
    ("generator", "cmake"),
    list(zip(("Ninja", "Unix Makefiles", "Ninja Multi-Config"), itertools.cycle(CMAKES), strict=False)),
    ids=lambda each: each if each in _TOOLS else version(each),
)
"""Each generator and each CMake, but not each with each."""
GENERATORS = tuple(_TOOLS)
EACH_GENERATOR = pytest.mark.parametrize("generator", GENERATORS)
NINJA_AND_MAKE = pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
"""For what Ninja Multi-Config does as Ninja does."""


def need_cmake(generator: str = "Unix Makefiles", cmake: str = "cmake") -> None:
    """Skip the test where CMake, or what a generator writes files for, is missing."""
    tools.need(cmake, _TOOLS[generator])
