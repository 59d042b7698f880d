"""Asks other interpreters, in a process that is started again behind a run that it does not survive."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.frozen import frozen
from usmp_build.processes import Done, Unfinished, run_module
from usmp_build.request import ModelRequest
from usmp_build.selftest import oracle_process
from usmp_build.selftest.oracle_process import TFLM, TVM
from usmp_build.selftest.segments import Segment

Values = Mapping[int, NDArray[Any]]
"""Tensors by index."""
MODELS = (".tflite", ".onnx", ".relax.json")
"""Ends of the names of files that an interpreter reads."""
NAMES = {TFLM: "TensorFlow Lite Micro", TVM: "TVM's virtual machine", **dict.fromkeys(oracle_process.LITERT, "LiteRT")}
_SECONDS = 600
_ABORTS = 16
"""No runs are tried after this many aborts: each costs another process."""


@frozen
class Ours:
    """What our runs computed."""

    runs: Sequence[Values] = ()
    channels: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Tensors that lost channels, with those that are left."""


@frozen
class Question:
    """Segments of a model, and what they run on."""

    model: ModelRequest
    data: bytes
    segments: Sequence[Segment]
    runs: Sequence[Values]
    """What is known before each run: inputs, and what no segment computes."""
    ours: Ours = Ours()
    """Values of our runs: where a segment may have computed others, the next ones read ours."""
    has_state: bool = False
    """Whether nothing is known after a run that aborts."""


@frozen
class Replies:
    """What interpreters answer."""

    runs: list[list[dict[str, NDArray[Any]]] | None]
    """What each segment reads, as `in_3`, and writes, as `3`, in each run; None: no answer."""
    aborted: list[int]
    """The runs on whose inputs it aborts."""


def ask(question: Question) -> Replies:
    """Run all segments on all runs that do not abort.  Raises CheckFailed where a segment is refused."""
    with tempfile.TemporaryDirectory(prefix="usmp-oracle-") as scratch:
        folder = Path(scratch)
        _write(question, folder)
        numbers = range(len(question.runs))
        aborted: list[int] = []
        lost: set[int] = set()
        while len(aborted) < (1 if question.has_state else _ABORTS):
            _run_segments(question, folder, lost)
            dead = next(((s, run) for s, run in _missing(question, folder) if run not in lost), None)
            if dead is None:
                break
            aborted.append(dead[1])
            lost.update(range(dead[1], len(numbers)) if question.has_state else dead[1:])
        incomplete = {run for _, run in _missing(question, folder)}
        answers = [None if run in incomplete else _read(question, folder, run) for run in numbers]
        return Replies(answers, sorted(aborted))


def accepted(model: ModelRequest, data: bytes, fronts: Sequence[str]) -> list[bool]:
    """Return which segments TensorFlow Lite Micro accepts, by their fronts; it is not asked about an empty one."""
    with tempfile.TemporaryDirectory(prefix="usmp-oracle-") as scratch:
        folder = Path(scratch)
        (folder / _file_name(model)).write_bytes(data)
        done = _start(model, folder, {"trials": fronts}, NAMES[TFLM])
        if done.code:
            raise refusal(model, f"{NAMES[TFLM]} does not run here: {done.reason or 'it aborts'}")
        answers: list[bool] = json.loads((folder / oracle_process.ACCEPTED).read_bytes())
        return answers


def refusal(model: ModelRequest, message: str) -> CheckFailed:
    """Return the error that there is no oracle."""
    help_ = "run it on the target; or pip install ai-edge-litert, to compare with that what only it runs"
    return CheckFailed(Diagnostic("S603", message, model.path, help_))


def _write(question: Question, folder: Path) -> None:
    (folder / _file_name(question.model)).write_bytes(question.data)
    kept = {f"channels_{tensor}": np.array(channels) for tensor, channels in question.ours.channels.items()}
    np.savez(folder / oracle_process.MODEL_INPUTS, allow_pickle=False, **_named(question.runs))
    np.savez(folder / oracle_process.OURS, allow_pickle=False, **_named(question.ours.runs), **kept)


def _named(runs: Sequence[Values]) -> dict[str, NDArray[Any]]:
    return {f"{run}_{tensor}": array for run, values in enumerate(runs) for tensor, array in values.items()}


def _run_segments(question: Question, folder: Path, lost: set[int]) -> None:
    """Run what is missing, in a process, until that aborts on a run.  Raises CheckFailed where it fails otherwise."""
    job = {"segments": [asdict(segment) for segment in question.segments], "lost": sorted(lost)}
    name = " and ".join(dict.fromkeys(NAMES[segment.package] for segment in question.segments))
    done = _start(question.model, folder, {**job, "runs": len(question.runs)}, name)
    if not done.code:
        return
    number = next(segment for segment, run in _missing(question, folder) if run not in lost)
    if not (done.code < 0 and oracle_process.ready(folder, number).exists()):
        segment = question.segments[number]
        which = f"{segment.label}: " if segment.front else ""
        who = f'{NAMES[segment.package]} refuses model "{question.model.name}"'
        raise refusal(question.model, f"{who}: {which}{done.reason or 'it aborts'}")


def _start(model: ModelRequest, folder: Path, job: Mapping[str, object], name: str) -> Done:
    """Run the process; `name` is what to call it.  Raises CheckFailed where that takes too long."""
    (folder / oracle_process.JOB).write_text(json.dumps({"model": _file_name(model), **job}), encoding="utf-8")
    try:
        return run_module(oracle_process.__name__, [str(folder)], seconds=_SECONDS, memory=oracle_process.MEMORY)
    except Unfinished:
        message = f'{name} did not run model "{model.name}" within {_SECONDS} seconds'
        raise CheckFailed(Diagnostic("S603", message, model.path, "ask for fewer runs: --runs 1")) from None


def _missing(question: Question, folder: Path) -> Iterator[tuple[int, int]]:
    """Yield segments and runs without an answer, in the order in which they run."""
    for segment, _ in enumerate(question.segments):
        for run, _ in enumerate(question.runs):
            if not oracle_process.answer(folder, segment, run).exists():
                yield segment, run


def _read(question: Question, folder: Path, run: int) -> list[dict[str, NDArray[Any]]]:
    answers = []
    for segment, _ in enumerate(question.segments):
        with np.load(oracle_process.answer(folder, segment, run)) as stored:
            answers.append({name: stored[name] for name in stored.files})
    return answers


def _file_name(model: ModelRequest) -> str:
    return "model" + next(suffix for suffix in MODELS if model.path.lower().endswith(suffix))
