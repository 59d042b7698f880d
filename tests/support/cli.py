"""The command line, as tests call it: in this process, or in one of its own."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import Done, run
from tests.support.tree import ROOT
from usmp_build.cli import main

DATA = ROOT / "tests" / "data"


def call(*arguments: object) -> Done:
    """Run a verb here."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return Done(code, out.getvalue(), err.getvalue())


def succeed(*arguments: object) -> Done:
    """Run a verb here to its good end."""
    done = call(*arguments)
    assert done.code == 0, done.err
    return done


def equals_tflm(*arguments: object) -> None:
    """Run the self-test of a manifest: every tensor must be that of TensorFlow Lite Micro, if that is installed."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    assert "all equal to those of TensorFlow Lite Micro" in succeed("selftest", *arguments).out


def says(done: Done, code: int, *words: str) -> None:
    """Check how a verb failed, by its exit code and words that matter; tests/errors has the wording of messages."""
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


def planned(*arguments: object) -> dict[str, Any]:
    """Return what `plan` says of a manifest in plan.json."""
    plan: dict[str, Any] = json.loads(succeed("plan", "--json", *arguments).out)
    return plan


def call_apart(*arguments: object, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> Done:
    """Run a verb in a process of its own."""
    command = [sys.executable, "-m", "usmp_build", *map(str, arguments)]
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)} | dict(env or {})
    return run(command, cwd, surroundings)


def manifest(folder: Path, text: str, name: str = "usmp.toml") -> Path:
    """Write a manifest; `DATA` in the text stands for the folder of our models."""
    path = folder / name
    path.write_text(text.replace("DATA", DATA.as_posix()), encoding="utf-8")
    return path


RW, RO = 'access = "rw"\n', 'access = "ro"\n'
PASSED = 'owner = "application"\n'
DIGITS, ODD_EVEN = 'path = "DATA/digits.tflite"\n', 'path = "DATA/odd_even.tflite"\n'


def tables(project: str, pools: Mapping[str, str], models: Mapping[str, str]) -> str:
    """A manifest of these pools and models: each with the lines of its table."""
    named = [(f"pools.{name}", lines) for name, lines in pools.items()]
    named += [(f"models.{name}", lines) for name, lines in models.items()]
    return f'[project]\nname = "{project}"\n' + "".join(f"[{name}]\n{lines}" for name, lines in named)


RAM_AND_FLASH = tables("p", {"ram": RW, "flash": RO}, {})
"""The begin of a manifest: any number of models may follow."""

TWO_MODELS = """
[project]
name = "two"

[pools.tcm]
access = "rw"
size = "512 B"
region = "DTCM"

[pools.sram]
access = "rw"

[pools.flash]
access = "ro"

[models.digits]
path = "DATA/digits.tflite"
workspace_pools = ["tcm", "sram"]

[models.odd_even]
path = "DATA/odd_even.tflite"
workspace_pools = ["sram"]
"""

LAYER_BY_LAYER = f"{TWO_MODELS}[plan]\nrows = false\n"
"""The same, planned in a tenth of the time."""


def one_model(name: str, extra: str = "", path: str = "") -> str:
    """A manifest of one model and nothing else."""
    return f'[project]\nname = "p"\n[models.{name}]\npath = "{path or f"DATA/{name}.tflite"}"\n{extra}\n'
