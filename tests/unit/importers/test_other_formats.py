"""Files of other tools in place of a model: what they are, and how to get a model from them."""

import io
import zipfile
from pathlib import Path

import pytest

from tests.support.cli import RAM_AND_FLASH, call, manifest
from tests.support.flatbuffer import identity, write
from usmp_build.document.formats import other_format


def archive(*names: str) -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w") as packed:
        for name in names:
            packed.writestr(name, "{}")
    return file.getvalue()


FORMATS = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS", "git lfs pull"),
    "h5": (b"\x89HDF\r\n\x1a\n" + bytes(8), "an HDF5 file", "from_keras_model(model)"),
    "keras": (archive("metadata.json", "config.json", "model.weights.h5"), "a .keras file", "from_keras_model(model)"),
    "pt": (archive("net/data.pkl", "net/version"), "a ZIP archive of PyTorch", "docs/relax.md"),
    "pt2": (archive("serialized_exported_program.json", "version"), "a ZIP archive of PyTorch", "docs/relax.md"),
    "zip": (archive("kws.tflite"), "a ZIP archive", "unpack it"),
    "gz": (b"\x1f\x8b\x08\x00", "a gzip archive", "unpack it"),
    "pickle": (b"\x80\x02}q\x00.", "a Python pickle", "docs/relax.md"),
    "saved_model": (b"\x08\x01\x12\x80\x01\n", "a SavedModel of TensorFlow", "from_saved_model(FOLDER)"),
    "graph": (b"\n;\n\x05input\x12\x0bPlaceholder", "a graph of TensorFlow 1", "from_frozen_graph("),
    "onnx": (b"\x08\x08\x12\x07pytorch:", "an ONNX model", "ends in .onnx"),
    "array": (b"alignas(16) const unsigned char g_kws[] = {\n  0x20, 0x00,", "C with a model as an array", ".tflite"),
    "html": (b"\n<!DOCTYPE html>\n<html>", "a page of HTML", "download the file itself"),
}


@pytest.mark.parametrize(("data", "name", "cure"), FORMATS.values(), ids=FORMATS)
def test_the_first_line_says_what_it_is(data: bytes, name: str, cure: str, tmp_path: Path) -> None:
    """As a model, in a manifest under a name of its own, and in place of a manifest."""
    for suffix, message in (
        (".tflite", f"m.tflite: error[T201]: not a TensorFlow Lite model: it is {name}"),
        (".onnx", f"m.onnx: error[T258]: it is {name}"),
        (".bin", f"m.bin:1:1: error[M144]: this is {name}"),
    ):
        (tmp_path / f"m{suffix}").write_bytes(data)
        if (suffix, name) == (".onnx", "an ONNX model"):
            continue  # what it is belongs there
        done = call("plan", tmp_path / f"m{suffix}")
        assert (done.code, done.out) == (1, "")
        assert message in done.err
        assert cure in done.err
    path = manifest(tmp_path, f'{RAM_AND_FLASH}[models.m]\npath = "m.bin"\n')
    done = call("plan", path)
    assert f'error[P403]: no importer reads "m.bin": it is {name}' in done.err
    assert cure in done.err


@pytest.mark.parametrize("data", [b"", b"\x08", b"x" * 99, b'[project]\nname = "char"\n', b"PK", b"\x08\x00\x12"])
def test_anything_else_is_no_known_format(data: bytes) -> None:
    assert other_format(data) is None


def test_a_model_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(write(identity()))
    done = call("plan", tmp_path / "m.bin")
    assert "this is a TensorFlow Lite model, not a manifest" in done.err
    assert "help: give it a name that ends in .tflite" in done.err
