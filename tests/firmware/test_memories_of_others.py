"""An accelerator with its own memory, and memory of pages: on every board each tensor is TensorFlow Lite Micro's."""

from pathlib import Path

import pytest

from tests.support import board_manifests, image
from tests.support.firmware import EACH_PROTECTION, Board
from tests.support.image import Image
from tests.support.planned import Shared
from tests.support.tree import ROOT

ACCELERATOR = ROOT / "examples" / "accelerator"
RUNS = 2

APART = """
[pools.sram]
access = "rw"
region = "SRAM"
targets = ["cpu"]

[pools.npu_sram]
access = "rw"
region = "PSRAM"
targets = ["npu"]

[targets.npu]
kernels = "extern"
copies = "extern"

[[targets.npu.rules]]
operators = "*CONV_2D"
scratch = 256
alignment = 16
"""
PLACED = """
[[models.digits.place]]
operators = "*CONV_2D"
target = "npu"
"""
PAGES = """
[pools.sram]
access = "rw"
region = "SRAM"

[pools.psram]
access = "rw"
region = "PSRAM"
dims = 2
page_bytes = 128
"""
IN_PAGES = """
[[models.digits.place]]
operators = "CONV_2D"
pools = ["psram"]
"""

pytestmark = [pytest.mark.usefixtures("needs_oracle"), EACH_PROTECTION]


def exact(board: Board, folder: Path, pools: str, extra: str, shared: Shared, application: str = "") -> Image:
    models = {"digits": board_manifests.ours()["digits"]}
    firmware = image.make(board, folder, board_manifests.of(models, pools, extra), RUNS, shared, application)
    inputs = image.stored_inputs(firmware.planned, board_manifests.goldens(models), RUNS)
    count = image.check(firmware, image.run(firmware, inputs), inputs)
    assert count >= sum(len(op.outputs) for model in firmware.planned.imported for op in model.main.operators)
    assert image.misplaced(firmware) == []
    return firmware


def test_an_accelerator_with_memory_of_its_own(board: Board, tmp_path: Path, shared: Shared) -> None:
    """The driver of the example, for this project; four tensors cross the border, each once."""
    (tmp_path / "npu.h").write_bytes((ACCELERATOR / "npu.h").read_bytes())
    driver = (ACCELERATOR / "npu.c").read_text("utf-8").replace("meter_", "firmware_")
    firmware = exact(board, tmp_path, APART, PLACED, shared, driver)
    kinds = [op.kind for op in firmware.planned.analysis.models[0].main.operators]
    assert kinds.count("COPY") == 4
    local = [buffer.name for buffer in firmware.layout.summary.buffers if buffer.pool == "npu_sram"]
    assert len(local) >= 4


def test_memory_of_pages(board: Board, tmp_path: Path, shared: Shared) -> None:
    firmware = exact(board, tmp_path, PAGES, IN_PAGES, shared)
    psram = next(pool for pool in firmware.layout.summary.pools if pool.name == "psram")
    assert psram.size == psram.bound > 0
    assert psram.size % 128 == 0
