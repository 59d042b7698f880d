"""What a file is, by its first bytes, where a model was expected: formats of other tools, and how to convert them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_KERAS = (
    "convert it: model = keras.models.load_model(FILE), then tf.lite.TFLiteConverter.from_keras_model(model).convert()"
)
_TORCH = "export it: by litert-torch to .tflite, or by TVM to a Relax module (docs/relax.md)"
_SAVED = "convert its folder: tf.lite.TFLiteConverter.from_saved_model(FOLDER).convert()"
_FROZEN = "convert it: tf.compat.v1.lite.TFLiteConverter.from_frozen_graph(FILE, INPUTS, OUTPUTS).convert()"
ONNX = "an ONNX model"
_TFLITE = "give it a name that ends in .tflite: then it is planned without a manifest"
_ONNX_VERSIONS = range(2, 32)
"""Of its intermediate representation; a SavedModel has 1 in the same place."""


class Format(NamedTuple):
    """A format that no importer reads under the name that the file has."""

    name: str
    """With its article."""
    way_out: str


class _Mark(NamedTuple):
    holds: Callable[[bytes], bool]
    format: Format


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda data: data.startswith(starts)


def _is_keras_zip(data: bytes) -> bool:
    return data.startswith(b"PK\3\4") and b"config.json" in data and b"metadata.json" in data


def _is_torch_zip(data: bytes) -> bool:
    names = (b"/data.pkl", b"serialized_exported_program", b"/models/model.json", b"/archive_format")
    return data.startswith(b"PK\3\4") and any(name in data for name in names)


def _is_onnx(data: bytes) -> bool:
    return len(data) > 2 and data[0] == 0x08 and data[1] in _ONNX_VERSIONS and data[2] in (0x12, 0x1A, 0x22, 0x3A, 0x42)


def _is_c_array(data: bytes) -> bool:
    return re.search(rb"char\s+\w+\s*\[\w*\][^;{]*\{\s*0x", data[:4096]) is not None


_MARKS = (
    _Mark(
        _begins(b"version https://git-lfs"),
        Format("a pointer of Git LFS, which stands for the file", "It is a pointer of Git LFS: run `git lfs pull`."),
    ),
    _Mark(_begins(b"\x89HDF\r\n\x1a\n"), Format("an HDF5 file, as Keras saves models or weights", _KERAS)),
    _Mark(_is_keras_zip, Format("a .keras file, a ZIP archive", _KERAS)),
    _Mark(_is_torch_zip, Format("a ZIP archive of PyTorch", _TORCH)),
    _Mark(_begins(b"PK\3\4"), Format("a ZIP archive", "unpack it, and give the path of the model in it")),
    _Mark(_begins(b"\x1f\x8b"), Format("a gzip archive", "unpack it, and give the path of the model in it")),
    _Mark(_begins(b"\x80\x02"), Format("a Python pickle, as PyTorch saves weights", _TORCH)),
    _Mark(_begins(b"\x08\x01\x12"), Format("a SavedModel of TensorFlow", _SAVED)),
    _Mark(_is_onnx, Format(ONNX, "give the file a name that ends in .onnx (docs/relax.md)")),
    _Mark(lambda data: data[:1] == b"\n" and b"Placeholder" in data[:4096], Format("a graph of TensorFlow 1", _FROZEN)),
    _Mark(
        lambda data: data[4:8] == b"TFL3",
        Format("a TensorFlow Lite model", _TFLITE),
    ),
    _Mark(
        _is_c_array,
        Format("C with a model as an array", "give the .tflite file that it was made of, or write its bytes to one"),
    ),
    _Mark(
        lambda data: data[:256].lstrip().lower().startswith((b"<!doctype html", b"<html")),
        Format("a page of HTML", "download the file itself, such as by the button Raw"),
    ),
)


def other_format(data: bytes) -> Format | None:
    """Return which known format these bytes have; None for others.

    >>> other_format(b"PK\\x03\\x04").name
    'a ZIP archive'
    """
    return next((mark.format for mark in _MARKS if mark.holds(data)), None)
