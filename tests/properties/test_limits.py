"""What was planned once is planned again, when each pool is as large as that plan needs it, or only one of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.firmwares import Firmware, firmware
from tests.support.tools import few
from usmp_build import pipeline
from usmp_build.files import DiskFiles

COUNT = int(os.environ.get("USMP_CASES", "60")) // 2


def sizes(made: Firmware, folder: Path, limits: dict[str, int]) -> dict[str, int]:
    """Plan within limits; return the bytes of the pools that are not empty."""
    files = DiskFiles(folder)
    summary = pipeline.plan(pipeline.read(made.written(folder, limits).name, files), files).summary
    return {pool.name: pool.size for pool in summary.pools if pool.size}


@pytest.mark.parametrize("seed", few(range(COUNT), 6))
def test_a_plan_is_still_found_within_its_sizes(seed: int, tmp_path: Path) -> None:
    made = firmware(seed)
    planned = sizes(made, tmp_path, {})
    for limits in (planned, *({name: size} for name, size in planned.items() if len(planned) > 1)):
        again = sizes(made, tmp_path, limits)
        assert all(again[name] <= size for name, size in limits.items() if name in again)
