"""Plan two models into shared pools, build them with CMake for this machine, and let them read real digits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from usmp_build import installation
from usmp_build.cli.table import plan_table
from usmp_build.errors import CheckFailed, Diagnostic, UsageError
from usmp_build.files import DiskFiles
from usmp_build.processes import Unfinished, program, run_program

_SECONDS = 600


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--out", default="build/demo", metavar="FOLDER", help="where to build (default: build/demo)")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code."""
    from usmp_build import pipeline  # only now: help and completion do without it

    project, folder = installation.example("digits"), Path(parsed.out)
    if program("cmake") is None:
        raise UsageError(
            Diagnostic("U206", "the demo needs CMake 3.22 or newer", help="install cmake and a C compiler")
        )
    generator = ["-G", "Ninja"] if program("ninja") else []
    configuration = [f"-Dusmp_build_DIR={installation.cmake_dir().as_posix()}", f"-DUSMP_BUILD_PYTHON={sys.executable}"]
    _call("cmake", "-S", str(project), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release", *configuration)
    _call("cmake", "--build", str(folder))
    files = DiskFiles(project)
    planned = pipeline.plan(pipeline.read("usmp.toml", files), files)
    print(
        f"{plan_table(planned.summary, pipeline.compare(planned))}\n\n{_call(str((folder / 'reader').resolve()))}",
        end="",
    )
    return 0


def _call(*command: str) -> str:
    """Run a program; return what it prints.  Raises CheckFailed with that when it fails."""
    try:
        done = run_program(command, _SECONDS)
    except Unfinished as error:
        raise CheckFailed(Diagnostic("S606", f"{command[0]}: {error}", help="run the demo again")) from None
    output = done.out.decode("utf-8", "replace")
    if done.code:
        message = f"{command[0]} failed:\n{output}{done.text}"
        raise CheckFailed(Diagnostic("S606", message.rstrip(), help="correct that, and run the demo again"))
    return output
