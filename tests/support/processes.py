"""Processes that tests run: what came of them, and an environment that does not change what they do."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_BUILDS = ("ASMFLAGS", "CFLAGS", "CMAKE_", "CPPFLAGS", "CXX", "LDFLAGS", "MAKE", "NINJA_STATUS", "SKBUILD_", "VERBOSE")
"""What the names of variables begin with that change how things are built."""
_CCACHE = {
    "CMAKE_C_COMPILER_LAUNCHER": "ccache",
    "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
    "CCACHE_BASEDIR": tempfile.gettempdir(),
    "CCACHE_NOHASHDIR": "1",
}


@dataclass(frozen=True)
class Done:
    """What came of a process, or of a verb that was called here."""

    code: int
    """Its exit code."""
    out: str
    """What it printed."""
    err: str
    """Its messages; empty where both were merged."""


def run(
    command: Sequence[object],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    *,
    stdin: str | None = None,
    merged: bool = False,
    umask: int = -1,
    timeout: float = 300,
) -> Done:
    """Run a program to its end, which must come within `timeout` seconds.

    It reads `stdin`, by default nothing.  `merged` puts messages into its output, in the order in which they came.  The
    folder and the environment are those of the tests if not given.
    """
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=env,
        **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        text=True,
        umask=umask,
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr or "")


def output(command: Sequence[object], cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a program, which must succeed; return what it prints.  Fails the test with its messages otherwise."""
    done = run(command, cwd, env)
    assert done.code == 0, f"{' '.join(map(str, command))} exits {done.code}:\n{done.out}{done.err}"
    return done.out


def environment(*without: str) -> dict[str, str]:
    """The environment of the tests without what changes builds, and what else begins with one of these.

    Where ccache is installed, CMake compiles with it: tests build the same C in many folders, and
    our core for many interpreters.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_BUILDS)}
    every = inherited | (_CCACHE if shutil.which("ccache") else {})
    return {name: value for name, value in every.items() if not name.startswith(without)}


def far_from_us() -> dict[str, str]:
    """The same without what would lead a process to our source tree, or to the packages of the tests."""
    return environment("PYTHON", "USMP_", "VIRTUAL_ENV")
