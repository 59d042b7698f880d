"""A process that runs a model in another interpreter, and writes every tensor of every run from FIRST on.

    usmp_build.cli.oracle_process PACKAGE MODEL INPUTS.npz ANSWERS FIRST INDEX...

PACKAGE is that of TensorFlow Lite Micro, one of those that have LiteRT, or TVM's.  Each run is a file, written before
the next run begins, so that an abort leaves the answers before it.  The self-test starts such a process for each
model, and to import our package would take most of its time: only TVM's models are read by it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

READY = "ready"
"""A file beside the answers that says that the model was accepted."""
TFLM = "tflite_micro"
TVM = "tvm"
LITERT = ("ai_edge_litert", "tflite_runtime", "tensorflow")
MEMORY = 4 << 30
"""Bytes that such a process may take: TensorFlow by itself takes one gigabyte."""
_ARENA = 64 << 20


def _answer(package: str, model: str, inputs: str, answers: str, first: str, *wanted: str) -> None:
    run = {TFLM: _tflm, TVM: _tvm}.get(package, _litert)
    run_once = run(package, model, [int(tensor) for tensor in wanted])
    (Path(answers) / READY).touch()
    with np.load(inputs) as stored:
        names = [name for name in stored.files if name != "runs"]
        for number in range(int(first), int(stored["runs"])):
            given = {int(name.partition("_")[2]): stored[name] for name in names if name.startswith(f"{number}_")}
            np.savez(Path(answers) / f"{number}.npz", allow_pickle=False, **run_once(given))


def _tflm(package: str, model: str, wanted: list[int]) -> Callable[[Mapping[int, Any]], dict[str, Any]]:
    """Ask for existing tensors only: the interpreter crashes on others."""
    runtime = import_module(package).runtime
    keep = runtime.InterpreterConfig.kPreserveAllTensors
    interpreter = runtime.Interpreter.from_file(model, arena_size=_ARENA, intrepreter_config=keep)

    def run_once(given: Mapping[int, Any]) -> dict[str, Any]:
        for position, data in given.items():
            interpreter.set_input(data, position)
        interpreter.invoke()
        return {str(tensor): interpreter._interpreter.GetTensor(tensor, 0)["tensor_data"] for tensor in wanted}

    return run_once


def _litert(package: str, model: str, wanted: list[int]) -> Callable[[Mapping[int, Any]], dict[str, Any]]:
    """Use its reference kernels, or all where these lack an operator."""
    module = import_module(
        "tensorflow.lite.python.interpreter" if package == "tensorflow" else f"{package}.interpreter"
    )
    kernels = module.OpResolverType

    def loaded(resolver: Any) -> Any:
        interpreter = module.Interpreter(
            model_path=model, experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=True
        )
        interpreter.allocate_tensors()
        return interpreter

    try:
        interpreter = loaded(kernels.BUILTIN_REF)
    except (RuntimeError, ValueError):
        interpreter = loaded(kernels.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    ports = [each["index"] for each in interpreter.get_input_details()]

    def run_once(given: Mapping[int, Any]) -> dict[str, Any]:
        for position, data in given.items():
            interpreter.set_tensor(ports[position], data)
        interpreter.invoke()
        return {str(tensor): interpreter.get_tensor(tensor) for tensor in wanted}

    return run_once


def _tvm(package: str, model: str, wanted: list[int]) -> Callable[[Mapping[int, Any]], dict[str, Any]]:
    """Compile the module for this machine by TVM's own road, and run it in its VM; `wanted` are all outputs."""
    from usmp_build.importers.tvm.worker import without_torch

    without_torch()
    from usmp_build.importers.tvm.front_ends import relax_module

    tvm = import_module(package)
    file = Path(model)
    data = file.read_bytes() if file.suffix == ".onnx" else _in_one_memory(file.read_bytes())
    module, _ = relax_module(data, "".join(file.suffixes))
    devices = [tvm.cpu()] * max(1, len(module.global_infos.get("vdevice", ())))
    machine = tvm.relax.VirtualMachine(tvm.compile(module, target="llvm"), devices)

    def flat(result: Any) -> list[Any]:
        return [result.numpy()] if hasattr(result, "numpy") else [leaf for each in result for leaf in flat(each)]

    def run_once(given: Mapping[int, Any]) -> dict[str, Any]:
        results = flat(machine["main"](*(tvm.runtime.tensor(given[position]) for position in sorted(given))))
        return {str(tensor): result for tensor, result in zip(wanted, results, strict=True)}

    return run_once


def _in_one_memory(module: bytes) -> bytes:
    """Return a saved module without devices and memory scopes: they change no value, and this machine has one each."""
    graph = json.loads(module)
    for node in graph["nodes"]:
        if node["type"] == "ffi.String" and node["data"].startswith("global."):
            node["data"] = "global"
        elif node["type"] == "relax.VDevice":
            node["data"]["vdevice_id"] = 0
    return json.dumps(graph).encode()


if __name__ == "__main__":
    _answer(*sys.argv[1:])
