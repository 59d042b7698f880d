"""Layers that run row by row, on boards: each row, as it is computed, is that of TensorFlow Lite Micro's tensor.

Dead rows become garbage between any two jobs.
"""

from pathlib import Path

import pytest

from tests.support import board_manifests, image
from tests.support.firmware import Board, on
from tests.support.image import RUNS, Image
from tests.support.planned import Shared
from tests.support.row_nets import residual
from usmp_build.selftest.inputs import samples

TIGHT = board_manifests.SHARED.replace("32 KiB", "120 B")
"""Too little for the rows that are alive together: those of one tensor are in both memories."""

pytestmark = pytest.mark.usefixtures("needs_oracle")


@pytest.mark.parametrize("pools", [board_manifests.ONE, TIGHT], ids=["one", "two"])
@on("m4", "m7", "m55")
def test_every_tensor_of_rows(board: Board, tmp_path: Path, shared: Shared, pools: str) -> None:
    models = board_manifests.written("rows", {"residual": residual()}, shared)
    firmware = image.make(board, tmp_path, board_manifests.of(models, pools), RUNS, shared)
    assert len(firmware.planned.analysis.choices.by_rows.tables) >= 4
    assert (len(pools_of_rows(firmware)) > 1) == (pools == TIGHT)
    inputs = [samples(model, RUNS, 1) for model in firmware.planned.imported]
    assert image.check(firmware, image.run(firmware, inputs), inputs) == 6
    assert image.misplaced(firmware) == []


@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", ["ic", "kws", "vww"])
@on("m4", "m7", "m55")
def test_every_tensor_of_a_real_model(
    board: Board, tmp_path: Path, real_models: Path, shared: Shared, name: str
) -> None:
    models = board_manifests.real(real_models, (name,))
    firmware = image.all_equal(board, tmp_path, models, board_manifests.of(models, board_manifests.ONE), shared)
    assert firmware.planned.analysis.choices.by_rows.tables


def pools_of_rows(firmware: Image) -> set[str]:
    """Return the pools that rows are in."""
    return {row.pool for row in firmware.layout.summary.buffers if row.row is not None}
