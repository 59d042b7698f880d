"""`usmp-build diff` for reviews: Markdown, JSON, and an exit code where a pool grows."""

import json
from pathlib import Path

import pytest

from tests.support.cli import DIGITS, ODD_EVEN, RO, RW, call, manifest, says, tables

LIMITED = {"sram": RW + 'size = "4 KiB"\n', "flash": RO}
BY_LAYERS = "[plan]\nrows = false\n"


def planned(folder: Path, text: str, name: str) -> Path:
    path = folder / f"{name}.json"
    path.write_text(call("plan", manifest(folder, text), "--json").out, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("plans")
    one = tables("doorbell", LIMITED, {"digits": DIGITS})
    two = tables("doorbell", {**LIMITED, "sram": RW + 'size = "2 KiB"\n'}, {"digits": DIGITS, "odd_even": ODD_EVEN})
    texts = {"rows": one, "layers": one + BY_LAYERS, "two": two}
    return {name: planned(folder, text, name) for name, text in texts.items()}


def test_markdown_says_what_grew_and_what_fills_it(plans: dict[str, Path]) -> None:
    lines = call("diff", plans["rows"], plans["layers"], "--format", "markdown").out.splitlines()
    assert "| sram | 759 | 1,543 | **+784** | 4,096 | 2,553 |" in lines
    assert any(
        line.startswith("**sram** is filled in `digits: CONV_2D 2`, by `digits.mix_1/Relu`, `digits.strokes_1/Relu`.")
        for line in lines
    )
    assert "<details><summary>Buffers: 5 moved</summary>" in lines


def test_markdown_has_models_that_came_and_limits_that_changed(plans: dict[str, Path]) -> None:
    lines = call("diff", plans["rows"], plans["two"], "--format", "markdown").out.splitlines()
    assert "| sram | 759 | 759 | 0 | 2,048 (was 4,096) | 1,289 |" in lines
    (model,) = [line for line in lines if line.startswith("| odd_even |")]
    assert model.startswith("| odd_even | added | 2,796 (**+2,796**) | 0 |")
    assert not [line for line in lines if line.startswith("| digits |")]
    back = call("diff", plans["two"], plans["rows"], "--format", "markdown").out
    assert "| odd_even | removed | 0 (**−2,796**) |" in back


def test_equal_plans_have_no_difference(plans: dict[str, Path]) -> None:
    out = call("diff", plans["rows"], plans["rows"], "--format", "markdown").out
    assert "No buffer was added, removed or moved." in out
    assert "is filled" not in out
    assert call("diff", plans["rows"], plans["rows"], "--fail-if-grows").code == 0


def test_json_has_the_same(plans: dict[str, Path]) -> None:
    difference = json.loads(call("diff", plans["rows"], plans["layers"], "--format", "json").out)
    assert difference["pools"][0] == {"name": "sram", "old": 759, "new": 1543, "old_limit": 4096, "limit": 4096}
    assert difference["witnesses"][0]["old_step"] == "digits: CONV_2D 2, row 5"
    assert [buffer["change"] for buffer in difference["buffers"]] == ["moved"] * 5


@pytest.mark.parametrize(
    ("allowed", "code"), [((), 4), (("783",), 4), (("784",), 0), (("1 KiB",), 0)], ids=lambda value: str(value)
)
def test_growth_is_refused_beyond_what_is_allowed(plans: dict[str, Path], allowed: tuple[str, ...], code: int) -> None:
    done = call("diff", plans["rows"], plans["layers"], "--fail-if-grows", *allowed)
    assert done.code == code
    assert "sram   " in done.out
    assert ("error[U247]: pool sram grows by 784 bytes" in done.err) == (code == 4)
    assert call("diff", plans["layers"], plans["rows"], "--fail-if-grows").code == 0


def test_what_is_no_size_is_refused(plans: dict[str, Path]) -> None:
    done = call("diff", plans["rows"], plans["layers"], "--fail-if-grows", "1 KB")
    says(done, 2, 'error[U216]: "KB" may mean 1000 or 1024')
    assert done.out == ""


def test_names_of_models_are_code_and_nothing_else(plans: dict[str, Path], tmp_path: Path) -> None:
    plan = json.loads(plans["layers"].read_text(encoding="utf-8"))
    evil = "digits.`</details>``@all\n# x|\u202e"
    plan["buffers"][1]["name"] = evil
    plan["pools"][0]["size"] += 8
    plan["pools"][0]["certificate"]["buffers"] = [evil]
    (tmp_path / "evil.json").write_text(json.dumps(plan), encoding="utf-8")
    out = call("diff", plans["layers"], tmp_path / "evil.json", "--format", "markdown").out
    assert out.count("``` digits.`</details>``@all\\n# x|\\u202e ```") == 2
    assert not [line for line in out.splitlines() if line.startswith("# x")]
    assert "\u202e" not in out
    text = call("diff", plans["layers"], tmp_path / "evil.json").out
    assert "+ digits.`</details>``@all\\n# x|\\u202e" in text


def test_folders_are_compared_by_their_plans(plans: dict[str, Path], tmp_path: Path) -> None:
    for name in ("rows", "layers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.json").write_bytes(plans[name].read_bytes())
    assert call("diff", tmp_path / "rows", tmp_path / "layers").out == call("diff", plans["rows"], plans["layers"]).out


@pytest.mark.slow
def test_plans_for_other_instructions(tmp_path: Path) -> None:
    text = tables("doorbell", LIMITED, {"digits": DIGITS})
    portable = planned(tmp_path, text, "portable")
    dsp = planned(tmp_path, text + '[targets.cpu]\nisa = "dsp"\n', "dsp")
    assert call("diff", portable, dsp).out.startswith("cpu: planned for isa dsp, before for portable\npool ")
    marked = call("diff", dsp, portable, "--format", "markdown").out.splitlines()
    assert marked[2] == "Target `cpu` is planned for isa portable, before for dsp."
    record = json.loads(call("diff", portable, dsp, "--format", "json").out)
    assert record["instructions"] == [{"target": "cpu", "old": "portable", "new": "dsp"}]
    assert "isa" not in call("diff", dsp, dsp).out
