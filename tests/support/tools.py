"""What a run of tests leaves out: tests whose tools are missing, with their name (CI has them all), and long ones."""

import importlib.util
import shutil
from collections.abc import Iterable
from typing import Any

import pytest

needs_c = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
needs_oracle = pytest.mark.skipif(
    importlib.util.find_spec("tflite_micro") is None, reason="tflite-micro is not installed"
)


def missing(*tools: object) -> str:
    """Say which of these programs, names or paths, is not there; empty if all are."""
    return next((f"{tool} is not installed" for tool in tools if shutil.which(str(tool)) is None), "")


def need(*tools: object) -> None:
    """Skip the test where one of these programs is missing."""
    if reason := missing(*tools):
        pytest.skip(reason)


def need_packages(*modules: str) -> None:
    """Skip the test where one of these packages of Python is missing."""
    for module in modules:
        pytest.importorskip(module, reason=f'{module} is not installed; it comes with the extra "test"')


def few(values: Iterable[Any], count: int) -> list[Any]:
    """Return values of one parameter of a test: those after the first `count` are marked `long`."""
    return [pytest.param(value, marks=[pytest.mark.long] * (i >= count)) for i, value in enumerate(values)]
