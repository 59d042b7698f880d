"""Default plans take no more than max-live, and most less: kernels write over what they have read; all stays exact.

The self-test runs the models in an array of exactly the planned size, filled with garbage, with red zones around it,
and poisons at each step what is not alive.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import call, manifest, one_model, planned, succeed
from tests.support.nets import NETS
from tests.support.tools import few, needs_c
from usmp_build import pipeline
from usmp_build.files import DiskFiles
from usmp_build.ir.graph import Model
from usmp_build.passes.rewrite.work import macs
from usmp_build.request import REWRITES

REACHED = {"kws": 3_888, "vww": 27_748, "ic": 9_732}
"""Bytes of workspace: inputs, outputs and scratch are in them."""

LAYER_BY_LAYER = {"kws": 8_384, "vww": 36_868, "ic": 33_308}
"""The same with `rows = false`, which no order and no directions of operators beat."""

MAX_LIVE = {"kws": 16_000, "vww": 55_296, "ic": 49_152}
"""Bytes that are alive together at one step of their files, with inputs, outputs and scratch."""

ALIGNED = '[[targets.cpu.rules]]\noperators = "*"\nalignment = 4'
bytes_and_words = pytest.mark.parametrize(
    "extra", [pytest.param("", id="bytes"), pytest.param(ALIGNED, id="words", marks=pytest.mark.long)]
)


def plan_of(folder: Path, name: str, path: Path, extra: str = "") -> dict[str, Any]:
    """Plan a model and return plan.json."""
    return planned(manifest(folder, one_model(name, extra, path.as_posix())))


def is_exact(folder: Path, name: str, path: Path, runs: int, extra: str = "") -> None:
    """Run the self-test under the sanitizers."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    written = manifest(folder, one_model(name, extra, path.as_posix()))
    done = succeed("selftest", written, "--sanitize", "--runs", str(runs))
    assert f"{runs} runs, all equal to those of TensorFlow Lite Micro" in done.out


def written(folder: Path, name: str) -> Path:
    """Write one of the nets of a script."""
    path = folder / f"{name}.tflite"
    path.write_bytes(NETS[name]())
    return path


@pytest.mark.long
@bytes_and_words
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", REACHED)
def test_the_three_reach_what_was_shown_to_be_possible(
    real_models: Path, tmp_path: Path, name: str, extra: str
) -> None:
    plan = plan_of(tmp_path, name, real_models / f"{name}.tflite", extra)
    workspace = plan["workspace"]
    assert workspace["achieved"] == plan["pools"][0]["size"] <= REACHED[name]
    assert plan["alternatives"]["max_live"] == MAX_LIVE[name]
    assert workspace["floor"] <= workspace["with_overlap"] <= workspace["achieved"]


@pytest.mark.parametrize("name", LAYER_BY_LAYER)
def test_layer_by_layer_they_reach_what_is_proven_for_all_orders(real_models: Path, tmp_path: Path, name: str) -> None:
    workspace = plan_of(tmp_path, name, real_models / f"{name}.tflite", "[plan]\nrows = false")["workspace"]
    assert workspace["any_schedule"] == workspace["achieved"] == LAYER_BY_LAYER[name]


@pytest.mark.long
@needs_c
@bytes_and_words
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", REACHED)
def test_the_three_are_exact_there(real_models: Path, tmp_path: Path, name: str, extra: str) -> None:
    is_exact(tmp_path, name, real_models / f"{name}.tflite", 100, extra)


def test_vww_loses_the_channels_that_are_constant(real_models: Path, tmp_path: Path) -> None:
    path = manifest(tmp_path, one_model("vww", path=(real_models / "vww.tflite").as_posix()))
    files = DiskFiles(tmp_path)
    planned = pipeline.plan(pipeline.read(path.name, files), files)
    (imported,), (rewritten,) = planned.imported, planned.analysis.models
    assert (constants(imported), macs(imported.main)) == (219_072, 7_489_664)
    assert constants(rewritten) <= 29_066 + 4 * 1_014, "weights, and a bias of four bytes for each channel"
    assert macs(rewritten.main) <= 3_727_313


def constants(model: Model) -> int:
    """Return the bytes of all weights and biases."""
    read = {tensor for op in model.main.operators for tensor in op.inputs if tensor is not None}
    return sum(model.main.tensors[tensor].size for tensor in read if model.main.tensors[tensor].is_constant)


def test_every_other_real_model_is_at_or_below_max_live(real_models: Path, tmp_path: Path) -> None:
    paths = sorted(real_models.glob("*.tflite"))
    assert {path.stem for path in paths} >= set(REACHED)
    for path in (path for path in paths if path.stem not in REACHED):
        plan = plan_of(tmp_path, path.stem, path)
        workspace = plan["workspace"]
        assert workspace["floor"] <= workspace["achieved"] <= plan["alternatives"]["max_live"], path.stem


@pytest.mark.slow
@needs_c
def test_every_other_real_model_is_exact_there(real_models: Path, tmp_path: Path) -> None:
    others = {path.stem: path for path in sorted(real_models.glob("*.tflite")) if path.stem not in REACHED}
    ours = [name for name, path in others.items() if has_kernels(tmp_path, name, path)]
    assert set(ours) >= {"hello", "micro_speech"}
    for name in ours:
        is_exact(tmp_path, name, others[name], 10)


def has_kernels(folder: Path, name: str, path: Path) -> bool:
    """Tell whether all operators can be generated."""
    return not plan_of(folder, name, path)["models"][0]["without_kernel"]


@bytes_and_words
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", NETS)
def test_every_net_is_at_or_below_max_live(tmp_path: Path, name: str, extra: str) -> None:
    plan = plan_of(tmp_path, name, written(tmp_path, name), extra)
    workspace = plan["workspace"]
    assert workspace["floor"] <= workspace["achieved"] <= plan["alternatives"]["max_live"]


@pytest.mark.slow
@needs_c
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", few(NETS, 4))
def test_every_net_is_exact_there(tmp_path: Path, name: str) -> None:
    is_exact(tmp_path, name, written(tmp_path, name), 25)


def test_without_overlap_rewrites_and_another_order_it_is_max_live(real_models: Path, tmp_path: Path) -> None:
    """The words of the manifest that switch everything off."""
    off = ", ".join(f"{name} = false" for name in sorted(REWRITES))
    plain = f'order = "file"\n[plan]\noverlap = false\nrewrites = {{ {off} }}'
    for name, bytes_alive in MAX_LIVE.items():
        plan = plan_of(tmp_path, name, real_models / f"{name}.tflite", plain)
        assert plan["models"][0]["rewrites"] == []
        assert plan["workspace"]["achieved"] == plan["alternatives"]["max_live"] == bytes_alive


@pytest.mark.long
def test_the_table_tells_the_five_figures(real_models: Path, tmp_path: Path) -> None:
    path = manifest(tmp_path, one_model("ic", path=(real_models / "ic.tflite").as_posix()))
    plan = planned(path)
    figures = plan["workspace"] | {"max_live": plan["alternatives"]["max_live"]}
    lines = call("plan", path).out.splitlines()
    start = lines.index("workspace of all pools, in bytes:")
    shown = [line.split("  ")[0] for line in lines[start + 1 : start + 6]]
    assert shown == ["max-live", "any schedule", "with overlap", "achieved", "floor"]
    for line, word in zip(lines[start + 1 : start + 6], shown, strict=True):
        assert f" {figures[word.replace(' ', '_').replace('-', '_')]:,}  " in line


@pytest.mark.parametrize("name", NETS)
def test_layer_by_layer_no_order_and_no_directions_are_better_for_any_net(tmp_path: Path, name: str) -> None:
    workspace = plan_of(tmp_path, name, written(tmp_path, name), "[plan]\nrows = false")["workspace"]
    assert workspace["achieved"] == workspace["any_schedule"]
    assert workspace["proven"] == "every order"


def test_floor_counts_what_outlives_runs(tmp_path: Path) -> None:
    """Inputs of 64 bytes, an output of 10: whichever is more, and both where the inputs stay."""
    floors = [
        planned(manifest(tmp_path, one_model("digits", extra)))["workspace"]["floor"]
        for extra in ("", 'inputs = "preserved"', 'inputs = "reserved"')
    ]
    assert floors == [64, 74, 74]
