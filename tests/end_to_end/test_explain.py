"""`explain` of tensors that rewrites changed: what is left of them, and which rewrite removed the others."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli import call, manifest, one_model
from tests.support.nets import NETS


def told(folder: Path, name: str, extra: str = "", model: str = "digits") -> list[str]:
    """Explain a tensor of one of our models, or of a net made by script."""
    path = folder / f"{model}.tflite"
    if model in NETS:
        path.write_bytes(NETS[model]())
    place = path.as_posix() if model in NETS else f"DATA/{model}.tflite"
    done = call("explain", name, manifest(folder, one_model("m", extra, place)))
    assert done.code == 0, done.err
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


def test_a_view_is_found_in_its_buffer(tmp_path: Path) -> None:
    lines = told(tmp_path, "m.flat_1/Reshape")
    assert lines[0] == "m.shapes_1/Relu: intermediate, written by CONV_2D 4"
    assert lines[-1] == "  view    m.flat_1/Reshape, the same bytes in another shape"


def test_arrays_of_the_caller_are_in_no_pool(tmp_path: Path) -> None:
    io = 'io = "application"'
    line = "m.serving_default_image:0: in the caller's array, no pool holds it"
    assert told(tmp_path, "m.serving_default_image:0", io) == [line]
    assert told(tmp_path, "m.serving_default_image:0")[0] == "m.serving_default_image:0: input, input"
