"""Nets drawn at random, in which parts, frames, constant channels and both goals meet: every tensor is TFLM's.

Each net has a pool of its own, so that it is planned as tightly as if it were alone; one program runs them all.
"""

import os
from pathlib import Path

import pytest

from tests.support.cli import manifest, planned, succeed, tables
from tests.support.drawn_nets import drawn
from tests.support.road import analyze
from tests.support.tools import needs_c
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.check_flow import flow_faults

COUNT = max(1, int(os.environ.get("USMP_CASES", "60")) // 12)


def written(folder: Path, count: int) -> Path:
    """Write nets and their manifest."""
    pools, models = {}, {}
    for seed in range(count):
        path = folder / f"net{seed}.tflite"
        path.write_bytes(drawn(seed))
        goal = ["ram", "balanced"][seed % 2]
        pools[f"pool{seed}"] = 'access = "rw"\n'
        models[f"net{seed}"] = f'path = "{path.as_posix()}"\nworkspace_pools = ["pool{seed}"]\ngoal = "{goal}"\n'
    return manifest(folder, tables("p", pools, models))


@pytest.mark.long
def test_the_first_nets_have_what_is_to_meet(tmp_path: Path) -> None:
    models = planned(written(tmp_path, 10))["models"]
    rewrites = [{row["rewrite"] for row in model["rewrites"]} for model in models]
    assert sum("parts" in names for names in rewrites) >= 5
    assert any({"parts", "constant_channels"} <= names for names in rewrites)
    assert any({"parts", "pads"} <= names for names in rewrites)


@pytest.mark.parametrize("seed", range(20))
def test_values_still_flow_behind_rewrites_and_parts(seed: int) -> None:
    (model,) = analyze(import_tflite(drawn(seed), "m", "m.tflite")).models
    assert [*flow_faults(0, model.main)] == []


@needs_c
@pytest.mark.long
def test_every_tensor_of_drawn_nets_is_that_of_tensorflow_lite_micro(tmp_path: Path) -> None:
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    done = succeed("selftest", written(tmp_path, COUNT), "--sanitize", "--runs", "2")
    for seed in range(COUNT):
        assert f"net{seed}: " in done.out
