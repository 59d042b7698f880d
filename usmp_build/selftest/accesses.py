"""Measures when operators touch the bytes of their buffers, and so how close these may come, by running the real C.

Everything is planned once more without overlap, compiled so that every access is traced, and run.  For each byte of a
buffer the program then shows when it was first written and last read.  The distances that follow are independent of
those that the planner computed from access declarations.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from usmp_build import pipeline
from usmp_build.errors import CheckFailed, Diagnostic
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, Rows
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import RowRef, Step, Value, steps
from usmp_build.ir.separations import Separations
from usmp_build.ir.storage import Kind
from usmp_build.output import writer
from usmp_build.passes.separations import separations_at
from usmp_build.pipeline import Planned
from usmp_build.planner import by_name
from usmp_build.report.summarize import summarize
from usmp_build.search.finalize import finalize
from usmp_build.search.limits import Fitted
from usmp_build.search.operator_order import BestCandidate
from usmp_build.selftest.harness import Mark, build_traced, harness, run_all
from usmp_build.selftest.inputs import samples

Times = NDArray[np.int64]
"""For each byte of a buffer: first write, last write, last read; 0 where there is none."""

_ANY = 1 << 40
"""More bytes than any buffer has: minus that is the distance of buffers that may be anywhere."""

_NOTED = 5
"""Most pairs listed in a note."""


@frozen
class ComparedPair:
    """Two buffers that one operator, or a row of it, touches."""

    step: Step
    below: int
    above: int
    planned: int
    """Least distance from the start of the lower one to that of the upper one, in bytes, as the plan has it."""
    traced: int
    """The same, as the traced accesses require."""
    declared: int | None
    """The same, as the operator's kernel declares, even if other constraints keep the two apart; None: undeclared."""


def check_accesses(planned: Planned, parsed: argparse.Namespace) -> Iterator[str]:
    """Trace every operator once, or rows of each kind of it.

    Yield how many pairs may come closer, and which could come closer than declared.  Raises CheckFailed for the first
    that came closer in the plan than the accesses allow.
    """
    pairs = compared(planned, parsed.cc, parsed.source, parsed.seed, parsed.keep)
    for each in pairs:
        if each.traced > each.planned:
            raise CheckFailed(_report(planned, each))
    count = len(planned.analysis.separations.pairs.keys() & {(each.below, each.above) for each in pairs})
    counted = "1 pair" if count == 1 else f"{count} pairs"
    yield f"{counted} of buffers may lie closer than they are long, and no access contradicts that"
    careful = [each for each in pairs if each.declared is not None and each.declared > each.traced]
    if careful:
        yield f"note: {len(careful)} could lie closer than their kernels declare; plans are right, but may be larger:"
        yield from (_note(planned, each) for each in careful[:_NOTED])
        yield from ["  ..."] * (len(careful) > _NOTED)


def compared(
    planned: Planned, compiler: str = "", sources: Sequence[str] = (), seed: int = 1, keep: str | None = None
) -> list[ComparedPair]:
    """Return the distances by plan and by traced accesses of all pairs that an operator writes and reads."""
    apart = _apart(planned)
    layout = pipeline.lay_out(apart)
    touched = list(_touched(apart))
    if not touched:
        return []
    rows = [_row(apart, at, buffer) for at, buffer in touched]
    inputs = [samples(model, 1, seed) for model in apart.analysis.models]
    with tempfile.TemporaryDirectory(prefix="usmp-selftest-") as scratch:
        folder = Path(keep or scratch)
        writer.write(pipeline.emit(layout), folder)
        writer.write(harness(apart, layout, rows), folder)
        program = build_traced(folder, layout, compiler, sources)
        results = run_all(program, apart, inputs, garbage=0, period=1)
    times: dict[int, dict[int, Times]] = {}
    for record in (record for runs in results for run in runs for record in run if record.step == Mark.ACCESSES):
        at, buffer = touched[record.tensor]
        times.setdefault(at, {})[buffer] = np.frombuffer(record.data, "<u4").astype(np.int64).reshape(-1, 3)
    traced = dict(_steps(planned.analysis))
    return [each for at, touches in times.items() for each in _compare(planned, traced[at], touches)]


def _apart(planned: Planned) -> Planned:
    """Return the same plan without any overlap, in pools as large as needed."""
    request = replace(planned.request, pools=tuple(replace(p, limit=None, origin=None) for p in planned.request.pools))
    pools = tuple(replace(pool, limit=None) for pool in planned.analysis.problem.pools)
    problem = replace(planned.analysis.problem, pools=pools, separations={})
    analysis = replace(planned.analysis, separations=Separations(), problem=problem)
    apart = by_name.algorithm("greedy_by_size", {}, "")(problem)
    assert apart is not None  # no pool has a limit
    chosen = BestCandidate(analysis, apart, bound=0)
    plan = finalize(request, analysis, apart)
    replanner = planned.replanner.asking(request)
    return Planned(replanner, Fitted(chosen, None), plan, summarize(request, chosen, plan))


def _steps(analysis: Analysis) -> Iterator[tuple[int, Step]]:
    """Yield the steps that are traced, each with its position on the timeline.

    Of an operator that runs row by row these are the first job, the last, and one for each set of rows under the window
    that are inside the image.
    """
    seen: set[tuple[OperatorRef, Hashable]] = set()
    for program, start in zip(analysis.schedule.programs, analysis.schedule.starts, strict=False):
        for at, step in enumerate(steps(program), start):
            if step.operator is not None:
                key = step.operator, at if step.job is None else _kind(analysis, step)
                if key not in seen:
                    seen.add(key)
                    yield at, step


def _kind(analysis: Analysis, step: Step) -> tuple[tuple[int, ...], bool, bool]:
    """Return the rows under the window that a job reads, and whether it is the first or the last one."""
    assert step.operator is not None
    assert step.job is not None
    kernel = analysis.kernel_of(step.operator)
    assert isinstance(kernel, Kernel)
    jobs = row_jobs(kernel)
    assert jobs is not None
    form, taps = jobs.calls[0].form, tuple[int, ...]()
    if isinstance(form, Rows):
        begin = form.first_row(jobs.row_of(step.job))
        taps = tuple(k for k in range(form.window) if 0 <= begin + k * form.dilation < form.input_rows)
    return taps, step.job == 0, step.job == jobs.count - 1


def _touched(planned: Planned) -> Iterator[tuple[int, int]]:
    """Yield the buffers in workspace that each traced step touches; rows in pages are left out."""
    analysis, storage = planned.analysis, planned.analysis.storage
    in_pages = {row for tensor in analysis.axes for row in storage.buffers_of(tensor)}
    for at, step in _steps(analysis):
        values: list[Value] = [*step.values, *step.scratch]
        for buffer in dict.fromkeys(chain.from_iterable(map(storage.buffers_of, values))):
            if storage.buffers[buffer].kind is not Kind.CONSTANT and buffer not in in_pages:
                yield at, buffer


def _row(planned: Planned, at: int, buffer: int) -> dict[str, int | str]:
    """Return the location of a buffer for the program, and the step after which it is shown."""
    pool, offset = planned.plan.allocations[buffer]
    return {
        "time": at,
        "pool": planned.request.pools[pool].name,
        "offset": offset,
        "size": planned.analysis.storage.buffers[buffer].size,
    }


def _compare(planned: Planned, step: Step, times: dict[int, Times]) -> Iterator[ComparedPair]:
    """Compare outputs with inputs and scratch, and scratch with inputs."""
    storage, problem = planned.analysis.storage, planned.analysis.problem
    declared = _declared(planned, step)
    inputs, outputs, scratch = (
        dict.fromkeys(buffer for buffer in chain.from_iterable(map(storage.buffers_of, values)) if buffer in times)
        for values in (step.reads, (*step.writes, *step.updates), step.scratch)
    )
    pairs = [(w, r) for w in outputs for r in (*inputs, *scratch)] + [(w, r) for w in scratch for r in inputs]
    for written, read in pairs:
        if written == read:
            continue
        by_trace = _traced(times[written], times[read], is_scratch=read in scratch)
        by_kernel = declared.get((written, read), (None, None))
        sides = zip(((written, read), (read, written)), by_trace, by_kernel, strict=True)
        for (low, high), traced, distance in sides:
            lowest = -storage.buffers[high].extent
            yield ComparedPair(step, low, high, problem.separation(low, high), max(traced, lowest), distance)


def _declared(planned: Planned, step: Step) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the distances that a kernel declares, of (written, read) buffers: the read one above, and below.

    Of a tensor in one piece, those of the rows that a job touches.
    """
    allowed = planned.analysis.allowed
    declared = dict(separations_at(allowed, step))
    for written, read, distance in allowed.of_rows(step):
        (low, start), (high, other) = _place(planned.analysis, written), _place(planned.analysis, read)
        if low in allowed.edges() or high in allowed.edges():
            above, below = declared.get((low, high), (-_ANY, -_ANY))
            above = max(above, -_ANY if distance.written_below is None else distance.written_below + start - other)
            below = max(below, -_ANY if distance.written_above is None else distance.written_above + other - start)
            declared[low, high] = above, below
    return declared


def _place(analysis: Analysis, row: RowRef) -> tuple[int, int]:
    """Return the buffer of a row, and where it begins there."""
    storage, buffer = analysis.storage, analysis.storage.buffers_of(row).start
    return buffer, storage.buffers[buffer].size // storage.edges[buffer] * row.row if buffer in storage.edges else 0


def _name(planned: Planned, step: Step) -> str:
    assert step.operator is not None
    return step.name.removeprefix(f"{planned.analysis.models[step.operator.model].name}: ")


def _traced(written: Times, read: Times, is_scratch: bool) -> tuple[int, int]:
    """Return the least distance from the start of the written buffer to that of the read one above it, and vice versa.

    A written byte may share an address with a read byte unless it is written before that is last read.
    """
    places = np.flatnonzero(written[:, 0])
    when = written[places, 0]
    until = np.maximum(read[:, 1], read[:, 2]) if is_scratch else read[:, 2]
    order = np.argsort(-until, kind="stable")
    later = np.searchsorted(-until[order], -when, side="left")  # per written byte: the number of bytes read after it
    places, later = places[later > 0], later[later > 0]
    if not places.size:
        return -_ANY, -_ANY
    lowest, highest = np.minimum.accumulate(order)[later - 1], np.maximum.accumulate(order)[later - 1]
    return int((places + 1 - lowest).max()), int((highest + 1 - places).max())


def _note(planned: Planned, each: ComparedPair) -> str:
    low, high = (planned.analysis.storage.buffers[buffer].name for buffer in (each.below, each.above))
    return (
        f"  {_name(planned, each.step)}: {high} at least {each.declared:,} bytes after the start of {low}, "
        f"where {each.traced:,} would do"
    )


def _report(planned: Planned, each: ComparedPair) -> Diagnostic:
    low, high = (planned.analysis.storage.buffers[buffer].name for buffer in (each.below, each.above))
    message = f"{_name(planned, each.step)} touches bytes in a different order than its kernel declares: "
    message += f'"{high}" must start at least {each.traced:,} bytes after the start of "{low}", and the plan relies on '
    message += f"{each.planned:,}"
    assert each.step.operator is not None
    path = planned.request.models[each.step.operator.model].path
    help_ = "correct what the kernel declares; until then, overlap = false in [plan] keeps all buffers apart"
    return Diagnostic("S631", message, path, help_)
