"""A net whose layers run row by row, on a board: rows, put together, equal TensorFlow Lite Micro's tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import board_manifests, image
from tests.support.firmware import Board, on
from tests.support.planned import Shared
from tests.support.row_nets import residual
from usmp_build.cli.selftest.inputs import samples

pytestmark = pytest.mark.usefixtures("needs_oracle")


@on("m4")
def test_every_tensor_of_rows(board: Board, tmp_path: Path, shared: Shared) -> None:
    """Dead rows become garbage between any two jobs."""
    models = board_manifests.written("rows", {"residual": residual()}, shared)
    manifest = board_manifests.of(models, board_manifests.ONE)
    made = image.make(board, tmp_path, manifest, 2, shared)
    assert len(made.planned.analysis.choices.by_rows.tables) >= 4
    inputs = [samples(model, 2, 1) for model in made.planned.imported]
    assert image.check(made, image.run(made, inputs), inputs) == 6
    assert image.misplaced(made) == []
