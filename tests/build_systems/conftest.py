"""What tests of build systems share."""

from __future__ import annotations

import compileall
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of our source tree: builds depend on it, so nobody may edit it while tests run."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("usmp_build", "cmake"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(folder, quiet=1)
    return folder


@pytest.fixture(scope="session")
def find(tree: Path) -> str:
    """The option that tells CMake where the package is."""
    return f"-Dusmp_build_DIR={tree.as_posix()}/cmake"
