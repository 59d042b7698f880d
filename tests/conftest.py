"""What all tests share: models, a copy of the tree to build with, and no silent skips where every tier is asked for."""

from __future__ import annotations

import compileall
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """With USMP_ALL_TIERS set, a test that is skipped fails: a tier that silently drops out proves nothing."""
    report = yield
    if report.skipped and os.environ.get("USMP_ALL_TIERS") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but USMP_ALL_TIERS asks for every tier: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def real_models() -> Path:
    """The folder of real models: $USMP_MODELS, else ../shared/models beside the project."""
    folder = Path(os.environ.get("USMP_MODELS") or ROOT.parent / "shared" / "models")
    if not folder.is_dir():
        pytest.skip(f"the real models are not at {folder.name}; set USMP_MODELS")
    return folder


@pytest.fixture(scope="session")
def dsa_cases() -> list[Path]:
    """MiniMalloc's problems: in the folder $USMP_PROBLEMS, else in ../shared/cases beside the project."""
    folder = Path(os.environ.get("USMP_PROBLEMS") or ROOT.parent / "shared" / "cases") / "dsa"
    found = sorted(folder.glob("*.csv"))
    if not found:
        pytest.skip(f"MiniMalloc's problems are not at {folder.name}; set USMP_PROBLEMS")
    return found


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
