"""Reads models in the textual form: bytes → graph (`textual`) → checked graph (`operators.well_formed`)."""

from __future__ import annotations

from dataclasses import replace

from usmp_build.errors import Diagnostic, ModelError
from usmp_build.ir.graph import Model
from usmp_build.operators.well_formed import first_fault
from usmp_build.textual.text import read


def import_text(data: bytes, name: str, path: str, /) -> Model:
    """Return the model in `data`, called `name`; raise ModelError, placed in `path`, when it is not valid."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"this is not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}"
        raise ModelError(Diagnostic("T301", message, path, "save the file as UTF-8")) from None
    model = read(text, name, path)
    if fault := first_fault(model):
        raise ModelError(replace(fault, place=path))
    return model
