"""Rows that are computed again: fewer bytes for no more work than is allowed, and every tensor is the same."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from benchmarks import recompute
from tests.support.cli import DATA, call, equals_tflm, manifest, planned, succeed
from tests.support.large_nets import mobilenet_v2
from tests.support.nets import shuffled, time_series
from tests.support.tools import few, needs_c
from tests.support.tree import ROOT
from usmp_build.errors import UsageError
from usmp_build.layout.plan_json import plan_json, read_plan

SMALL = mobilenet_v2(24, 0.35, stages=3)
"""A stem, and six inverted residuals."""
AGAIN = '[plan]\nrecompute = "40 %"\n'


def written(folder: Path, words: str) -> Path:
    """Write the manifest of a model in arrays of the caller."""
    (folder / "small.tflite").write_bytes(SMALL)
    text = '[project]\nname = "p"\n[models.small]\npath = "small.tflite"\nio = "application"\n'
    return manifest(folder, f"{text}{words}")


def plan_and_text(folder: Path, words: str) -> tuple[dict[str, Any], str]:
    """Return plan.json, and its text."""
    done = succeed("plan", written(folder, words), "--json")
    return json.loads(done.out), done.out


@pytest.mark.slow
@pytest.mark.parametrize("net", few([shuffled, time_series], 1))
def test_it_is_never_worse_than_without_and_worth_its_work(net: Callable[[], bytes], tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(net())
    text = '[project]\nname = "p"\n[models.net]\npath = "net.tflite"\n'
    once, again = (planned(manifest(tmp_path, text + words)) for words in ("", '[plan]\nrecompute = "100 %"\n'))
    bytes_, model = once["workspace"]["achieved"], again["models"][0]
    saved = bytes_ - again["workspace"]["achieved"]
    assert saved >= 0
    assert 500 * saved * model["macs"] >= 100 * bytes_ * model["recomputed_macs"]


@pytest.mark.long
def test_bytes_for_work(tmp_path: Path) -> None:
    """And what is shown of it."""
    once, (plan, text) = plan_and_text(tmp_path, "")[0], plan_and_text(tmp_path, AGAIN)
    model = plan["models"][0]
    assert once["models"][0]["recomputed_macs"] == 0 < model["recomputed_macs"] * 100 <= 40 * model["macs"]
    assert plan["workspace"]["achieved"] < once["workspace"]["achieved"]
    jsonschema.validate(plan, json.loads((ROOT / "schemas" / "plan.schema.json").read_text("utf-8")))
    assert plan_json(read_plan(text.encode(), "plan.json", UsageError, "U204", "")) == text
    again = [buffer for buffer in plan["buffers"] if buffer.get("lives")]
    assert again
    assert all(sum(each["lives"]) == len(each["intervals"]) > len(each["offsets"]) for each in again)
    assert "are computed again" in call("explain", again[0]["name"], tmp_path / "usmp.toml").out


def test_the_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "")
    assert recompute.main(["0", "--", str(tmp_path / "small.tflite")]) == 0
    head, _, row = capsys.readouterr().out.splitlines()
    assert head == "| model | +0 % |"
    assert re.fullmatch(r"\| small \| [0-9,]+ at 1\.00 \|", row)


@needs_c
@pytest.mark.long
def test_every_tensor_is_that_of_tensorflow_lite_micro(tmp_path: Path) -> None:
    equals_tflm(written(tmp_path, AGAIN), "--sanitize", "--runs", "2")
    out = tmp_path / "out"
    assert call("generate", tmp_path / "usmp.toml", "--out", out).code == 0
    text = (out / "small.c").read_text("utf-8")
    assert "const int32_t job = small_jobs_numbers[i];" in text
    assert "jobs_done" not in text


@pytest.mark.long
@needs_c
def test_beside_a_model_that_is_fed_row_by_row(tmp_path: Path) -> None:
    """Each has its `recompute`, and the fed one must have none."""
    pytest.importorskip("tflite_micro", reason="tflite-micro is not installed")
    fed = f'[models.fed]\npath = "{(DATA / "digits.tflite").as_posix()}"\ninputs = "rows"\n'
    done = call("plan", written(tmp_path, fed + AGAIN))
    assert done.code != 0
    assert 'write recompute = "0 %" in [models.fed]' in done.err
    plan, _ = plan_and_text(tmp_path, f'{fed}recompute = "0 %"\n{AGAIN}')
    small, other = sorted(plan["models"], key=lambda model: model["name"] == "fed")
    assert small["recomputed_macs"] > 0 == other["recomputed_macs"]
    succeed("selftest", tmp_path / "usmp.toml", "--sanitize", "--runs", "1")
