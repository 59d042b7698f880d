"""On every board, with memory protection on: each tensor of each model equals TensorFlow Lite Micro's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.firmware import manifests
from tests.support import firmware, image
from tests.support.cli import call
from tests.support.firmware import BOARDS, Board
from tests.support.image import Image

RUNS = 2


@pytest.fixture(params=[board for board in BOARDS if board.name != "m4"], ids=lambda board: board.name)
def board(request: pytest.FixtureRequest) -> Board:
    """A board whose tools are there; m4 has the memories of m3 and the instructions of m7."""
    firmware.need(request.param)
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    return request.param


def all_equal(board: Board, folder: Path, models: dict[str, Path], manifest: str, find: str) -> Image:
    """Build, run and compare; then every tensor that an operator makes was seen."""
    made = image.make(board, folder, manifest, RUNS, find)
    inputs = image.stored_inputs(made.planned, manifests.goldens(models), RUNS)
    count = image.check(made, image.run(made, inputs), inputs)
    assert image.misplaced(made) == []
    assert count >= sum(len(op.outputs) for model in made.planned.imported for op in model.main.operators)
    return made


def test_two_models_share_a_small_and_a_large_memory(
    board: Board, tmp_path: Path, real_models: Path, find: str
) -> None:
    models = manifests.real(real_models, ("kws", "vww"))
    made = all_equal(board, tmp_path, models, manifests.of(models, manifests.SHARED), find)
    together = [pool.size for pool in made.layout.summary.pools if pool.access == "rw"]
    assert together == [27_648, 36_864]  # all that vww needs by itself, in these memories


def test_real_models_in_three_memories(board: Board, tmp_path: Path, real_models: Path, find: str) -> None:
    models = manifests.real(real_models)
    made = all_equal(board, tmp_path, models, manifests.of(models, manifests.THREE), find)
    assert all(pool.size > 0 for pool in made.layout.summary.pools)


@pytest.mark.parametrize("io", ["pool", "application"])
def test_our_models(board: Board, tmp_path: Path, find: str, io: str) -> None:
    models = manifests.ours()
    all_equal(board, tmp_path, models, manifests.of(models, manifests.THREE, f'io = "{io}"\n'), find)


def test_one_byte_less_is_refused(tmp_path: Path, real_models: Path) -> None:
    """The large memory holds one byte less than the least that any plan needs."""
    models = manifests.real(real_models, ("kws", "vww"))
    path = tmp_path / "usmp.toml"
    least = manifests.SHARED.replace('region = "SRAM"', 'region = "SRAM"\nsize = 36864')
    path.write_text(manifests.of(models, least))
    assert call("plan", path).code == 0
    path.write_text(manifests.of(models, least.replace("36864", "36863")))
    done = call("generate", path, "--out", tmp_path / "out")
    assert done.code == 3
    assert "usmp.toml:12:8: error[P502]: the buffers do not fit:" in done.err
    assert 'pool "sram" (36,863 bytes)' in done.err
    assert "1 byte" in done.err
    assert "vww: CONV_2D 2" in done.err
    assert "help: " in done.err
    assert not (tmp_path / "out").exists()
