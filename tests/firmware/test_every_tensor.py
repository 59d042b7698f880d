"""On every board, with memory protection on: each tensor of each model equals TensorFlow Lite Micro's.

Pools are full of garbage when a run begins, and so are dead bytes after each operator.
"""

from pathlib import Path

import pytest

from tests.support import board_manifests, image
from tests.support.firmware import EACH_PROTECTION, Board, on
from tests.support.image import RUNS, Image, all_equal, kept
from tests.support.nets import NETS
from tests.support.planned import Shared
from tests.support.tree import ROOT
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.ir.schedule import Direction
from usmp_build.pipeline import Planned
from usmp_build.search import workspace_bytes
from usmp_build.selftest.inputs import samples

FAMILIES = ROOT / "tests" / "models"
MORE_RUNS = 10
"""As many as inputs are stored."""

pytestmark = pytest.mark.usefixtures("needs_oracle")


@EACH_PROTECTION
def test_models_that_remember(board: Board, tmp_path: Path, shared: Shared) -> None:
    """Variables stay in DTCM while garbage fills the pools around them."""
    models = board_manifests.stateful(shared)
    places = "".join(
        f'\n[[models.{name}.place]]\ntensors = "{variable}"\npools = ["dtcm"]\n'
        for name, variable in (("average", "average"), ("ring", "ring_handle"), ("svdf", "state*"))
    )
    manifest = board_manifests.of(models, board_manifests.SHARED) + places + board_manifests.QUICKLY
    firmware = image.make(board, tmp_path, manifest, 6, shared)
    inputs = [samples(model, 6, 1) for model in firmware.planned.imported]
    assert image.check(firmware, image.run(firmware, inputs), inputs) > 0
    assert image.misplaced(firmware) == []
    kept = [row for row in firmware.layout.summary.buffers if row.kind == "variable"]
    assert {row.models[0] for row in kept} == set(models)
    assert {row.pool for row in kept} == {"dtcm"}


@on("m4", "m55")
def test_filters_over_time(board: Board, tmp_path: Path, shared: Shared) -> None:
    """They take several results at once, and then those that are left."""
    models = board_manifests.filters_over_time(shared)
    manifest = board_manifests.of(models, board_manifests.SHARED) + board_manifests.QUICKLY
    firmware = image.make(board, tmp_path, manifest, 6, shared)
    inputs = [samples(model, 6, 1) for model in firmware.planned.imported]
    assert image.check(firmware, image.run(firmware, inputs), inputs) > 0


@EACH_PROTECTION
def test_two_models_share_a_small_and_a_large_memory(
    board: Board, tmp_path: Path, real_models: Path, shared: Shared
) -> None:
    """Together they need what the larger one, vww, needs by itself."""
    models = board_manifests.real(real_models, ("kws", "vww"))
    firmware = all_equal(board, tmp_path, models, board_manifests.of(models, board_manifests.SHARED), shared)
    together = [pool.size for pool in firmware.layout.summary.pools if pool.is_workspace and pool.size]
    assert together == [27_746]


def test_real_models_in_three_memories(board: Board, tmp_path: Path, real_models: Path, shared: Shared) -> None:
    models = board_manifests.real(real_models)
    manifest = board_manifests.of(models, board_manifests.THREE) + board_manifests.LAYER_BY_LAYER
    firmware = all_equal(board, tmp_path, models, manifest, shared)
    assert all(pool.size > 0 for pool in firmware.layout.summary.pools)


@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", ["ic", "vww"])
@on("m7")
def test_rows_of_a_real_model_in_three_memories(
    board: Board, tmp_path: Path, real_models: Path, shared: Shared, name: str
) -> None:
    models = board_manifests.real(real_models, (name,))
    firmware = all_equal(board, tmp_path, models, board_manifests.of(models, board_manifests.THREE), shared)
    assert firmware.planned.analysis.choices.by_rows.tables
    assert sum(pool.is_workspace and pool.size > 0 for pool in firmware.layout.summary.pools) >= 2


@pytest.mark.drawn("names", "rows", "most")
@pytest.mark.parametrize(
    ("names", "rows", "most"),
    [(("kws",), True, 3_888), (board_manifests.REAL, True, 27_748), (("kws",), False, 8_448)],
    ids=["kws", "five", "kws-layer-by-layer"],
)
@on("m7", "m55")
def test_real_models_below_max_live(
    board: Board,
    tmp_path: Path,
    real_models: Path,
    shared: Shared,
    names: tuple[str, ...],
    rows: bool,
    most: int,
) -> None:
    """One memory, with overlaps and directions as they were chosen; rows of a tensor are put together."""
    models = board_manifests.real(real_models, names)
    manifest = board_manifests.of(models, board_manifests.ONE) + f"[plan]\nrows = {str(rows).lower()}\n"
    firmware = all_equal(board, tmp_path, models, manifest, shared, MORE_RUNS)
    assert bool(firmware.planned.analysis.choices.by_rows.jobs) is rows
    if not rows:
        assert set(firmware.planned.analysis.directions.values()) == {Direction.FORWARD, Direction.BACKWARD}
    assert firmware.layout.summary.workspace.achieved <= most < max_live(firmware.planned)


@on("m4")
def test_a_person_is_detected(board: Board, tmp_path: Path, real_models: Path, shared: Shared) -> None:
    """The example for vision of TensorFlow Lite Micro itself."""
    models = board_manifests.real(real_models / "more", ("person_detect",))
    firmware = image.make(board, tmp_path, board_manifests.of(models, board_manifests.ONE), RUNS, shared)
    inputs = [samples(model, RUNS, 1) for model in firmware.planned.imported]
    assert image.check(firmware, image.run(firmware, inputs), inputs) >= kept(firmware)
    assert image.misplaced(firmware) == []
    assert firmware.layout.summary.workspace.achieved <= 12_672


@on("m7", "m55")
@pytest.mark.drawn("nets")
@pytest.mark.parametrize("nets", [tuple(NETS)[first::4] for first in range(4)])
def test_nets_below_max_live(board: Board, tmp_path: Path, shared: Shared, nets: tuple[str, ...]) -> None:
    nets_below_max_live(board, tmp_path, board_manifests.nets(shared, nets), shared)


@on("m7", "m55")
def test_a_net_below_max_live_in_another_order_than_its_file(board: Board, tmp_path: Path, shared: Shared) -> None:
    firmware = nets_below_max_live(
        board, tmp_path, board_manifests.nets(shared, ("shuffled",)), shared, board_manifests.LAYER_BY_LAYER
    )
    order = firmware.planned.analysis.choices.orders[0]
    assert order != tuple(sorted(order))
    assert set(firmware.planned.analysis.directions.values()) == {Direction.FORWARD, Direction.BACKWARD}


def nets_below_max_live(board: Board, folder: Path, models: dict[str, Path], shared: Shared, plan: str = "") -> Image:
    """Build, run and compare."""
    firmware = image.make(board, folder, board_manifests.of(models, board_manifests.ONE) + plan, RUNS, shared)
    inputs = [samples(model, RUNS, 1) for model in firmware.planned.imported]
    assert image.check(firmware, image.run(firmware, inputs), inputs) > len(models)
    assert image.misplaced(firmware) == []
    together = {model.name: model.workspace for model in pipeline.compare(firmware.planned).models}
    for name, path in models.items():
        files = DiskFiles(folder)
        (folder / "one.toml").write_text(board_manifests.of({name: path}, board_manifests.ONE) + plan, "utf-8")
        alone = pipeline.plan(pipeline.read("one.toml", files), files)
        achieved = alone.summary.workspace.achieved
        assert achieved < max_live(alone), name
        assert together[name] <= achieved, name
    return firmware


@on("m4")
@pytest.mark.drawn("dtype")
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32"])
def test_a_net_of_each_family(board: Board, tmp_path: Path, shared: Shared, dtype: str) -> None:
    models = {path.stem: path for path in sorted(FAMILIES.glob(f"*_{dtype}.tflite"))}
    manifest = board_manifests.of(models, board_manifests.ONE) + board_manifests.QUICKLY
    firmware = image.make(board, tmp_path, manifest, RUNS, shared)
    inputs = [samples(model, RUNS, 1) for model in firmware.planned.imported]
    assert image.check(firmware, image.run(firmware, inputs), inputs) >= kept(firmware)
    assert image.misplaced(firmware) == []


def test_our_models(board: Board, tmp_path: Path, shared: Shared) -> None:
    models = board_manifests.ours()
    all_equal(board, tmp_path, models, board_manifests.of(models, board_manifests.THREE), shared)


@EACH_PROTECTION
def test_our_models_on_arrays_of_the_caller(board: Board, tmp_path: Path, shared: Shared) -> None:
    models = board_manifests.ours()
    manifest = board_manifests.of(models, board_manifests.THREE, 'io = "application"\n') + board_manifests.QUICKLY
    all_equal(board, tmp_path, models, manifest, shared)


def max_live(planned: Planned) -> int:
    """Return the bytes of workspace that are alive together in the models as filed."""
    return workspace_bytes.max_live(planned.replanner.asking(planned.request.as_filed()).analyze())
