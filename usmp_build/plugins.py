"""Names → things: the built-in ones in tables, those of other packages by entry point.

All verbs need some of the names, few of them the things, so that the types of these are not imported here.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from usmp_build.document.formats import other_format
from usmp_build.errors import Diagnostic, ModelError, Span
from usmp_build.files import Files
from usmp_build.providers import choose, providers
from usmp_build.request import ModelRequest, TargetRequest

if TYPE_CHECKING:
    from usmp_build.interfaces import Emitter, Importer, KernelLibrary
    from usmp_build.ir.graph import Model

IMPORTERS = {
    ".model.txt": "usmp_build.importers.text:import_text",
    ".onnx": "usmp_build.importers.tvm:import_onnx",
    ".program.json": "usmp_build.importers.program:import_program",
    ".relax.json": "usmp_build.importers.tvm:import_relax",
    ".tflite": "usmp_build.importers.tflite:import_tflite",
}
KERNELS = {
    "cmsis-nn": "usmp_build.kernels.cmsis_nn:CmsisNN",
    "extern": "usmp_build.kernels.extern:Extern",
    "reference": "usmp_build.kernels.reference:Reference",
}
EMITTERS = {
    "bazel": "usmp_build.emitters.build_files:bazel",
    "c": "usmp_build.emitters.c:emit",
    "cmake": "usmp_build.emitters.build_files:cmake",
    "libraries": "usmp_build.emitters.build_files:libraries",
    "linker": "usmp_build.emitters.linker:emit",
    "make": "usmp_build.emitters.build_files:make",
    "meson": "usmp_build.emitters.build_files:meson",
    "plan.json": "usmp_build.emitters.plan_json:emit",
}


def importer_suffixes() -> list[str]:
    """Return how the names of model files end."""
    return list(providers("importers", IMPORTERS))


def importer(path: str, place: Span | str, data: bytes = b"") -> Importer:
    """Return the importer for a file, by the end of its name; `data` is for the help where there is none."""
    importers = providers("importers", IMPORTERS)
    for suffix, provider in importers.items():
        if path.lower().endswith(suffix):
            result: Importer = provider.load()
            return result
    other = other_format(data)
    message = f'no importer reads "{path}"' + (f": it is {other.name}" if other else "")
    help_ = other.way_out if other else f"model files end in {' or '.join(importers)}"
    raise ModelError(Diagnostic("P403", message, place, help_))


def kernels(name: str, place: Span | str, target: TargetRequest | None = None) -> KernelLibrary:
    """Return the kernel library that the manifest asks for, to run operators on a target.

    A library that depends on the target has a function `for_target`, which makes it.
    """
    factory = choose(providers("kernels", KERNELS), name, "kernel library", place).load()
    library: KernelLibrary = factory.for_target(target) if target and hasattr(factory, "for_target") else factory()
    return library


def emitters() -> tuple[Emitter, ...]:
    """Return all emitters, by name."""
    return tuple(provider.load() for provider in providers("emitters", EMITTERS).values())


def import_model(model: ModelRequest, files: Files, read: Importer | None = None) -> Model:
    """Read one model file: as the end of its name says, or by `read`."""
    data = files.read(model.path, f"--model {model.name}" if "path" in model.overrides else model.span)
    digest = hashlib.sha256(data).hexdigest()
    if model.sha256 and model.sha256 != digest:
        message = f'model "{model.name}" is not the file it was: {files.shown(model.path)} has another sha256'
        help_ = f'restore the file; or, if it is meant to be new, write sha256 = "{digest}"'
        raise ModelError(Diagnostic("P201", message, model.sha256_span, help_))
    imported = (read or importer(model.path, model.span, data))(data, model.name, files.shown(model.path))
    return replace(imported, sha256=digest)
