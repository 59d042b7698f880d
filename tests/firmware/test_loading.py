"""Constants are where the image loads them, or start-up code copies them, whatever stands before them."""

from pathlib import Path

from tests.support import board_manifests, firmware, image
from tests.support.cmake import PYTHON
from tests.support.firmware import EACH_PROTECTION, Board
from tests.support.image import Image
from tests.support.planned import Shared
from tests.support.processes import output

NEIGHBORS = """
[pools.sram]
access = "rw"
region = "SRAM"

[pools.copied]
access = "ro"
size = 2048
region = "ITCM"
load_region = "FLASH"

[pools.loaded]
access = "ro"
region = "ITCM"
alignment = 4096
"""
"""A pool that is loaded in place stands behind one that is copied."""


@EACH_PROTECTION
def test_a_pool_behind_one_that_is_copied_is_loaded(board: Board, tmp_path: Path, shared: Shared, find: str) -> None:
    tables = "".join(f'\n[models.{name}]\npath = "{path.as_posix()}"\n' for name, path in board_manifests.PAIR.items())
    firmware = image.make(board, tmp_path, f'[project]\nname = "firmware"\n{NEIGHBORS}{tables}', 1, shared, find=find)
    assert image.misplaced(firmware) == []
    equal(firmware)


@EACH_PROTECTION
def test_link_time_optimization_keeps_the_plan(board: Board, tmp_path: Path, shared: Shared, find: str) -> None:
    board_image = image.make(
        board, tmp_path, board_manifests.of(board_manifests.PAIR, board_manifests.THREE), 1, shared, find=find
    )
    build = tmp_path / "build"
    optimize = ["-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON", find, PYTHON]
    output(["cmake", *optimize, build])
    code, text = firmware.rebuild(build)
    assert code == 0, text
    assert image.misplaced(board_image) == []
    equal(board_image)


def equal(firmware: Image) -> None:
    inputs = image.stored_inputs(firmware.planned, board_manifests.goldens(board_manifests.PAIR), 1)
    assert image.check(firmware, image.run(firmware, inputs), inputs) > 0
