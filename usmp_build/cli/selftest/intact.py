"""What outlived runs, as the program of the self-test showed it: what models began with, and what must be intact."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from usmp_build.cli.selftest.between import is_late
from usmp_build.cli.selftest.harness import Mark, Run
from usmp_build.cli.selftest.inputs import Sample
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.pipeline import Planned


def as_found(planned: Planned, model: int, samples: list[Sample], runs: list[Run]) -> list[Sample]:
    """Return what the runs of a model began with: what other models wrote to its inputs, and the samples."""
    inputs = planned.analysis.models[model].main.inputs
    result = []
    for sample, run in zip(samples, runs, strict=True):
        found = {record.tensor: record.data for record in run if record.step == Mark.FOUND}
        result.append(
            tuple(
                np.frombuffer(found[tensor], array.dtype).reshape(array.shape) if tensor in found else array
                for tensor, array in zip(inputs, sample, strict=True)
            )
        )
    return result


def check_intact(planned: Planned, given: list[list[Sample]], results: list[list[Run]]) -> None:
    """Compare what must outlive runs with what it was; `given` are the inputs of each run of each model.

    Raises CheckFailed.
    """
    for model, (samples, runs) in enumerate(zip(given, results, strict=True)):
        inputs = planned.analysis.models[model].main.inputs
        for number, (sample, run) in enumerate(zip(samples, runs, strict=True)):
            was = dict(_outputs(run)) | dict(zip(inputs, (array.tobytes() for array in sample), strict=True))
            before = dict(_outputs(runs[number - 1])) if number else {}
            for record in run:
                known = {Mark.AFTER: was, Mark.FILLED: before}.get(Mark(record.step), {}) if record.step < 0 else {}
                if record.data != known.get(record.tensor, record.data):
                    raise _changed(planned, model, number, record.tensor)
    _check_connections(planned, results)


def _check_connections(planned: Planned, results: list[list[Run]]) -> None:
    """What a consumer finds is what its producer wrote last: in this round, or in the one before."""
    for connection in planned.analysis.connections:
        producer, consumer = connection.producer.model, connection.consumer.model
        late = is_late(planned, connection)
        for number in range(late, len(results[consumer])):
            written = dict(_outputs(results[producer][number - late]))[connection.output.tensor]
            found = {record.tensor: record.data for record in results[consumer][number] if record.step == Mark.FOUND}
            if found[connection.consumer.tensor] != written:
                raise _changed(planned, consumer, number, connection.consumer.tensor)


def _outputs(run: Run) -> Iterator[tuple[int, bytes]]:
    return ((record.tensor, record.data) for record in run if record.step == Mark.OUTPUT)


def _changed(planned: Planned, model: int, run: int, tensor: int) -> CheckFailed:
    asked, shown = planned.request.models[model], planned.analysis.models[model].main.tensors[tensor].name
    message = f'model "{asked.name}", run {run}: tensor {tensor} "{shown}" must stay intact between runs, but changed'
    help_ = "report it, unless a kernel of the application writes out of bounds"
    return CheckFailed(Diagnostic("S608", message, asked.path, help_))
