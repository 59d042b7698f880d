"""On every board, with memory protection on: each tensor of each model equals TensorFlow Lite Micro's.

Pools are full of garbage when a run begins, and so are dead bytes after each operator.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.firmware import manifests
from tests.support import image
from tests.support.firmware import EACH_PROTECTION, Board, on
from tests.support.image import Image
from tests.support.planned import Shared
from usmp_build import pipeline
from usmp_build.cli.selftest.inputs import samples
from usmp_build.files import DiskFiles
from usmp_build.ir.schedule import Direction

RUNS = 2
MORE_RUNS = 10
"""As many as inputs are stored."""

pytestmark = pytest.mark.usefixtures("needs_oracle")


def all_equal(
    board: Board, folder: Path, models: dict[str, Path], manifest: str, shared: Shared, runs: int = RUNS
) -> Image:
    """Build, run and compare; then every tensor that an operator of the files makes was seen, if it is kept."""
    made = image.make(board, folder, manifest, runs, shared)
    inputs = image.stored_inputs(made.planned, manifests.goldens(models), runs)
    count = image.check(made, image.run(made, inputs), inputs)
    assert image.misplaced(made) == []
    assert count >= kept(made)
    return made


def kept(made: Image) -> int:
    """Count the tensors that operators of the files make, but for paddings that others do, and insides of look-ups."""
    count = 0
    for before, after in zip(made.planned.imported, made.planned.analysis.models, strict=True):
        there = [op for op in before.main.operators if after.main.producers.keys() >= {*op.outputs}]
        assert {op.kind for op in before.main.operators if op not in there} <= {"PAD", "ADD", "LOGISTIC"}
        count += sum(len(op.outputs) for op in there)
    return count


@EACH_PROTECTION
def test_models_that_remember(board: Board, tmp_path: Path, shared: Shared) -> None:
    """Variables stay in DTCM while garbage fills the pools around them."""
    models = manifests.stateful(shared)
    places = "".join(
        f'\n[[models.{name}.place]]\ntensors = "{variable}"\npools = ["dtcm"]\n'
        for name, variable in (("average", "average"), ("ring", "ring_handle"), ("svdf", "state*"))
    )
    made = image.make(board, tmp_path, manifests.of(models, manifests.SHARED) + places, 6, shared)
    inputs = [samples(model, 6, 1) for model in made.planned.imported]
    assert image.check(made, image.run(made, inputs), inputs) > 0
    assert image.misplaced(made) == []
    kept = [row for row in made.layout.summary.buffers if row.kind == "variable"]
    assert {row.models[0] for row in kept} == set(models)
    assert {row.pool for row in kept} == {"dtcm"}


@EACH_PROTECTION
def test_two_models_share_a_small_and_a_large_memory(
    board: Board, tmp_path: Path, real_models: Path, shared: Shared
) -> None:
    """Together they need what the larger one needs by itself."""
    models = manifests.real(real_models, ("kws", "vww"))
    made = all_equal(board, tmp_path, models, manifests.of(models, manifests.SHARED), shared)
    together = [pool.size for pool in made.layout.summary.pools if pool.access == "rw"]
    alone = {
        model["name"]: model["workspace"] for model in json.loads((made.generated / "plan.json").read_text())["models"]
    }
    assert together == [27_746, 36_864]
    assert sum(together) == alone["vww"]


def test_real_models_in_three_memories(board: Board, tmp_path: Path, real_models: Path, shared: Shared) -> None:
    models = manifests.real(real_models)
    made = all_equal(board, tmp_path, models, manifests.of(models, manifests.THREE), shared)
    assert all(pool.size > 0 for pool in made.layout.summary.pools)


@pytest.mark.parametrize(
    ("names", "most", "directions"),
    [
        (("kws",), 8_448, {Direction.FORWARD, Direction.BACKWARD}),
        (("ic", "kws", "vww"), 36_880, {Direction.FORWARD}),
    ],
    ids=["kws", "three"],
)
@on("m7", "m55")
def test_real_models_below_max_live(
    board: Board,
    tmp_path: Path,
    real_models: Path,
    shared: Shared,
    names: tuple[str, ...],
    most: int,
    directions: set[Direction],
) -> None:
    """One memory, with overlaps and directions as they were chosen; what is small enough need not change ends."""
    models = manifests.real(real_models, names)
    made = all_equal(board, tmp_path, models, manifests.of(models, manifests.ONE), shared, MORE_RUNS)
    assert set(made.planned.analysis.directions.values()) == directions
    assert made.layout.summary.workspace.achieved <= most < made.layout.summary.workspace.max_live


@on("m4")
def test_a_person_is_detected(board: Board, tmp_path: Path, real_models: Path, shared: Shared) -> None:
    """The example for vision of TensorFlow Lite Micro itself."""
    models = manifests.real(real_models / "more", ("person_detect",))
    made = image.make(board, tmp_path, manifests.of(models, manifests.ONE), RUNS, shared)
    inputs = [samples(model, RUNS, 1) for model in made.planned.imported]
    assert image.check(made, image.run(made, inputs), inputs) >= kept(made)
    assert image.misplaced(made) == []
    assert made.layout.summary.workspace.achieved == 36_868


@on("m7", "m55")
def test_nets_below_max_live(board: Board, tmp_path: Path, shared: Shared) -> None:
    nets_below_max_live(board, tmp_path, manifests.nets(shared), shared)


@on("m7", "m55")
def test_a_net_below_max_live_in_another_order_than_its_file(board: Board, tmp_path: Path, shared: Shared) -> None:
    made = nets_below_max_live(board, tmp_path, manifests.nets(shared, ("shuffled",)), shared)
    order = made.planned.analysis.choices.orders[0]
    assert order != tuple(sorted(order))
    assert set(made.planned.analysis.directions.values()) == {Direction.FORWARD, Direction.BACKWARD}


def nets_below_max_live(board: Board, folder: Path, models: dict[str, Path], shared: Shared) -> Image:
    """Build, run and compare."""
    made = image.make(board, folder, manifests.of(models, manifests.ONE), RUNS, shared)
    inputs = [samples(model, RUNS, 1) for model in made.planned.imported]
    assert image.check(made, image.run(made, inputs), inputs) > len(models)
    assert image.misplaced(made) == []
    for name, path in models.items():
        files = DiskFiles(folder)
        (folder / "one.toml").write_text(manifests.of({name: path}, manifests.ONE), encoding="utf-8")
        alone = pipeline.plan(pipeline.read("one.toml", files), files).summary
        assert alone.workspace.achieved < alone.workspace.max_live, name
        (together,) = (row.workspace for row in made.layout.summary.models if row.name == name)
        assert together <= alone.workspace.achieved, name
    return made


def test_our_models(board: Board, tmp_path: Path, shared: Shared) -> None:
    models = manifests.ours()
    all_equal(board, tmp_path, models, manifests.of(models, manifests.THREE), shared)


@EACH_PROTECTION
def test_our_models_on_arrays_of_the_caller(board: Board, tmp_path: Path, shared: Shared) -> None:
    models = manifests.ours()
    all_equal(board, tmp_path, models, manifests.of(models, manifests.THREE, 'io = "application"\n'), shared)
