"""Stages in strips of columns: fewer bytes for more work, every tensor is the same, and the checker replays them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from benchmarks import recompute
from checker.main import check
from checker.model import Model, Wrong
from tests.support.cli import DATA, call, equals_tflm, manifest, planned, succeed
from tests.support.net import LINEAR, RELU6, Net
from tests.support.nets import shuffled, time_series
from tests.support.tools import few, needs_c
from tests.support.tree import ROOT

MODEL = '[project]\nname = "p"\n[models.net]\npath = "net.tflite"\nio = "application"\n'
pytestmark = pytest.mark.slow
AGAIN = '[plan]\nrecompute = "40 %"\n'


def wide() -> bytes:
    """Two inverted residuals over 4 x 20 pixels: what is between them is narrow."""
    net = Net(1)
    x = net.conv(net.input(4, 20, 2), 3, act=RELU6)
    y = net.depthwise(net.conv(x, 24, act=RELU6), (3, 3), RELU6)
    x = net.add(x, net.conv(y, 3, act=LINEAR))
    y = net.depthwise(net.conv(x, 24, act=RELU6), (3, 3), RELU6, 2)
    return net.file(net.conv(y, 3, act=LINEAR))


def written(folder: Path, words: str = AGAIN) -> Path:
    (folder / "net.tflite").write_bytes(wide())
    return manifest(folder, MODEL + words)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return planned(written(tmp_path_factory.mktemp("strips")))


def test_bytes_for_work(plan: dict[str, Any], tmp_path: Path) -> None:
    once, (model,) = planned(written(tmp_path, "")), plan["models"]
    saved = once["workspace"]["achieved"] - plan["workspace"]["achieved"]
    assert model["strips"]
    assert 0 < model["recomputed_macs"] * 100 <= 40 * model["macs"]
    assert model["macs"] == once["models"][0]["macs"]
    assert 500 * saved * model["macs"] >= 100 * once["workspace"]["achieved"] * model["recomputed_macs"] > 0
    jsonschema.validate(plan, json.loads((ROOT / "schemas" / "plan.schema.json").read_text("utf-8")))


@pytest.mark.parametrize("net", few([shuffled, time_series], 1))
def test_a_plan_is_never_worse_than_without_and_worth_its_work(net: Callable[[], bytes], tmp_path: Path) -> None:
    (tmp_path / "net.tflite").write_bytes(net())
    once, again = (planned(manifest(tmp_path, MODEL + words)) for words in ("", '[plan]\nrecompute = "100 %"\n'))
    bytes_, model = once["workspace"]["achieved"], again["models"][0]
    saved = bytes_ - again["workspace"]["achieved"]
    assert saved >= 0
    assert 500 * saved * model["macs"] >= 100 * bytes_ * model["recomputed_macs"]


def test_without_any_nothing_is_proven_of_plans_with_them(tmp_path: Path) -> None:
    """One per cent more is too little for any."""
    text = call("plan", written(tmp_path, '[plan]\nrecompute = "1 %"\n')).out
    assert "strips of columns" not in text
    assert "so no order of rows with these buffers needs less" in text


def test_the_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path)
    assert recompute.main(["0", "40", "--", str(tmp_path / "net.tflite")]) == 0
    head, _, row = capsys.readouterr().out.splitlines()
    assert head == "| model | +0 % | +40 % |"
    assert re.fullmatch(r"\| net \| [0-9,]+ at 1\.00 \| [0-9,]+ at 1\.[0-3][0-9] \|", row)


def test_what_is_said_of_them(tmp_path: Path) -> None:
    text = call("plan", written(tmp_path)).out
    assert "strips of columns" in text
    assert "what is computed again takes" in text


def test_the_checker_replays_them(plan: dict[str, Any]) -> None:
    check(plan, [Model(wide())])


def moved(plan: dict[str, Any]) -> None:
    """A strip has other columns than those that are computed."""
    strip = next(each for each in plan["models"][0]["tensors"] if each["columns"] and each["columns"][0] > 1)
    strip["columns"] = [number - 1 for number in strip["columns"]]


def narrowed(plan: dict[str, Any]) -> None:
    """A strip lacks the columns beside it."""
    strip = next(each for each in plan["models"][0]["tensors"] if each["columns"])
    strip["columns"][1] -= 1


def exchanged(plan: dict[str, Any]) -> None:
    """An operator of a strip is another one of the file."""
    one, other = [each for each in plan["models"][0]["operators"] if each["strip_of"] is not None][:2]
    one["strip_of"] = other["strip_of"]


def overlapped(plan: dict[str, Any]) -> None:
    """Two rows of a strip are in one place."""
    strips = {each["buffer"] for each in plan["models"][0]["tensors"] if each["columns"]}
    rows = next(each for each in plan["buffers"] if each["name"] in strips and len(each.get("offsets", ())) > 1)
    rows["offsets"][1] = rows["offsets"][0]


@pytest.mark.parametrize("change", [moved, narrowed, exchanged, overlapped])
def test_the_checker_finds_what_is_wrong(change: Any, plan: dict[str, Any]) -> None:
    wrong = json.loads(json.dumps(plan))
    change(wrong)
    with pytest.raises(Wrong):
        check(wrong, [Model(wide())])


@needs_c
def test_every_tensor_is_that_of_tensorflow_lite_micro(tmp_path: Path) -> None:
    equals_tflm(written(tmp_path), "--sanitize", "--runs", "2")


@needs_c
@pytest.mark.long
def test_beside_a_model_that_is_fed_row_by_row(tmp_path: Path) -> None:
    """Each has its `recompute`, and the fed one must have none."""
    fed = f'[models.fed]\npath = "{(DATA / "digits.tflite").as_posix()}"\nio = "application"\ninputs = "rows"\n'
    done = call("plan", written(tmp_path, fed + AGAIN))
    assert done.code != 0
    assert 'write recompute = "0 %" in [models.fed]' in done.err
    text = written(tmp_path, f'{fed}recompute = "0 %"\n{AGAIN}')
    other, small = sorted(planned(text)["models"], key=lambda model: model["name"])
    assert small["recomputed_macs"] > 0 == other["recomputed_macs"]
    succeed("selftest", text, "--sanitize", "--runs", "1")


def test_what_the_manifest_names_has_none(tmp_path: Path) -> None:
    """Kernels of the application know no strips."""
    place = '[[models.net.place]]\noperators = "CONV_2D"\nkernels = "extern"\n'
    assert planned(written(tmp_path, place + AGAIN))["models"][0]["strips"] == []
