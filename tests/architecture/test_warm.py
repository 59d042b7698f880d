"""The Python of most builds of tests answers as any Python does."""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import run
from tests.support.tree import ROOT
from tests.support.warm import interpreter

ENV = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
IS_WARM = "import sys; print('runpy' in sys.modules)"


@pytest.fixture(scope="module")
def python() -> Path:
    """Its first call starts a Python, and what answers later ones."""
    deadline = time.monotonic() + 60
    while run([interpreter(), "-c", IS_WARM], env=ENV).out == "False\n":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return interpreter()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", "import os, sys; print(sys.argv, os.getcwd(), os.environ['A'], __name__)", "one", "two"],
        ["-c", "print(input())"],
        ["-c", "raise SystemExit(3)"],
        ["-c", "raise SystemExit('a message')"],
        ["-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(5)'], check=True)"],
        ["-m", "usmp_build", "plugins"],
        ["-m", "usmp_build", "nonsense"],
        ["-V"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40],
)
def test_it_answers_as_a_python_does(python: Path, tmp_path: Path, arguments: list[str]) -> None:
    env = ENV | {"A": "a\nb"}
    warm, other = (run([program, *arguments], tmp_path, env, stdin="text\n") for program in (python, sys.executable))
    assert warm == other


def test_an_exception_fails(python: Path) -> None:
    done = run([python, "-c", "1 / 0"], env=ENV)
    assert done.code == 1
    assert done.err.endswith("ZeroDivisionError: division by zero\n")
