"""Installations whose requirements come from a package index: the oldest and the newest, other Pythons, pipx, uvx."""

import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest
import tomli

import usmp_build
from tests.support import processes
from tests.support.cli import TWO_MODELS, call, manifest
from tests.support.environments import Environment
from tests.support.processes import far_from_us, output
from tests.support.tools import need
from tests.support.tree import ROOT

VERSION = f"usmp_build {usmp_build.__version__}\n"
OUT_OF_REACH = ("error sending request", "Failed to fetch", "Could not connect", "NewConnectionError", "dns error")
_PATHS = [sys.executable, *filter(None, os.environ.get("USMP_PYTHONS", "").split(os.pathsep))]
PYTHONS = [*{os.path.realpath(path): path for path in _PATHS}.values()]
"""The tests' own interpreter and those in $USMP_PYTHONS, each once."""


def run(tool: str, *arguments: object, env: Mapping[str, str] | None = None) -> str:
    """Run a tool of the tests' environment; return what it prints.  Skips the test without tool or index."""
    path = Path(sysconfig.get_path("scripts")) / tool
    need(path)
    done = processes.run([path, *arguments], env=far_from_us() | dict(env or {}))
    if done.code != 0 and any(sign in done.err for sign in OUT_OF_REACH):
        pytest.skip("no package index is in reach")
    assert done.code == 0, done.out + done.err
    return done.out


def installed(python: str, folder: Path, *arguments: object) -> Environment:
    """A fresh environment of an interpreter, with what uv installs."""
    run("uv", "venv", "--no-python-downloads", "--python", python, folder)
    environment = Environment(folder)
    run("uv", "pip", "install", "--python", environment.python, *arguments)
    return environment


def plans_as_we_do(environment: Environment, folder: Path) -> bool:
    """Whether it generates the same bytes as our source tree in the tests' environment."""
    place = manifest(folder, TWO_MODELS)
    environment.usmp("generate", place, "--out", folder / "theirs")
    assert call("generate", place, "--out", folder / "ours").code == 0
    theirs, ours = ({path.name: path.read_bytes() for path in (folder / who).iterdir()} for who in ("theirs", "ours"))
    return theirs == ours


@pytest.mark.parametrize("python", PYTHONS)
def test_the_oldest_requirements_do_for_each_python(python: str, wheel: Path, tmp_path: Path) -> None:
    """The oldest that we allow, or the oldest that there is for this Python."""
    allowed = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    options = ("--resolution", "lowest-direct", "--only-binary", ":all:")
    oldest = installed(python, tmp_path / "env", *options, wheel, *allowed)
    if version(python) < (3, 12):
        assert oldest.passes("python", "-c", "import numpy; print(numpy.__version__)") == "1.24.0\n"
    assert plans_as_we_do(oldest, tmp_path)
    assert oldest.usmp("schema") == (ROOT / "schemas" / "usmp.schema.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_newest_requirements_do_for_each_python(python: str, wheel: Path, tmp_path: Path) -> None:
    assert plans_as_we_do(installed(python, tmp_path / "env", wheel), tmp_path)


def version(python: str) -> tuple[int, ...]:
    """The version of an interpreter: 3.12 is (3, 12)."""
    return tuple(map(int, output([python, "-c", "import sys; print(*sys.version_info[:2])"]).split()))


@pytest.mark.parametrize("name", ["usmp-build", "usmp_build"])
def test_pipx_runs_it(name: str, wheel: Path, tmp_path: Path) -> None:
    home = {"PIPX_HOME": str(tmp_path)}
    assert run("pipx", "run", "--quiet", "--spec", wheel, name, "--version", env=home) == VERSION


def test_uvx_runs_it(wheel: Path) -> None:
    assert run("uvx", "--from", wheel, "usmp-build", "--version") == VERSION
