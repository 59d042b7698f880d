"""One image for the M7 with five real models in DTCM and SRAM: in turn, two of them at once, and a byte too little."""

from pathlib import Path

import pytest

from tests.support import board_manifests, image
from tests.support.firmware import Board, on
from tests.support.image import Image, all_equal
from tests.support.planned import Shared
from usmp_build import pipeline
from usmp_build.errors import DoesNotFit
from usmp_build.files import DiskFiles
from usmp_build.pipeline import Planned

AT_ONCE = 'concurrent = [["kws", "micro_speech"]]\n'

pytestmark = [pytest.mark.usefixtures("needs_oracle"), on("m7")]


def manifest(models: dict[str, Path]) -> str:
    """Two memories, layer by layer."""
    return board_manifests.of(models, board_manifests.SHARED) + board_manifests.LAYER_BY_LAYER


def planned(folder: Path, text: str) -> Planned:
    (folder / "usmp.toml").write_text(text, encoding="utf-8")
    files = DiskFiles(folder)
    return pipeline.plan(pipeline.read("usmp.toml", files), files)


def workspace(plan: Planned) -> dict[str, int]:
    """Bytes by pool."""
    return {pool.name: pool.size for pool in plan.summary.pools if pool.is_workspace}


def test_in_turn_they_need_what_the_largest_needs(
    board: Board, tmp_path: Path, real_models: Path, shared: Shared
) -> None:
    """No pool holds more than one of them takes of it by itself."""
    models = board_manifests.real(real_models)
    firmware = all_equal(board, tmp_path, models, manifest(models), shared)
    alone = [workspace(planned(tmp_path, manifest({name: path}))) for name, path in models.items()]
    assert workspace(firmware.planned) == {pool: max(each[pool] for each in alone) for pool in ("dtcm", "sram")}


def test_two_of_them_at_once(board: Board, tmp_path: Path, real_models: Path, shared: Shared) -> None:
    models = board_manifests.real(real_models)
    all_equal(board, tmp_path, models, AT_ONCE + manifest(models), shared)


@pytest.mark.parametrize(("outer", "inner"), [("kws", "micro_speech"), ("micro_speech", "kws")])
def test_one_runs_while_the_other_does(
    board: Board, tmp_path: Path, real_models: Path, shared: Shared, outer: str, inner: str
) -> None:
    """After each operator of one, all of the other runs, as in an interrupt: every tensor is what it should be."""
    models = board_manifests.real(real_models, ("kws", "micro_speech"))
    firmware = image.make(board, tmp_path, AT_ONCE + manifest(models), 1, shared, interleaved=(outer, inner))
    inputs = image.stored_inputs(firmware.planned, board_manifests.goldens(models), 1)
    assert image.check(firmware, image.run(firmware, inputs), inputs) >= steps(firmware)


def steps(firmware: Image) -> int:
    return sum(len(model.main.operators) for model in firmware.planned.imported)


def test_a_byte_too_little_is_refused(board: Board, tmp_path: Path, real_models: Path) -> None:
    models = board_manifests.real(real_models, ("hello", "micro_speech"))
    text = AT_ONCE.replace("kws", "hello") + board_manifests.of(models, board_manifests.ONE)
    needed = workspace(planned(tmp_path, text))["sram"]
    sram = '[pools.sram]\naccess = "rw"\n'
    assert sram in text
    assert workspace(planned(tmp_path, text.replace(sram, f"{sram}size = {needed}\n")))["sram"] == needed
    with pytest.raises(DoesNotFit) as caught:
        planned(tmp_path, text.replace(sram, f"{sram}size = {needed - 1}\n"))
    message = str(caught.value)
    assert f'"sram" ({needed - 1:,} bytes) is 1 byte too small' in message
