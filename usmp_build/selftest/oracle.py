"""Other interpreters as oracle, in a separate process: they abort on models and inputs that they do not support.

That is TensorFlow Lite Micro; for operators that it refuses LiteRT, if any package that has it is installed; and for
a model that TVM imported, TVM.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.errors import CheckFailed
from usmp_build.frozen import frozen
from usmp_build.request import ModelRequest
from usmp_build.selftest.asking import NAMES, Ours, Question, Values, accepted, ask, refusal
from usmp_build.selftest.inputs import Sample
from usmp_build.selftest.oracle_process import LITERT, TFLM, TVM
from usmp_build.selftest.segments import File, Segment
from usmp_build.selftest.undefined import shifted_too_far
from usmp_build.tflm.metadata import fixed

Answer: TypeAlias = "dict[int, NDArray[Any]] | None"
"""Tensors of a run by index, masked where they are undefined; None: no answer."""


@frozen
class Answers:
    """What interpreters compute."""

    runs: list[Answer]
    aborted: list[int]
    """The runs on whose inputs it aborts."""
    by: str = NAMES[TFLM]
    """Whose tensors they are, for messages."""
    aborts: str = NAMES[TFLM]
    """Who aborts, for messages."""
    inexact: frozenset[int] = frozenset()
    """Tensors whose integers need not be ours, bit for bit: LiteRT's."""

    @property
    def compared(self) -> int:
        """The number of runs with an answer."""
        return sum(answer is not None for answer in self.runs)

    @property
    def untried(self) -> int:
        """The number of runs after the last abort, which were not tried."""
        return len(self.runs) - self.compared - len(self.aborted)


_NO_OURS = Ours()
_NOTHING: Values = {}


def oracle_tensors(
    model: ModelRequest,
    data: bytes,
    inputs: list[Sample],
    tensors: list[int],
    has_state: bool = False,
    ours: Ours = _NO_OURS,
) -> Answers | None:
    """Return the values of `tensors` of the main subgraph, for each run; None without TensorFlow Lite Micro.

    A run whose inputs abort it has no answer.  Nor do the runs after it where the model `has_state`, for that is lost
    then, and the runs after the last of many aborts.  Raises CheckFailed for a model with operators that TensorFlow
    Lite Micro refuses where LiteRT is not installed, or refuses them, too.
    """
    if not model.path.lower().endswith(".tflite"):
        runs = [dict(enumerate(sample)) for sample in inputs]
        segment = Segment(TVM, (), [(position, None) for position in runs[0]], tensors)
        return replace(_whole(Question(model, data, [segment], runs), tensors), by=NAMES[TVM], aborts=NAMES[TVM])
    if find_spec(TFLM) is None:
        return None
    file = File(data)
    runs = [dict(zip(file.main.inputs, sample, strict=True)) for sample in inputs]
    whole = Segment(TFLM, (), [(tensor, None) for tensor in file.main.inputs], tensors)
    refused = None
    if file.is_defined and not file.is_misread:
        try:
            return _whole(Question(model, data, [whole], runs, has_state=has_state), tensors)
        except CheckFailed as error:
            refused = error
    return _by_segments(file, Question(model, data, [], runs, ours, has_state), tensors, refused)


def _whole(question: Question, tensors: Sequence[int]) -> Answers:
    replies = ask(question)
    runs = [None if run is None else {t: run[0][str(t)] for t in tensors} for run in replies.runs]
    return Answers(runs, replies.aborted)


def _by_segments(file: File, question: Question, tensors: Sequence[int], refused: CheckFailed | None) -> Answers:
    """Ask TensorFlow Lite Micro about all operators that it accepts, and LiteRT, if it is there, about the others."""
    if reason := fixed(question.data):
        raise refused or refusal(question.model, f'model "{question.model.name}" cannot be cut into segments: {reason}')
    accepts = accepted(question.model, question.data, file.trials())
    other = next(filter(find_spec, LITERT), "")
    if not other and not all(accepts):
        unit = file.units[accepts.index(False)]
        message = f'{NAMES[TFLM]} does not run {file.label(unit)} of model "{question.model.name}"'
        raise refused or refusal(question.model, message)
    segments = file.segments(accepts, other, tensors)
    ours = _replacing(file, segments, question.ours)
    runs = _filled(file, question)
    replies = ask(replace(question, segments=segments, runs=runs, ours=ours))
    answers = [
        None if run is None else _merged(file, segments, run, known, tensors)
        for run, known in zip(replies.runs, runs, strict=True)
    ]
    inexact = [segment for segment in segments if segment.package != TFLM]
    aborts = " or ".join(dict.fromkeys(NAMES[segment.package] for segment in segments))
    by = aborts if inexact and inexact == segments else _named(file, inexact)
    return Answers(
        answers, replies.aborted, by, aborts, frozenset(tensor for segment in inexact for tensor in segment.tensors)
    )


def _filled(file: File, question: Question) -> list[Values]:
    """Return the inputs of all runs, with our values of what the models leave undefined."""
    ours = question.ours.runs or [_NOTHING] * len(question.runs)
    return [{**run, **_undefined(file, each)} for run, each in zip(question.runs, ours, strict=True)]


def _replacing(file: File, segments: Sequence[Segment], ours: Ours) -> Ours:
    """Return of our values those that take the place of others' where these may differ."""
    replaced = {tensor for segment in segments if file.may_differ(segment) for tensor in segment.tensors}
    runs = [{tensor: value for tensor, value in run.items() if tensor in replaced} for run in ours.runs]
    return replace(ours, runs=runs)


def _named(file: File, inexact: Sequence[Segment]) -> str:
    """Return who answered, where TensorFlow Lite Micro left at most some segments to LiteRT."""
    kinds = {file.main.operators[index].kind for segment in inexact for index in segment.operators}
    return f"{NAMES[TFLM]}, and of LiteRT for {', '.join(sorted(kinds))}" if kinds else NAMES[TFLM]


def _undefined(file: File, mine: Values) -> Values:
    """Return what segments go on with in place of what is not defined: ours, or zeros where there is none."""
    both = ((tensor, zeros, mine.get(tensor, zeros)) for tensor, zeros in file.undefined.items())
    return {tensor: value if value.shape == zeros.shape else zeros for tensor, zeros, value in both}


def _merged(
    file: File,
    segments: Sequence[Segment],
    run: Sequence[Mapping[str, NDArray[Any]]],
    known: Values,
    wanted: Collection[int],
) -> dict[int, NDArray[Any]]:
    """Return the tensors of a run that are wanted, or that are masked, as they are undefined."""
    constants = {
        t: each.as_array() for t, each in enumerate(file.main.tensors) if each.is_constant and each.dtype.numpy
    }
    merged = {**constants, **known}
    for segment, stored in zip(segments, run, strict=True):
        given = {tensor: stored[f"in_{tensor}"] for tensor, _ in segment.inputs}
        values = {tensor: stored[str(tensor)] for tensor in segment.tensors}
        for op in file.may_shift_too_far(segment.operators):
            operands = [(constants | given | values)[tensor] for tensor in op.inputs if tensor is not None]
            is_undefined = shifted_too_far(op, file.main, operands)
            values[op.outputs[0]] = np.ma.array(values[op.outputs[0]], mask=is_undefined)
        merged |= values
    merged |= {tensor: np.ma.array(value, mask=True) for tensor, value in file.undefined.items()}
    return {tensor: value for tensor, value in merged.items() if tensor in wanted or np.ma.is_masked(value)}
