"""Runs TVM in a process of its own, and makes a model of the program that it returns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from usmp_build.document.formats import ONNX, other_format
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.importers.program import import_program
from usmp_build.ir.graph import CompilerPlan, Model, Subgraph
from usmp_build.ir.statements import Code
from usmp_build.processes import Unfinished, lacks_memory, run_module

_VERSION = "0.27"
_INSTALL = "pip install 'usmp_build[tvm]'"
_WORKER = "usmp_build.importers.tvm.worker"
_SECONDS = 600
_MEMORY, _MEMORY_PER_BYTE = 3 << 28, 64
"""Bytes that TVM may take: itself about 200 MB, and 5 bytes for each byte of weights; the rest is for what it folds."""
_TOO_LARGE = ("T256", "T260")
"""Codes of programs that nest too deep, or have too many bytes."""
_DEQUANTIZE = b"DequantizeLinear"
"""The kind of operators that a quantized ONNX model has, as the file spells it."""
_FLOATS = (
    "it is quantized (DequantizeLinear), and TVM computes it in floats: each weight takes four bytes; the kernels of"
    " int8 run .tflite files, such as onnx2tf makes"
)
_OTHER_WAYS = "save a Relax module by another of TVM's front ends (docs/relax.md), or export the model as .tflite"


def import_onnx(data: bytes, name: str, path: str, /) -> Model:
    """Return the program of an ONNX file; raise ModelError, placed in `path`, when it has none."""
    return replace(_import(data, name, path, ".onnx"), notes=(_FLOATS,) if _DEQUANTIZE in data else ())


def import_relax(data: bytes, name: str, path: str, /) -> Model:
    """Return the program of a module that `tvm.ir.save_json` wrote; raise ModelError when it has none."""
    return _import(data, name, path, ".relax.json")


def _import(data: bytes, name: str, path: str, suffix: str) -> Model:
    other = other_format(data)
    if other and not (suffix == ".onnx" and other.name == ONNX):
        raise ModelError(Diagnostic("T258", f"it is {other.name}", path, other.way_out))
    require_tvm(path, *(["onnx"] if suffix == ".onnx" else []))
    answer = _answer(data, path, suffix)
    if "refusal" in answer:
        reason = answer["refusal"]
        if lacks_memory(reason):
            reason = f"that takes more than {_memory(data):,} bytes of memory"
        message = f"TVM makes no program of it: {reason}"
        raise ModelError(Diagnostic("T258", message, path, answer["help"] or _OTHER_WAYS))
    model = _program(answer["program"], name, path)
    graphs = tuple(_with_code(graph, answer["code"]) for graph in model.subgraphs)
    compiler_plan = answer.get("compiler_plan")
    return replace(
        model, subgraphs=graphs, compiler_plan=CompilerPlan("TVM", **compiler_plan) if compiler_plan else None
    )


def _program(program: Mapping[str, Any], name: str, path: str) -> Model:
    """Import what TVM makes of a model.  What is wrong with it has no place in the model's own file."""
    try:
        return import_program(json.dumps(program).encode(), name, path)
    except ModelError as error:
        (fault,) = error.diagnostics
        if fault.code not in _TOO_LARGE:
            raise
        message = f"the program that TVM makes of it is too large: {fault.message}"
        help_ = "split the model, or export it as .tflite: each tensor between its operators is one level of statements"
        raise ModelError(Diagnostic("T270", message, path, help_)) from None


def require_tvm(path: str, *others: str) -> None:
    """Raise ModelError, placed in `path`, unless there is a TVM that we know, and the other packages."""
    for package in ("apache-tvm", *others):
        try:
            there = version(package)
        except PackageNotFoundError:
            message = f"{package} is not installed, which reads such models"
            raise ModelError(Diagnostic("T259", message, path, _INSTALL)) from None
        if package == "apache-tvm" and not there.startswith(f"{_VERSION}."):
            message = f"apache-tvm {there} is installed, but only {_VERSION} is supported: its interfaces change"
            raise ModelError(Diagnostic("T259", message, path, _INSTALL))


def _memory(data: bytes) -> int:
    return _MEMORY + _MEMORY_PER_BYTE * len(data)


def _answer(data: bytes, path: str, suffix: str) -> Mapping[str, Any]:
    try:
        done = run_module(_WORKER, [suffix], seconds=_SECONDS, memory=_memory(data), said=data)
    except Unfinished:
        message = f"TVM did not finish within {_SECONDS} seconds"
        raise ModelError(Diagnostic("T258", message, path, "give it a smaller model")) from None
    if done.code:
        reason = done.reason or "it crashes, as on what is damaged or nests too deep"
        message = f"TVM ended with status {done.code}: {reason}"
        raise ModelError(Diagnostic("T258", message, path, "export the model again, or a part of it"))
    answer: Mapping[str, Any] = json.loads(done.out)
    return answer


def _with_code(graph: Subgraph, code: Mapping[str, Any]) -> Subgraph:
    """Give a function its C, in which a tensor's name stands between two `@`."""
    if graph.name not in code:
        return graph
    numbers = {tensor.name: number for number, tensor in enumerate(graph.tensors)}
    item = code[graph.name]
    pieces = item["text"].split("@")
    parts = tuple(numbers[piece] if at % 2 else piece for at, piece in enumerate(pieces))
    choices = tuple((which, c_type) for which, c_type in item["choices"])
    return replace(graph, code=Code(parts, choices, item["needs_math"]))
