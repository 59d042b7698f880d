"""Puts the operators of one model in the order in which `run` calls them: single operators, and stretches of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from usmp_build.codegen.ports import Locate
from usmp_build.codegen.row_traces import row_traces
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.interfaces.row_jobs import job_count, row_call, row_of
from usmp_build.ir.graph import OperatorRef
from usmp_build.ir.schedule import Step, steps
from usmp_build.layout import Arrival, Jobs, RowStep


def arrival(analysis: Analysis, locate: Locate) -> Arrival | None:
    """Return the input of a model that arrives row by row."""
    main = analysis.models[locate.model].main
    for tensor, port in zip(main.inputs, locate.input_rows(), strict=True):
        if offsets := locate.rows_of(tensor):
            place = offsets.at(offsets.pools[0].base, "row")
            return Arrival(tensor, port.name, port.macro, port.c_type, place)
    return None


def row_steps(analysis: Analysis, locate: Locate, numbers: Mapping[OperatorRef, int]) -> tuple[RowStep, ...]:
    """Return the operators in tables of jobs; `numbers` are the indices of all operators' functions."""
    in_tables = enumerate(_in_tables(analysis, locate.model, numbers))
    return tuple(_row_step(analysis, locate, ref, number, numbers[ref]) for number, ref in in_tables)


def _in_tables(analysis: Analysis, model: int, numbers: Iterable[OperatorRef]) -> list[OperatorRef]:
    """Return the operators that run row by row; if a run may stop between any two operators for a row, all."""
    has_stops = any(step.arrival for step in steps(analysis.schedule.programs[model]))
    return [ref for ref in numbers if has_stops or analysis.choices.jobs(ref) > 1]


def _row_step(analysis: Analysis, locate: Locate, ref: OperatorRef, number: int, step: int) -> RowStep:
    if analysis.choices.jobs(ref) == 1:
        return RowStep(number, step, "", 0, ())
    kernel = analysis.kernel_of(ref)
    assert isinstance(kernel, Kernel)
    call = row_call(kernel)
    assert call is not None
    last = job_count(call) - 1
    row = f"{last} - job" if row_of(call, 0) else "job"
    traces = tuple(row_traces(analysis, ref, locate, call, row))
    outputs = analysis.models[ref.model].main.outputs
    leaving = tuple(each for each in traces if each.tensor in outputs and locate.rows_of(each.tensor))
    return RowStep(number, step, row, last, traces, leaving)


def sequence(analysis: Analysis, index: int, numbers: Mapping[OperatorRef, int]) -> tuple[int | Jobs, ...]:
    """Return the indices of functions that run a whole operator, and stretches of jobs between them."""
    name = analysis.models[index].name
    by_rows = {ref: slot for slot, ref in enumerate(_in_tables(analysis, index, numbers))}
    program = [*steps(analysis.schedule.programs[index])]
    if any(step.arrival for step in program):
        running = [step for step in program if step.arrival or step.operator is not None]
        return (Jobs(f"{name}_jobs", tuple(len(by_rows) if s.arrival else by_rows[_operator(s)] for s in running)),)
    running = [step for step in program if step.operator in numbers]
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
