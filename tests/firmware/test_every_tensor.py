"""On every board, with memory protection on: each tensor of each model equals TensorFlow Lite Micro's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.firmware import manifests
from tests.support import image
from tests.support.firmware import Board
from tests.support.image import Image
from usmp_build.cli.selftest.inputs import samples

RUNS = 2

pytestmark = pytest.mark.usefixtures("needs_oracle")


def all_equal(board: Board, folder: Path, models: dict[str, Path], manifest: str, find: str) -> Image:
    """Build, run and compare; then every tensor that an operator makes was seen."""
    made = image.make(board, folder, manifest, RUNS, find)
    inputs = image.stored_inputs(made.planned, manifests.goldens(models), RUNS)
    count = image.check(made, image.run(made, inputs), inputs)
    assert image.misplaced(made) == []
    assert count >= sum(len(op.outputs) for model in made.planned.imported for op in model.main.operators)
    return made


def test_models_that_remember(board: Board, tmp_path: Path, find: str) -> None:
    """Variables stay in DTCM while garbage fills the pools around them."""
    models = manifests.stateful(tmp_path)
    places = "".join(
        f'\n[[models.{name}.place]]\ntensors = "{variable}"\npools = ["dtcm"]\n'
        for name, variable in (("average", "average"), ("ring", "ring_handle"), ("svdf", "state*"))
    )
    made = image.make(board, tmp_path, manifests.of(models, manifests.SHARED) + places, 6, find)
    inputs = [samples(model, 6, 1) for model in made.planned.imported]
    assert image.check(made, image.run(made, inputs), inputs) > 0
    assert image.misplaced(made) == []
    kept = [row for row in made.layout.summary.buffers if row.kind == "variable"]
    assert {row.models[0] for row in kept} == set(models)
    assert {row.pool for row in kept} == {"dtcm"}


def test_two_models_share_a_small_and_a_large_memory(
    board: Board, tmp_path: Path, real_models: Path, find: str
) -> None:
    """Together they need what the larger one needs by itself."""
    models = manifests.real(real_models, ("kws", "vww"))
    made = all_equal(board, tmp_path, models, manifests.of(models, manifests.SHARED), find)
    together = [pool.size for pool in made.layout.summary.pools if pool.access == "rw"]
    alone = {
        model["name"]: model["workspace"] for model in json.loads((made.generated / "plan.json").read_text())["models"]
    }
    assert together == [27_648, 36_864]
    assert sum(together) == alone["vww"]


def test_real_models_in_three_memories(board: Board, tmp_path: Path, real_models: Path, find: str) -> None:
    models = manifests.real(real_models)
    made = all_equal(board, tmp_path, models, manifests.of(models, manifests.THREE), find)
    assert all(pool.size > 0 for pool in made.layout.summary.pools)


@pytest.mark.parametrize("io", ["pool", "application"])
def test_our_models(board: Board, tmp_path: Path, find: str, io: str) -> None:
    models = manifests.ours()
    all_equal(board, tmp_path, models, manifests.of(models, manifests.THREE, f'io = "{io}"\n'), find)
