"""A process that runs a model, or segments of one, in other interpreters, and writes the tensors of every run.

    usmp_build.selftest.oracle_process FOLDER

The folder has `job.json`, the model, `inputs.npz` and `ours.npz`, which `selftest/asking.py` writes.  With
`trials`, the answer is only which of these segments TensorFlow Lite Micro accepts.  Otherwise segments run one after
the other, each on what those before it computed; where `ours` has a tensor, what follows goes on with that.  Each run
of a segment is a file, written before the next begins, so that an abort leaves all before it; what is there is not run
again.  To import our package would take most of the time: only TVM's models are read by it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

TFLM = "tflite_micro"
TVM = "tvm"
LITERT = ("ai_edge_litert", "tflite_runtime", "tensorflow")
ACCEPTED = "accepted.json"
"""A file that says of each trial whether it was accepted."""
JOB, MODEL_INPUTS, OURS = "job.json", "inputs.npz", "ours.npz"
MEMORY = 4 << 30
"""Bytes that such a process may take: TensorFlow by itself takes one gigabyte."""
_ARENA = 64 << 20

_RunOnce = Callable[[Sequence[Any]], dict[str, Any]]
"""Inputs → tensors by their numbers."""


def ready(folder: Path, segment: int) -> Path:
    """Return the file that says that a segment was accepted."""
    return folder / f"{segment}.ready"


def answer(folder: Path, segment: int, run: int) -> Path:
    """Return the file of the tensors of a run of a segment, and of its inputs, as `in_3`."""
    return folder / f"{segment}.{run}.npz"


def _main(folder: Path) -> None:
    job = json.loads((folder / JOB).read_bytes())
    model = folder / job["model"]
    if "trials" in job:
        data = model.read_bytes()
        accepted = [bool(front) and _is_accepted(bytes.fromhex(front) + data) for front in job["trials"]]
        (folder / ACCEPTED).write_text(json.dumps(accepted), encoding="utf-8")
        return
    segments = job["segments"]
    read = {tensor for segment in segments for tensor, _ in segment["inputs"]}
    with np.load(folder / MODEL_INPUTS) as stored, np.load(folder / OURS) as ours:
        runs: list[dict[int, Any]] = [{} for _ in range(job["runs"])]
        for name in stored.files:
            before, _, tensor = name.partition("_")
            runs[int(before)][int(tensor)] = stored[name]
        for number, segment in enumerate(segments):
            for run, tensors in _run(folder, number, segment, model, runs, job["lost"]):
                _replace(tensors, ours, run)
                runs[run].update({tensor: value for tensor, value in tensors.items() if tensor in read})


def _run(
    folder: Path, number: int, segment: Any, model: Path, runs: Sequence[Mapping[int, Any]], lost: Sequence[int]
) -> Iterator[tuple[int, dict[int, Any]]]:
    """Yield the tensors of each run of a segment, but of those that are lost and were not run before."""
    run_once: _RunOnce | None = None
    for run, values in enumerate(runs):
        path = answer(folder, number, run)
        if not path.exists() and run not in lost:
            if run_once is None:
                run_once = _loaded(segment, model)
                ready(folder, number).touch()
            inputs = [
                np.reshape(values[t], values[t].shape if shape is None else shape) for t, shape in segment["inputs"]
            ]
            given = {f"in_{tensor}": value for (tensor, _), value in zip(segment["inputs"], inputs, strict=True)}
            np.savez(path, allow_pickle=False, **given, **run_once(inputs))
        if path.exists():
            with np.load(path) as stored:
                yield run, {int(name): stored[name] for name in stored.files if name.isdecimal()}


def _replace(tensors: dict[int, Any], ours: Any, run: int) -> None:
    """Replace tensors by ours, which may have only some channels."""
    for tensor in tensors:
        if f"{run}_{tensor}" in ours:
            kept = ours.get(f"channels_{tensor}")
            if kept is None:
                tensors[tensor] = ours[f"{run}_{tensor}"]
            else:
                tensors[tensor][..., kept] = ours[f"{run}_{tensor}"]


def _loaded(segment: Any, model: Path) -> _RunOnce:
    package, wanted = segment["package"], segment["tensors"]
    if package == TVM:
        return _tvm(package, model, wanted)
    data = bytes.fromhex(segment["front"]) + model.read_bytes()
    return (_tflm if package == TFLM else _litert)(package, data, wanted)


def _is_accepted(data: bytes) -> bool:
    """Try in a copy of this process, for TensorFlow Lite Micro aborts on some models.

    Some it refuses only when they run; if it aborts then, it is on these inputs, which are zeros.
    """
    runtime = import_module(TFLM).runtime
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        with suppress(Exception):
            interpreter = runtime.Interpreter.from_bytes(data, arena_size=_ARENA)
            os.write(writer, b"loaded")
            interpreter.invoke()
            os._exit(0)
        os._exit(1)
    os.close(writer)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    is_loaded = bool(os.read(reader, 1))
    os.close(reader)
    return code == 0 or (code < 0 and is_loaded)


def _tflm(package: str, data: bytes, wanted: Sequence[int]) -> _RunOnce:
    """Ask for existing tensors only: the interpreter crashes on others."""
    runtime = import_module(package).runtime
    keep = runtime.InterpreterConfig.kPreserveAllTensors
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=_ARENA, intrepreter_config=keep)

    def run_once(inputs: Sequence[Any]) -> dict[str, Any]:
        for position, value in enumerate(inputs):
            interpreter.set_input(value, position)
        interpreter.invoke()
        return {str(tensor): interpreter._interpreter.GetTensor(tensor, 0)["tensor_data"] for tensor in wanted}

    return run_once


def _litert(package: str, data: bytes, wanted: Sequence[int]) -> _RunOnce:
    """Use its reference kernels, or all where these lack an operator."""
    module = import_module(
        "tensorflow.lite.python.interpreter" if package == "tensorflow" else f"{package}.interpreter"
    )
    kernels = module.OpResolverType

    def loaded(resolver: Any) -> Any:
        interpreter = module.Interpreter(
            model_content=data, experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=True
        )
        interpreter.allocate_tensors()
        return interpreter

    try:
        interpreter = loaded(kernels.BUILTIN_REF)
    except (RuntimeError, ValueError):
        interpreter = loaded(kernels.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    ports = [each["index"] for each in interpreter.get_input_details()]

    def run_once(inputs: Sequence[Any]) -> dict[str, Any]:
        for port, value in zip(ports, inputs, strict=True):
            interpreter.set_tensor(port, value)
        interpreter.invoke()
        return {str(tensor): interpreter.get_tensor(tensor) for tensor in wanted}

    return run_once


def _tvm(package: str, file: Path, wanted: Sequence[int]) -> _RunOnce:
    """Compile the module for this machine by TVM's own road, and run it in its VM; `wanted` are all outputs."""
    from usmp_build.importers.tvm.worker import without_torch

    without_torch()
    from usmp_build.importers.tvm.front_ends import relax_module

    tvm = import_module(package)
    data = file.read_bytes() if file.suffix == ".onnx" else _in_one_memory(file.read_bytes())
    module, _ = relax_module(data, "".join(file.suffixes))
    devices = [tvm.cpu()] * max(1, len(module.global_infos.get("vdevice", ())))
    machine = tvm.relax.VirtualMachine(tvm.compile(module, target="llvm"), devices)

    def flat(result: Any) -> list[Any]:
        return [result.numpy()] if hasattr(result, "numpy") else [leaf for each in result for leaf in flat(each)]

    def run_once(inputs: Sequence[Any]) -> dict[str, Any]:
        results = flat(machine["main"](*(tvm.runtime.tensor(value) for value in inputs)))
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
    _main(Path(sys.argv[1]))
