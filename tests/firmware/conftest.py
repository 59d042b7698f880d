"""What tests of firmware need: a board, and the plugin that counts."""

from pathlib import Path

import pytest

from tests.support import counting, firmware
from tests.support.firmware import BOARDS, Board


@pytest.fixture(scope="session", params=firmware.grouped(BOARDS))
def board(request: pytest.FixtureRequest) -> Board:
    """Every board whose tools are there.  A test of some of them is marked `firmware.on`."""
    board = BOARDS[request.param]
    firmware.need_board(board)
    return board


@pytest.fixture(scope="session")
def plugin(board: Board, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin, where the board's QEMU can use it."""
    counting.need_plugins(board.qemu[0])
    return counting.build_plugin(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="session")
def needs_oracle() -> None:
    """TensorFlow Lite Micro is there to compare with."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
