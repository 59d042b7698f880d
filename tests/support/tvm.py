"""TVM in tests: the Python that has it, which also writes models for it.

TVM is installed apart from what tests need: $USMP_TVM names a Python with TVM and our dependencies.
"""

import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.processes import Done, run
from tests.support.tree import ROOT

PYTHON = os.environ.get("USMP_TVM") or (sys.executable if importlib.util.find_spec("tvm") else "")
needs_tvm = pytest.mark.skipif(not PYTHON, reason="TVM is not installed; $USMP_TVM names a Python that has it")


def with_tvm(*arguments: object, cwd: Path) -> Done:
    """Run Python with TVM, our package, and the compiled core of the tests' environment."""
    (core,) = Path(sysconfig.get_path("platlib")).glob("_usmp_build_core.*")
    with TemporaryDirectory() as folder:
        (Path(folder) / core.name).symlink_to(core)
        return run([PYTHON, *map(str, arguments)], cwd, os.environ | {"PYTHONPATH": f"{ROOT}:{folder}"})


def need_torch() -> None:
    """Skip the test where the Python that has TVM lacks PyTorch."""
    ask = "import sys; from importlib.util import find_spec; sys.exit(find_spec('torch') is None)"
    if with_tvm("-c", ask, cwd=ROOT).code:
        pytest.skip("PyTorch is not installed where TVM is: pip install torch")


def write_models(folder: Path, *names: str) -> list[Path]:
    """Write models of `tvm_models` into a folder; return where they are."""
    done = with_tvm("-m", "tests.support.tvm_models", *names, cwd=folder)
    assert done.code == 0, done.err
    return [next(folder.glob(f"{name}.*")) for name in names]
