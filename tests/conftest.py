"""What all tests share: where models are, and no silent skips where every tier is asked for."""

from __future__ import annotations

import os
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
