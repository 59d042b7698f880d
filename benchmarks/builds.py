"""What it costs a CMake build to have us: twenty models in ten folders, against the same C without us.

    python -m benchmarks.builds tests/data/digits.tflite tests/data/odd_even.tflite

prints a table: seconds of a build in which nothing is to be done, and of configuring again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.tools import Unmeasured, run
from usmp_build.installation import cmake_dir

FOLDERS = 10
MODELS_EACH = 2
GENERATORS = ("Ninja", "Unix Makefiles")

_START = "cmake_minimum_required(VERSION 3.22)\nproject(many LANGUAGES C)\n"
_MANIFEST = '[project]\nname = "many"\n[pools.sram]\naccess = "rw"\n[pools.flash]\naccess = "ro"\n'


def names() -> list[list[str]]:
    """Return the names of the models in each folder."""
    return [[f"model_{folder}_{number}" for number in range(MODELS_EACH)] for folder in range(FOLDERS)]


def write_with_us(to: Path, models: Sequence[Path]) -> Path:
    """Write the project that plans, builds and links its models, which are these by turns; return its folder."""
    _write(to / "usmp.toml", _MANIFEST)
    _write_top(to, "find_package(usmp_build REQUIRED)\nusmp_add_plan(plan MANIFEST usmp.toml)\n")
    for folder, group in enumerate(names()):
        calls = [
            f'add_usmp_model({name} PLAN plan MODEL "{models[(folder + n) % len(models)].resolve().as_posix()}")\n'
            for n, name in enumerate(group)
        ]
        _write(to / f"folder_{folder}" / "CMakeLists.txt", "".join(calls))
    return to


def write_without_us(to: Path, generated: Path) -> Path:
    """Write the project that compiles the same C into as many libraries; return its folder."""
    shared = " ".join(f'"{path.as_posix()}"' for path in sorted(generated.glob("many_*.c")))
    folder = f'"{generated.as_posix()}"'
    _write_top(
        to,
        f"add_library(plan STATIC {shared})\ntarget_include_directories(plan PUBLIC {folder})\n"
        "target_link_libraries(plan PRIVATE m)\n",
    )
    for number, group in enumerate(names()):
        calls = [
            f'add_library({name} STATIC "{generated.as_posix()}/{name}.c")\ntarget_link_libraries({name} plan)\n'
            for name in group
        ]
        _write(to / f"folder_{number}" / "CMakeLists.txt", "".join(calls))
    return to


def _write_top(to: Path, plan: str) -> None:
    every = [name for group in names() for name in group]
    folders = "".join(f"add_subdirectory(folder_{number})\n" for number in range(FOLDERS))
    app = f"add_executable(app main.c)\ntarget_link_libraries(app PRIVATE {' '.join(every)})\n"
    _write(to / "CMakeLists.txt", _START + plan + folders + app)
    includes = "".join(f'#include "{name}.h"\n' for name in every)
    runs = " + ".join(f"(int){name}_run()" for name in every)
    _write(to / "main.c", f"{includes}int main(void) {{ return {runs}; }}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def measure(generator: str, models: Sequence[Path], runs: int, cmake: str, folder: Path) -> str:
    """Return a row of the table."""
    theirs, ours = folder / "build without us", folder / "build with us"
    options = ["-G", generator, f"-Dusmp_build_DIR={cmake_dir()}", f"-DUSMP_BUILD_PYTHON={sys.executable}"]
    theirs, ours = folder / "build without us", folder / "build with us"
    configure_ours = [cmake, "-S", str(write_with_us(folder / "with", models)), "-B", str(ours), *options]
    build_ours = [cmake, "--build", str(ours)]
    run(configure_ours)
    run(build_ours)
    source = write_without_us(folder / "without", ours / "plan.usmp")
    configure_theirs = [cmake, "-S", str(source), "-B", str(theirs), *options]
    build_theirs = [cmake, "--build", str(theirs)]
    run(configure_theirs)
    run(build_theirs)
    building, configuring = (
        _compared(_least(without, runs), _least(with_us, runs))
        for without, with_us in ((build_theirs, build_ours), (configure_theirs, configure_ours))
    )
    return f"| {generator} | {building} | {configuring} |"


def _compared(without: float, with_us: float) -> str:
    """Return the seconds of both, and the difference of what is shown; `+ 0.0` makes a zero positive."""
    without, with_us = round(without, 2), round(with_us, 2)
    return f"{without:.2f} | {with_us:.2f} | {round(with_us - without, 2) + 0.0:+.2f}"


def _least(command: Sequence[str], runs: int) -> float:
    """Return the seconds of a command's fastest run."""
    seconds = []
    for _ in range(runs):
        start = perf_counter()
        run(command)
        seconds.append(perf_counter() - start)
    return min(seconds)


def main(arguments: list[str]) -> int:
    """Do it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.builds", description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite", help="the models are these by turns")
    parser.add_argument("--runs", type=int, default=10, metavar="N", help="the fastest of so many (default: 10)")
    parser.add_argument("--cmake", default="cmake", metavar="PATH", help="another CMake")
    parsed = parser.parse_args(arguments)
    print("| generator | no-op without us | with us | more | configure without us | with us | more |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for generator in GENERATORS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(measure(generator, parsed.models, parsed.runs, parsed.cmake, Path(folder)), flush=True)
            except Unmeasured as reason:
                print(f"{generator}: {reason}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
