"""What verbs load before they do anything: no more than they use, and nothing that our wheel does not require."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.processes import Done, output, run
from tests.support.tree import ROOT
from tests.support.verbs import COMMANDS, ONLY, prepare, required
from usmp_build.cli import VERBS

MODULES = """
import json, sys
from usmp_build.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
assert not code
print("\\n" + json.dumps([*sys.modules]))
"""


def modules(*arguments: object, env: dict[str, str] | None = None) -> set[str]:
    """The modules of a process that ran a verb."""
    command = [sys.executable, "-c", MODULES, *arguments]
    return {*json.loads(output(command, env=os.environ | {"PYTHONPATH": str(ROOT)} | (env or {})).splitlines()[-1])}


def packages(names: set[str], depth: int = 1) -> set[str]:
    """The packages of modules, or packages in packages."""
    return {".".join(name.split(".")[:depth]) for name in names}


def importable() -> set[str]:
    """The names of all modules that our wheel requires."""
    return {name.partition(".")[0] for name in required()}


def bare(folder: Path, lines: str) -> Done:
    """Run command lines where there is nothing but what the wheel requires."""
    command = [sys.executable, "-c", ONLY, ",".join(["usmp_build", "_usmp_build_core", *importable()])]
    return run(command, folder, os.environ | {"PYTHONPATH": str(ROOT)}, said=lines)


def test_every_verb_says_how_it_is_used_with_nothing_but_what_we_require(tmp_path: Path) -> None:
    done = bare(tmp_path, "\n".join(["--help", *(f"{verb} --help" for verb in VERBS)]))
    assert done.code == 0, done.err
    assert all(f"usage: usmp-build {verb} " in done.out for verb in VERBS)


def test_every_verb_works_with_nothing_but_what_we_require(tmp_path: Path) -> None:
    prepare(tmp_path)
    done = bare(tmp_path, COMMANDS)
    assert done.code == 0, done.out + done.err
    assert "(to compare with TensorFlow Lite Micro: pip install 'usmp_build[oracle]')" in done.out
    assert "(bytes, computed, not measured: pip install 'usmp_build[oracle]')" in done.out


@pytest.mark.parametrize("verb", VERBS)
def test_help_says_of_a_verb_what_its_module_says(verb: str) -> None:
    assert (import_module(f"usmp_build.cli.{verb}").__doc__ or "").partition("\n")[0] == VERBS[verb]
    listed = " ".join(call("--help").out.split())
    assert f"{verb} {VERBS[verb]}" in listed


def test_help_and_the_names_of_verbs_load_no_verb() -> None:
    loaded = modules("--help")
    assert loaded == modules("--version")
    assert (
        packages(loaded, 2) & {f"usmp_build.{name}" for name in ("pipeline", "planner", "manifest", "request")} == set()
    )
    assert not packages(loaded) & {"numpy", "pydantic", "jinja2", "argcomplete", "yaml", *importable()}
