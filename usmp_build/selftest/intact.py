"""Checks data that outlive runs in records of the self-test: inputs at the start of runs, and what must stay intact."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.pipeline import Planned
from usmp_build.selftest.between import is_late
from usmp_build.selftest.harness import Mark, Run
from usmp_build.selftest.inputs import Sample


def inputs_at_start(planned: Planned, model: int, samples: list[Sample], runs: list[Run]) -> list[Sample]:
    """Return the inputs at the start of each run of a model: what other models wrote, and for the rest the samples."""
    inputs = planned.analysis.models[model].main.inputs
    result = []
    for sample, run in zip(samples, runs, strict=True):
        connected = {record.tensor: record.data for record in run if record.step == Mark.CONNECTED}
        result.append(
            tuple(
                np.frombuffer(connected[tensor], array.dtype).reshape(array.shape) if tensor in connected else array
                for tensor, array in zip(inputs, sample, strict=True)
            )
        )
    return result


def check_intact(planned: Planned, start_inputs: list[list[Sample]], results: list[list[Run]]) -> None:
    """Check that what must outlive runs is unchanged; `start_inputs` are the inputs of each run of each model.

    Raises CheckFailed.
    """
    for model, (samples, runs) in enumerate(zip(start_inputs, results, strict=True)):
        inputs = planned.analysis.models[model].main.inputs
        for number, (sample, run) in enumerate(zip(samples, runs, strict=True)):
            after_run = dict(_outputs(run)) | dict(zip(inputs, (array.tobytes() for array in sample), strict=True))
            before = dict(_outputs(runs[number - 1])) if number else {}
            by_mark = {Mark.AFTER: after_run, Mark.FILLED: before}
            for record in run:
                expected = by_mark.get(Mark(record.step), {}) if record.step < 0 else {}
                if record.data != expected.get(record.tensor, record.data):
                    raise _changed(planned, model, number, record.tensor)
    _check_connections(planned, results)


def _check_connections(planned: Planned, results: list[list[Run]]) -> None:
    """What a consumer finds is what its producer wrote last: in this round, or in the one before."""
    for connection in planned.analysis.connections:
        producer, consumer = connection.producer.model, connection.consumer.model
        late = is_late(planned, connection)
        for number in range(late, len(results[consumer])):
            written = dict(_outputs(results[producer][number - late]))[connection.output.tensor]
            inputs = {
                record.tensor: record.data for record in results[consumer][number] if record.step == Mark.CONNECTED
            }
            if inputs[connection.consumer.tensor] != written:
                raise _changed(planned, consumer, number, connection.consumer.tensor)


def _outputs(run: Run) -> Iterator[tuple[int, bytes]]:
    return ((record.tensor, record.data) for record in run if record.step == Mark.OUTPUT)


def _changed(planned: Planned, model: int, run: int, tensor: int) -> CheckFailed:
    name, path = planned.request.models[model].name, planned.request.models[model].path
    label = f'{tensor} "{planned.analysis.models[model].main.tensors[tensor].name}"'
    message = f'model "{name}", run {run}: tensor {label} must stay intact between runs, but changed'
    help_ = "report it, unless a kernel of the application writes out of bounds"
    return CheckFailed(Diagnostic("S608", message, path, help_))
