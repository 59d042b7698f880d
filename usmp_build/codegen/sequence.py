"""Puts the operators of one model in the order in which `run` calls them: single operators, and stretches of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from usmp_build.codegen.ports import Locate
from usmp_build.codegen.row_traces import row_traces
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.interfaces.row_jobs import job_count, row_call, row_of
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Step, steps
from usmp_build.layout import Jobs, RowStep


def row_steps(analysis: Analysis, locate: Locate, numbers: Mapping[OperatorRef, int]) -> tuple[RowStep, ...]:
    """Return the operators that run row by row; `numbers` are the indices of all operators' functions."""
    by_rows = ((ref, step) for ref, step in numbers.items() if analysis.choices.jobs(ref) > 1)
    return tuple(_row_step(analysis, locate, ref, number, step) for number, (ref, step) in enumerate(by_rows))


def _row_step(analysis: Analysis, locate: Locate, ref: OperatorRef, number: int, step: int) -> RowStep:
    kernel = analysis.kernel_of(ref)
    assert isinstance(kernel, Kernel)
    call = row_call(kernel)
    assert call is not None
    last = job_count(call) - 1
    row = f"{last} - job" if row_of(call, 0) else "job"
    return RowStep(number, step, row, last, tuple(row_traces(analysis, ref, locate, call, row)))


def sequence(analysis: Analysis, index: int, numbers: Mapping[OperatorRef, int]) -> tuple[int | Jobs, ...]:
    """Return the indices of functions that run a whole operator, and stretches of jobs between them."""
    name = analysis.models[index].name
    by_rows = {ref: slot for slot, ref in enumerate(ref for ref in numbers if analysis.choices.jobs(ref) > 1)}
    running = [step for step in steps(analysis.schedule.programs[index]) if step.operator in numbers]
    stretches = [(is_whole, list(group)) for is_whole, group in groupby(running, key=lambda step: step.job is None)]
    has_several = sum(not is_whole for is_whole, _ in stretches) > 1
    parts: list[int | Jobs] = []
    for count, (is_whole, group) in enumerate(stretches):
        if is_whole:
            parts += [numbers[_operator(step)] for step in group]
        else:
            suffix = f"_{count // 2}" if has_several else ""
            numbered = tuple(step.job or 0 for step in group) if index in analysis.choices.recomputed else ()
            operators = tuple(by_rows[_operator(step)] for step in group)
            parts.append(Jobs(f"{name}_jobs{suffix}", operators, numbered))
    return tuple(parts)


def _operator(step: Step) -> OperatorRef:
    assert step.operator is not None
    return step.operator
