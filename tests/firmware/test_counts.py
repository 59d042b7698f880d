"""Every access of every operator, counted by the emulator: in its own buffers, and as often as the plan says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.firmware import manifests
from tests.firmware.counts import Counted, count
from tests.support import counting, firmware, image
from tests.support.firmware import BOARDS, Board

FACTOR = 1.1
"""By which the bytes read of a buffer may differ from what its kernel declares, whatever its form: compilers may keep
a value in a register, or read it again.  Bytes written may not differ at all."""


@pytest.fixture(params=[board for board in BOARDS if board.name != "m4"], ids=lambda board: board.name)
def board(request: pytest.FixtureRequest) -> Board:
    firmware.need(request.param)
    counting.need_plugins(request.param.qemu[0])
    return request.param


def problems(operator: Counted) -> list[str]:
    """Say what an operator did that the plan does not say."""
    found = [f"touches {name}: {traffic}" for name, traffic in operator.astray.items()]
    found += ["writes to code or tables"] if operator.tables_written else []
    for moved in operator.moved:
        if moved.counted.written != moved.declared.written:
            found.append(f"writes {moved.counted.written} bytes of {moved.buffer} instead of {moved.declared.written}")
        least, most = moved.declared.read / FACTOR, moved.declared.read * FACTOR
        if not least <= moved.counted.read <= most:
            found.append(f"reads {moved.counted.read} bytes of {moved.buffer} instead of {moved.declared.read}")
    return [f"{operator.name} ({operator.form}) {problem}" for problem in found]


@pytest.mark.parametrize("which", ["kws and vww", "ours"])
def test_every_access_is_as_planned(board: Board, tmp_path: Path, real_models: Path, find: str, which: str) -> None:
    real = manifests.real(real_models, ("kws", "vww"))
    models, pools = (manifests.ours(), manifests.THREE) if which == "ours" else (real, manifests.SHARED)
    made = image.make(board, tmp_path, manifests.of(models, pools), 1, find)
    inputs = image.stored_inputs(made.planned, manifests.goldens(models), 1)
    runs = count(made, inputs, counting.build_plugin(tmp_path))
    assert [problem for run in runs for operator in run for problem in problems(operator)] == []
    assert all(operator.instructions > 0 for run in runs for operator in run)
    if which == "ours":
        assert {operator.form for run in runs for operator in run} == {"whole", "rows", "reduce"}

    # What plan.json says of a model's run is the sum of it.
    for row, run in zip(made.layout.summary.models, runs, strict=True):
        for pool in row.traffic:
            written = sum(m.counted.written for operator in run for m in operator.moved if m.pool == pool.pool)
            assert written == pool.written, (row.name, pool)


def test_the_same_image_counts_the_same(board: Board, tmp_path: Path, find: str) -> None:
    models = {"odd_even": manifests.ours()["odd_even"]}
    made = image.make(board, tmp_path, manifests.of(models, manifests.SHARED), 1, find)
    inputs = image.stored_inputs(made.planned, manifests.goldens(models), 1)
    plugin = counting.build_plugin(tmp_path)
    assert count(made, inputs, plugin) == count(made, inputs, plugin)
