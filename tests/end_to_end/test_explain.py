"""`explain` of tensors that rewrites changed: what is left of them, and which rewrite removed the others."""

import re
from pathlib import Path

import pytest

from tests.support.cli import call, manifest, one_model, says, succeed
from tests.support.nets import NETS
from usmp_build.cli.explain_code import explanation
from usmp_build.errors import UsageError
from usmp_build.installation import explanations


def told(folder: Path, name: str, extra: str = "", model: str = "digits") -> list[str]:
    """Explain a tensor of one of our models, or of a net of a script."""
    path = folder / f"{model}.tflite"
    if model in NETS:
        path.write_bytes(NETS[model]())
    place = path.as_posix() if model in NETS else f"DATA/{model}.tflite"
    done = succeed("explain", name, manifest(folder, one_model("m", extra, place)))
    return done.out.splitlines()


def test_the_rewrite_that_removed_a_tensor_is_named(tmp_path: Path) -> None:
    assert told(tmp_path, "m.t2", model="separable") == ["m.t2: gone, the rewrite pads removed it"]
    kept = told(tmp_path, "m.t2", "rewrites = { pads = false }", "separable")
    assert kept[0] == "m.t2: intermediate, written by PAD 0"


def test_a_buffer_says_which_channels_are_left_of_it(tmp_path: Path) -> None:
    line = "  left    14 of 16 channels, by the rewrite constant_channels: 0 1 2 3 5 6 7 8 9 10 12 13 14 15"
    assert line in told(tmp_path, "m.t16", model="separable")
    off = "rewrites = { constant_channels = false }"
    assert not any("  left " in each for each in told(tmp_path, "m.t16", off, "separable"))


def test_a_view_is_listed_with_its_buffer(tmp_path: Path) -> None:
    lines = told(tmp_path, "m.flat_1/Reshape")
    assert lines[0] == "m.shapes_1/Relu: intermediate, written by CONV_2D 4"
    assert lines[-1] == "  view    m.flat_1/Reshape, the same bytes in another shape"


def test_arrays_of_the_caller_are_in_no_pool(tmp_path: Path) -> None:
    io = 'io = "application"'
    line = "m.serving_default_image:0: in the caller's array, no pool holds it"
    assert told(tmp_path, "m.serving_default_image:0", io) == [line]
    assert told(tmp_path, "m.serving_default_image:0")[0] == "m.serving_default_image:0: input, input"


@pytest.mark.parametrize("asked", ["digits_1/flat_1/Reshape", "m.digits_1/flat_1/Reshape", "%17", "m.%17"])
def test_names_of_the_file_and_numbers_are_understood(tmp_path: Path, asked: str) -> None:
    lines = told(tmp_path, asked)
    assert lines[0] == "m.shapes_1/Relu: intermediate, written by CONV_2D 4"
    assert lines[-1] == "  view    m.flat_1/Reshape, the same bytes in another shape"


def test_tensors_of_one_short_name_are_told_apart_by_number(tmp_path: Path) -> None:
    bias, image = (told(tmp_path, name)[0] for name in ("%10", "%12"))
    assert bias == "m.edges_1/Relu_2: constant, of the model"
    assert image == "m.edges_1/Relu: intermediate, written by CONV_2D 0"


def test_a_constant_that_is_no_data_says_so(tmp_path: Path) -> None:
    name = "Mean/reduction_indices"
    assert told(tmp_path, name, model="branchy") == [f"m.{name}: a constant that no kernel reads from memory"]


def test_an_unknown_name_is_shown_on_one_line(tmp_path: Path) -> None:
    done = call("explain", "a\n" + "b" * 5000, manifest(tmp_path, one_model("m", "", "DATA/digits.tflite")))
    says(done, 2, f'no buffer is called "a\\n{"b" * 56}…"')


def test_a_name_without_its_model_is_the_whole_name(tmp_path: Path) -> None:
    """Others have it as a part of theirs, which counts only where no name is equal."""
    assert told(tmp_path, "edges_1/Relu") == told(tmp_path, "m.edges_1/Relu")
    assert any(line.startswith("m.edges_1/Relu: ") for line in told(tmp_path, "m.edges_1"))


def test_a_part_of_a_name_explains_what_changes_and_names_constants(tmp_path: Path) -> None:
    lines = told(tmp_path, "edges")
    assert [line for line in lines if not line.startswith(" ")] == [
        "m.edges_1/Relu: intermediate, written by CONV_2D 0",
        "",
        "also constants: m.edges_1/Relu.multiplier, m.edges_1/Relu.shift, m.edges_1/Relu_2, m.edges_1/convolution",
    ]
    assert told(tmp_path, "edges_1/conv")[0] == "m.edges_1/convolution: constant, of the model"


def test_a_part_of_a_models_name_is_looked_for_in_tensors_first(tmp_path: Path) -> None:
    path = manifest(tmp_path, one_model("pool", "", "DATA/digits.tflite"))
    assert [line for line in call("explain", "ool", path).out.splitlines() if line.startswith("pool.")] == [
        "pool.shrink_1/MaxPool2d: intermediate, written by MAX_POOL_2D 3"
    ]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("image", "m.serving_default_image:0"),
        ("imge", "m.serving_default_image:0"),
        ("m.mix", "m.mix_1/Relu"),
        ("m.mix_2/Relu", "m.mix_1/Relu"),
        ("edges and strokes", 'm.strokes_1/Relu" or "m.edges_1/Relu'),
    ],
)
def test_the_tensor_that_was_meant_is_named(tmp_path: Path, asked: str, meant: str) -> None:
    done = call("explain", f"{asked}!", manifest(tmp_path, one_model("m", "", "DATA/digits.tflite")))
    assert f'help: did you mean "{meant}"? Tensors: m.StatefulPartitionedCall_1:0, ' in done.err


def test_tensors_are_named_where_none_can_be_meant(tmp_path: Path) -> None:
    done = call("explain", "qqq", manifest(tmp_path, one_model("m", "", "DATA/digits.tflite")))
    assert "help: tensors: m.StatefulPartitionedCall_1:0, " in done.err


@pytest.mark.parametrize("asked", ["", "m."])
def test_a_model_alone_is_no_name(tmp_path: Path, asked: str) -> None:
    done = call("explain", asked, manifest(tmp_path, one_model("m", "", "DATA/digits.tflite")))
    says(done, 2, f'error[U203]: no buffer is called "{asked}"')


def test_a_code_is_explained_as_on_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = call("explain", "p502").out
    assert out.startswith("P502 The buffers do not fit\n\n")
    assert "(docs/ram.md)" in out
    assert "\nP503" not in out


def test_every_code_is_explained_without_marks_of_links() -> None:
    pages = [page.read_text("utf-8") for page in explanations().glob("*.md")]
    codes = [code for page in pages for code in re.findall(r"(?m)^##+ ([A-Z]\d{3}) ", page)]
    texts = {code: explanation(code) for code in codes}
    assert [code for code, text in texts.items() if not text.startswith(f"{code} ") or "](" in text] == []


@pytest.mark.parametrize(("code", "help_"), [("U999", "did you mean U289?"), ("z100", "codes begin with K, M, P,")])
def test_a_code_that_no_error_has(code: str, help_: str) -> None:
    done = call("explain", code)
    assert done.code == UsageError.exit_code
    assert f"error[U217]: no error has the code {code.upper()}\nhelp: {help_}" in done.err


def test_a_tensor_whose_name_looks_like_a_code_needs_a_manifest(tmp_path: Path) -> None:
    done = call("explain", "P502", manifest(tmp_path, one_model("m", "", "DATA/digits.tflite")))
    assert 'error[U203]: no buffer is called "P502"' in done.err
