"""On every board, in memories of the application: every tensor equals TensorFlow Lite Micro's."""

from pathlib import Path

import pytest

from tests.support import board_manifests
from tests.support.firmware import EACH_PROTECTION, Board
from tests.support.image import all_equal
from tests.support.planned import Shared

pytestmark = [pytest.mark.usefixtures("needs_oracle"), EACH_PROTECTION]


def test_all_pools_are_the_applications(board: Board, tmp_path: Path, shared: Shared) -> None:
    """Constants, too, some of which start-up code copies to where they are used."""
    text = board_manifests.of(board_manifests.PAIR, board_manifests.THREE).replace("16 KiB", "4 KiB")
    text = text.replace("access =", 'owner = "application"\naccess =')
    firmware = all_equal(board, tmp_path, board_manifests.PAIR, text, shared)
    assert all(pool.is_passed for pool in firmware.layout.summary.pools)
    assert {"itcm", "flash", "dtcm"} <= {pool.name for pool in firmware.layout.summary.pools if pool.size}
    assert not [name for name in firmware.generated.glob("*_pools.c") if "USMP_SECTION" in name.read_text()]
