"""Faults of the tables that rows run by: the self-test catches each, and names a row that the fault makes wrong."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.cli import call, manifest, one_model
from tests.support.row_nets import residual
from tests.support.tools import few, needs_c, needs_oracle
from usmp_build import pipeline
from usmp_build.ir.graph import TensorRef
from usmp_build.ir.schedule import Step, steps
from usmp_build.layout.code import ModelCode
from usmp_build.layout.layout import Layout
from usmp_build.layout.rows import Jobs
from usmp_build.pipeline import Planned

Fault = Callable[[Planned, ModelCode], tuple[ModelCode, set[int]]]
"""What changes the code; it also returns the buffers that are then written at the wrong place or time."""

_NAMED = re.compile(
    r"operator \d+ (?:"
    r"reads bytes that were never written: row (\d+) of tensor (\d+) depends on them"
    r"|\(\w+\), row (\d+) of tensor (\d+) .*(?:-?\d+ instead of -?\d+|it was not computed))"
)


def row_moved(planned: Planned, code: ModelCode) -> tuple[ModelCode, set[int]]:
    """A row of the second table goes where the next one does."""
    offsets = code.row_offsets[1].offsets
    at = next(i for i, pair in enumerate(pairwise(offsets)) if len({*pair}) == 2)
    rows = rows_of_second_table(planned, code)
    return with_offset(code, at, offsets[at + 1]), {rows[at], rows[at + 1]}


def row_over_a_live_one(planned: Planned, code: ModelCode) -> tuple[ModelCode, set[int]]:
    """A row of the second table goes where a row of the first one is that is read once more after it is written."""
    places, alive = planned.plan.allocations, planned.analysis.lifetimes.intervals
    first = planned.analysis.storage.span(planned.analysis.storage.tensors[tensor_of(code, 0)])
    for row, written in enumerate(rows_of_second_table(planned, code)):
        for read in first:
            (while_written,), (while_read,) = alive[written], alive[read]
            if while_read.start < while_written.start and while_written.start + 1 < while_read.stop:
                offset = places[read].offset // code.row_offsets[1].unit
                if offset != code.row_offsets[1].offsets[row]:
                    return with_offset(code, row, offset), {written, read}
    raise AssertionError


def tensor_of(code: ModelCode, table: int) -> TensorRef:
    """Return the tensor that a table is of."""
    return TensorRef(0, 0, int(code.row_offsets[table].symbol.removeprefix("net_t").removesuffix("_rows")))


def rows_of_second_table(planned: Planned, code: ModelCode) -> range:
    """Return the buffers of its rows."""
    storage = planned.analysis.storage
    return storage.span(storage.tensors[tensor_of(code, 1)])


def with_offset(code: ModelCode, row: int, offset: int) -> ModelCode:
    """Change an entry of the second table."""
    first, second, *others = code.row_offsets
    wrong = replace(second, offsets=(*second.offsets[:row], offset, *second.offsets[row + 1 :]))
    return replace(code, row_offsets=(first, wrong, *others))


def jobs_swapped(planned: Planned, code: ModelCode) -> tuple[ModelCode, set[int]]:
    """A job runs just before the one whose row it reads."""
    in_turn = jobs_of(planned)
    at = next(i for i, step in enumerate(in_turn[:-1]) if {*step.writes} & {*in_turn[i + 1].reads})
    (jobs,) = code.stretches
    first, second = jobs.operators[at : at + 2]
    wrong = replace(jobs, operators=(*jobs.operators[:at], second, first, *jobs.operators[at + 2 :]))
    return with_jobs(code, wrong), buffers(planned, in_turn[at]) | buffers(planned, in_turn[at + 1])


def job_left_out(planned: Planned, code: ModelCode) -> tuple[ModelCode, set[int]]:
    """The last row of an operator is never computed."""
    (jobs,) = code.stretches
    last = max(i for i, number in enumerate(jobs.operators) if number == 1)
    wrong = replace(jobs, operators=(*jobs.operators[:last], *jobs.operators[last + 1 :]))
    return with_jobs(code, wrong), buffers(planned, jobs_of(planned)[last])


def move_left_out(planned: Planned, code: ModelCode) -> tuple[ModelCode, set[int]]:
    """A row stays where it is, and is read where it should have gone."""
    (moves,), step = code.moves, next(step for step in jobs_of(planned) if step.move)
    (source, _, size), *others = moves.entries
    wrong = replace(moves, entries=((source, source, size), *others))
    return replace(code, moves=(wrong,)), buffers(planned, step)


def jobs_of(planned: Planned) -> list[Step]:
    """Return the steps of jobs and of moves, in their order."""
    return [step for step in steps(planned.analysis.schedule.root) if step.job is not None or step.move]


def buffers(planned: Planned, step: Step) -> set[int]:
    """Return what a step writes."""
    return {buffer for value in step.writes for buffer in planned.analysis.storage.buffers_of(value)}


def with_jobs(code: ModelCode, jobs: Jobs) -> ModelCode:
    """Change the only table of jobs."""
    return replace(code, sequence=tuple(jobs if isinstance(part, Jobs) else part for part in code.sequence))


def all_computed_from(planned: Planned, wrong: set[int]) -> set[int]:
    """Return these buffers, and all that are computed from them, or from the bytes that they now overwrite."""
    storage, reached = planned.analysis.storage, {*wrong}
    for step in jobs_of(planned):
        if any(reached.intersection(storage.buffers_of(value)) for value in step.reads):
            reached |= buffers(planned, step)
    return reached


@pytest.mark.slow
@needs_c
@needs_oracle
@pytest.mark.parametrize("fault", few([row_moved, row_over_a_live_one, jobs_swapped, job_left_out, move_left_out], 1))
def test_planted_faults_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    lay_out, reached = pipeline.lay_out, set[str]()

    def faulty(planned: Planned) -> Layout:
        layout = lay_out(planned)
        ((model, code),) = layout.models
        changed, wrong = fault(planned, code)
        names = planned.analysis.storage.buffers
        reached.update(names[buffer].name for buffer in all_computed_from(planned, wrong))
        return replace(layout, models=((model, changed),))

    monkeypatch.setattr(pipeline, "lay_out", faulty)
    (tmp_path / "net.tflite").write_bytes(residual())
    done = call(
        "selftest", manifest(tmp_path, one_model("net", path="net.tflite") + "[plan]\nrows = true\n"), "--runs", "2"
    )
    named = _NAMED.search(done.err)
    assert named, done.out + done.err
    row, tensor = filter(None, named.groups())
    assert f"net.t{tensor}[{row}]" in reached
