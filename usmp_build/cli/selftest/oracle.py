"""Other interpreters as oracle, in a separate process: they abort on models and inputs that they do not support.

That is TensorFlow Lite Micro; for a model that it refuses LiteRT, if any package that has it is installed; and for
a model that TVM imported, TVM.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.cli import oracle_process
from usmp_build.cli.oracle_process import LITERT, TFLM, TVM
from usmp_build.cli.selftest.inputs import Sample
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.importers.tflite import read_tflite, resizes
from usmp_build.ir.graph import DType
from usmp_build.processes import Unfinished, run_module
from usmp_build.request import ModelRequest

Answer: TypeAlias = "dict[int, NDArray[Any]] | None"
"""Tensors of a run by index; None: no answer."""


@dataclass(frozen=True)
class Answers:
    """What an interpreter computes."""

    runs: list[Answer]
    aborted: list[int]
    """The runs on whose inputs it aborts."""
    by: str = "TensorFlow Lite Micro"

    @property
    def is_exact(self) -> bool:
        """Whether its integers are ours, bit for bit."""
        return self.by != _LITERT

    @property
    def compared(self) -> int:
        """The number of runs with an answer."""
        return sum(answer is not None for answer in self.runs)

    @property
    def lost(self) -> int:
        """The number of runs after the last abort, which were not tried."""
        return len(self.runs) - self.compared - len(self.aborted)


MODELS = (".tflite", ".onnx", ".relax.json")
"""Ends of the names of files that an interpreter reads."""
_LITERT = "LiteRT"
_NAMES = {TFLM: "TensorFlow Lite Micro", TVM: "TVM"}
_SECONDS = 600
_ABORTS = 16
"""No runs are tried after this many aborts: each costs another process."""


def oracle_tensors(
    model: ModelRequest, data: bytes, inputs: list[Sample], tensors: list[int], has_state: bool = False
) -> Answers | None:
    """Return the values of `tensors` of the main subgraph, for each run; None without TensorFlow Lite Micro.

    A run whose inputs abort it has no answer.  Nor do the runs after it where the model `has_state`, for that is lost
    then, and the runs after the last of many aborts.  Raises CheckFailed for a model that TensorFlow Lite Micro refuses
    where LiteRT is not installed, or refuses it, too.
    """
    if not model.path.endswith(".tflite"):
        return replace(_tried(TVM, model, data, inputs, tensors, _ABORTS), by="TVM's virtual machine")
    if find_spec(TFLM) is None:
        return None
    most = 1 if has_state else _ABORTS
    try:
        if resizes(data) or _has_dynamic_lstm(data):
            raise _refusal(model, f'TensorFlow Lite Micro reads or writes beyond tensors of model "{model.name}"')
        return _tried(TFLM, model, data, inputs, tensors, most)
    except CheckFailed:
        package = next(filter(find_spec, LITERT), None)
        if package is None:
            raise
        with suppress(CheckFailed):
            return replace(_tried(package, model, data, inputs, _held(data, tensors), most), by=_LITERT)
        raise


def _has_dynamic_lstm(data: bytes) -> bool:
    """Tell whether there is an LSTM of float32 with weights of int8, which TensorFlow Lite Micro takes for floats."""
    graphs = read_tflite(data, "").subgraphs
    pairs = ((graph, op) for graph in graphs for op in graph.operators if op.kind == "UNIDIRECTIONAL_SEQUENCE_LSTM")
    return any(
        {graph.tensors[t].dtype for t in op.inputs[:3] if t is not None} == {DType.FLOAT32, DType.INT8}
        for graph, op in pairs
    )


def _held(data: bytes, tensors: list[int]) -> list[int]:
    """Return those of these tensors that LiteRT holds after a run: not what a loop returns and nothing reads."""
    graph = read_tflite(data, "").main
    returned = {tensor for op in graph.operators if op.kind in ("IF", "WHILE") for tensor in op.outputs}
    read = {*graph.outputs, *(tensor for op in graph.operators for tensor in op.inputs)}
    return [tensor for tensor in tensors if tensor in read or tensor not in returned]


def _refusal(model: ModelRequest, message: str) -> CheckFailed:
    help_ = "run it on the target; or pip install ai-edge-litert, to compare with that what only it runs"
    return CheckFailed(Diagnostic("S603", message, model.path, help_))


def _tried(
    package: str, model: ModelRequest, data: bytes, inputs: list[Sample], tensors: list[int], most_aborts: int
) -> Answers:
    with tempfile.TemporaryDirectory(prefix="usmp-oracle-") as scratch:
        folder = Path(scratch)
        (folder / _file_name(model)).write_bytes(data)
        arrays = {f"{run}_{i}": array for run, sample in enumerate(inputs) for i, array in enumerate(sample)}
        np.savez(folder / "inputs.npz", allow_pickle=False, runs=np.array(len(inputs)), **arrays)
        runs: list[Answer] = []
        aborted: list[int] = []
        while len(runs) < len(inputs) and len(aborted) < most_aborts:
            runs += _answers(package, model, folder, len(runs), tensors)
            if len(runs) < len(inputs):
                aborted.append(len(runs))
                runs.append(None)
        return Answers(runs + [None] * (len(inputs) - len(runs)), aborted)


def _file_name(model: ModelRequest) -> str:
    return "model" + next(suffix for suffix in MODELS if model.path.lower().endswith(suffix))


def _answers(package: str, model: ModelRequest, folder: Path, first: int, tensors: list[int]) -> list[Answer]:
    """Run the runs from `first` on; return the answers up to the first run that aborts."""
    files = [str(folder / name) for name in (_file_name(model), "inputs.npz", ".")]
    arguments = [package, *files, str(first), *map(str, tensors)]
    try:
        done = run_module(oracle_process.__name__, arguments, seconds=_SECONDS, memory=oracle_process.MEMORY)
    except Unfinished:
        message = f'{_NAMES.get(package, _LITERT)} did not run model "{model.name}" within {_SECONDS} seconds'
        raise CheckFailed(Diagnostic("S603", message, model.path, "ask for fewer runs: --runs 1")) from None
    if done.code and not (done.code < 0 and (folder / oracle_process.READY).exists()):
        reason = done.reason or "it aborts"
        raise _refusal(model, f'{_NAMES.get(package, _LITERT)} refuses model "{model.name}": {reason}')
    answers: list[Answer] = []
    while (path := folder / f"{first + len(answers)}.npz").exists():
        with np.load(path) as stored:
            answers.append({int(tensor): stored[tensor] for tensor in stored.files})
    return answers
