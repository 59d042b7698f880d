"""Real models of unusual make: what nobody reads refuses none of them."""

import json
from pathlib import Path

import pytest

from tests.support.cli import call, equals_tflm, manifest, one_model, planned, says
from tests.support.tools import few, needs_c
from tests.support.tree import text_file

SCRATCH = text_file("more_models_scratch.model.txt")


EXACT = {
    "person_detect": 12_672,  # axes of weights at its biases
    "keyword_scrambled_8bit": 5_312,  # remembers in int8 with a zero point; ends in int32
    "seanet/quantize0": 2_560,  # int32 to int16, and int16 to int32
    "seanet/quantize1": 2_560,
}
"""Model → most bytes of workspace."""


@pytest.mark.slow
@needs_c
@pytest.mark.drawn("name")
@pytest.mark.parametrize("name", few(sorted(EXACT), 1))
def test_models_of_tflm_are_exact(real_models: Path, tmp_path: Path, name: str) -> None:
    path = manifest(tmp_path, one_model("model", path=(real_models / "more" / f"{name}.tflite").as_posix()))
    equals_tflm(path, "--sanitize", "--runs", "12")
    assert planned(path)["workspace"]["achieved"] <= EXACT[name]


def test_scratch_of_a_custom_operator_is_alive_while_it_runs(tmp_path: Path) -> None:
    (tmp_path / "npu.model.txt").write_text(SCRATCH, encoding="utf-8")
    path = manifest(tmp_path, one_model("npu", path="npu.model.txt"))
    buffers, intervals = (
        json.loads(call("inspect", stage, path, "--json").out)[key]
        for stage, key in (("storage", "buffers"), ("lifetimes", "intervals"))
    )
    alive = {buffer["name"]: spans for buffer, spans in zip(buffers, intervals, strict=True)}
    assert alive["npu.first_scratch"] == [{"start": 2, "stop": 3}]
    assert alive["npu.second_scratch"] == [{"start": 3, "stop": 4}]
    says(call("generate", path, "--out", tmp_path / "out"), 1, 'kernels = "extern"')
