"""Every access of every operator, counted by the emulator: in its own buffers, and as often as the plan says."""

from pathlib import Path

import pytest

from tests.support import board_manifests, image, row_nets
from tests.support.board_accesses import ESTIMATED, STATEFUL, Counted, called, count, problems
from tests.support.firmware import Board
from tests.support.image import Image
from tests.support.planned import Shared
from usmp_build.selftest.inputs import samples


def run(firmware: Image, models: dict[str, Path], plugin: Path) -> list[list[Counted]]:
    return count(firmware, image.stored_inputs(firmware.planned, board_manifests.goldens(models), 1), plugin)[1]


def check(firmware: Image, runs: list[list[Counted]]) -> None:
    """Every operator does what its kernel declares, and the sum of it is what plan.json says of a model's run.

    Of operators whose traffic is an estimate, the estimate is in the sum.
    """
    assert problems(runs) == []
    assert all(operator.instructions > 0 for run in runs for operator in run)
    for row, run in zip(firmware.layout.summary.models, runs, strict=True):
        for pool in row.traffic:
            moved = [
                m.declared if operator.kind in ESTIMATED else m.counted
                for operator in run
                for m in operator.moved
                if m.pool == pool.pool
            ]
            assert sum(each.written for each in moved) == pool.written, (row.name, pool)


@pytest.mark.drawn("names")
@pytest.mark.parametrize("names", [("kws", "vww"), ("ic", "micro_speech", "hello")], ids="+".join)
def test_models_that_share_two_memories(
    board: Board, plugin: Path, tmp_path: Path, real_models: Path, shared: Shared, names: tuple[str, ...]
) -> None:
    models = board_manifests.real(real_models, names)
    firmware = image.make(board, tmp_path, board_manifests.of(models, board_manifests.SHARED), 1, shared)
    check(firmware, run(firmware, models, plugin))


@pytest.mark.parametrize("overlap", [False, True])
def test_our_models(board: Board, plugin: Path, tmp_path: Path, shared: Shared, overlap: bool) -> None:
    """Where buffers may not overlap each of them is counted by itself."""
    models = board_manifests.ours()
    plan = f"{board_manifests.QUICKLY}overlap = {str(overlap).lower()}\n"
    firmware = image.make(board, tmp_path, board_manifests.of(models, board_manifests.THREE) + plan, 1, shared)
    runs = run(firmware, models, plugin)
    check(firmware, runs)
    forms = ["whole", "rows", "reduce", *(["pieces"] if overlap else [])]
    assert {operator.form for run in runs for operator in run} == {*forms}
    assert any(" and " in moved.buffer for run in runs for operator in run for moved in operator.moved) == overlap


def test_rows_write_what_whole_layers_write(board: Board, plugin: Path, tmp_path: Path, shared: Shared) -> None:
    """Each operator does, byte for byte; only those that add up rows write sums, too."""
    files = {"residual": row_nets.residual(), "tall_window": row_nets.tall_window()}
    models = board_manifests.written("rows_written", files, shared)
    written = []
    for rows in ("false", "true"):
        plan = f"\n[plan]\nrows = {rows}\n"
        folder = tmp_path / rows
        folder.mkdir()
        firmware = image.make(board, folder, board_manifests.of(models, board_manifests.ONE) + plan, 1, shared)
        assert bool(firmware.planned.analysis.choices.by_rows.jobs) == (rows == "true")
        inputs = [samples(model, 1, 1) for model in firmware.planned.imported]
        runs = count(firmware, inputs, plugin)[1]
        check(firmware, runs)
        operators = {each.name: each for run in runs for each in run}
        written.append({n: sum(m.counted.written for m in each.moved) for n, each in operators.items()})
    whole, in_rows = written
    more = {name: bytes_ - whole[name] for name, bytes_ in in_rows.items() if bytes_ != whole[name]}
    added_up = {"residual: AVERAGE_POOL_2D 5": 160, "tall_window: DEPTHWISE_CONV_2D 6": 128 * 16 * 4}
    assert more == added_up


def test_the_same_image_counts_the_same(board: Board, plugin: Path, tmp_path: Path, shared: Shared) -> None:
    models = {"odd_even": board_manifests.ours()["odd_even"]}
    firmware = image.make(board, tmp_path, board_manifests.of(models, board_manifests.SHARED), 1, shared)
    assert run(firmware, models, plugin) == run(firmware, models, plugin)


def test_models_that_remember(board: Board, plugin: Path, tmp_path: Path, shared: Shared) -> None:
    """State is written and read as declared; one run is counted, right after the reset."""
    models = board_manifests.stateful(shared)
    manifest = board_manifests.of(models, board_manifests.SHARED) + board_manifests.QUICKLY
    firmware = image.make(board, tmp_path, manifest, 1, shared)
    inputs = [samples(model, 1, 1) for model in firmware.planned.imported]
    check(firmware, count(firmware, inputs, plugin)[1])
    assert called(firmware) >= STATEFUL
