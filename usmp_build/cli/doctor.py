"""Say which tools this machine has, of those that usmp_build can use, and what needs the missing ones."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version

import usmp_build
from usmp_build.cli.table import columns
from usmp_build.errors import UsmpError
from usmp_build.frozen import frozen
from usmp_build.planner.algorithms import core
from usmp_build.processes import Unfinished, run_program

_SECONDS = 10
"""A program that does not say its version by then does not work."""
_MISSING = "missing"
_CORE = "compiled core"
_PACKAGES = {
    "tflite-micro": ("usmp_build[oracle]", "comparing with TensorFlow Lite Micro: selftest, export tflm"),
    "apache-tvm": ("usmp_build[tvm]", "ONNX files and Relax modules"),
    "argcomplete": ("usmp_build[completion]", "completing command lines"),
}
"""Package → what brings it, and what needs it."""
_PROGRAMS = {
    "cmake": "CMake projects, from version 3.22 on",
    "ninja": "CMake projects that choose it",
    "make": "Make projects",
    "bazel": "Bazel projects",
    "arm-none-eabi-gcc": "firmware for Arm, and the examples of it",
    "riscv64-unknown-elf-gcc": "examples for RISC-V",
    "qemu-system-arm": "running the examples for Arm",
    "qemu-system-riscv32": "running the examples for RISC-V",
}


@frozen
class Tool:
    """A tool, and what it is for."""

    name: str
    version: str | None
    """None: it is missing, or does not run."""
    purpose: str
    remedy: str
    """How to get it where it is missing; empty: by the system's package manager."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--json", action="store_true", help="print a list of tools instead of a table")


def run(parsed: argparse.Namespace) -> int:
    """Run the command; return the exit code: what is missing is no failure."""
    tools = list(_tools())
    if parsed.json:
        print(json.dumps([asdict(tool) for tool in tools], indent=2))
        return 0
    rows = [(tool.name, tool.version or _MISSING, tool.purpose) for tool in tools]
    print(*columns(("tool", "version", "for"), rows, "<<<"), sep="\n")
    remedies = [f"{tool.name}: {tool.remedy}" for tool in tools if tool.version is None and tool.remedy]
    print(*(["", *remedies] if remedies else []), sep="\n", end="\n" if remedies else "")
    return 0


def _tools() -> Iterator[Tool]:
    yield Tool("usmp_build", usmp_build.__version__, "all of this", "")
    yield Tool("python", platform.python_version(), "all of this", "")
    yield _core()
    for name, (requirement, purpose) in _PACKAGES.items():
        yield Tool(name, _package(name), purpose, f"pip install '{requirement}'")
    compiler = os.environ.get("CC") or "cc"
    yield Tool(compiler, _program(shlex.split(compiler)), "building for this machine: selftest, demo", "")
    for name, purpose in _PROGRAMS.items():
        yield Tool(name, _program([name]), purpose, "")


def _core() -> Tool:
    try:
        core.check()
    except UsmpError as error:
        (why,) = error.diagnostics
        return Tool(_CORE, None, "all planning", f"{why.message.removeprefix(core.WHAT).strip()}; {why.help}")
    return Tool(_CORE, usmp_build.__version__, "all planning", "")


def _package(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _program(command: Sequence[str]) -> str | None:
    """Return the version that a program says; None where it does not run."""
    try:
        done = run_program([*command, "--version"], _SECONDS)
    except (OSError, Unfinished):
        return None
    number = re.search(r"\d+(\.\d+)+", re.sub(r"\([^)]*\)", "", done.out.decode("utf-8", "replace")))
    return None if done.code else number.group() if number else "unknown"
