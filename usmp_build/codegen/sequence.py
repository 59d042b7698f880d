"""Orders the operators of one model as `run` calls them: alone, in stretches of jobs, or in control flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TypeAlias

from usmp_build.codegen.ports import Locate
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, Output
from usmp_build.interfaces.row_jobs import RowJobs, row_jobs
from usmp_build.ir.graph import Operator, OperatorRef, operator_at
from usmp_build.ir.schedule import RowRef, Step, steps
from usmp_build.layout.code import FlowLine
from usmp_build.layout.rows import Arrival, Jobs, RowStep, RowTrace

SlotOf: TypeAlias = Callable[[tuple[RowRef, RowRef]], int]
"""Given the places between which a row moves, what stands for that in tables of jobs."""


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
    jobs = row_jobs(kernel)
    assert jobs is not None
    last = jobs.count - 1
    row = f"{last} - job" if jobs.row_of(0) else "job"
    traces = tuple(row_traces(analysis, ref, locate, jobs, row))
    outputs = analysis.models[ref.model].main.outputs
    leaving = tuple(each for each in traces if each.tensor in outputs and locate.rows_of(each.tensor))
    return RowStep(number, step, row, last, traces, leaving)


def sequence(
    analysis: Analysis,
    index: int,
    numbers: Mapping[OperatorRef, int],
    flows: Mapping[int, tuple[FlowLine, ...]],
    slot_of: SlotOf,
) -> tuple[int | Jobs | tuple[FlowLine, ...], ...]:
    """Return the indices of functions that run a whole operator, stretches of jobs between them, and control flow.

    `flows` has the lines of the operators of main that call subgraphs, and `slot_of` says what stands for the move of a
    row.
    """
    name = analysis.models[index].name
    by_rows = {ref: slot for slot, ref in enumerate(_in_tables(analysis, index, numbers))}
    program = [*steps(analysis.schedule.programs[index])]
    if any(step.arrival for step in program):
        return (_with_arrivals(f"{name}_jobs", program, by_rows, slot_of),)
    running = list(_running(analysis, index, flows))
    stretches = [(is_by_rows, list(group)) for is_by_rows, group in groupby(running, key=_is_job)]
    has_several = sum(is_by_rows for is_by_rows, _ in stretches) > 1
    parts: list[int | Jobs | tuple[FlowLine, ...]] = []
    for count, (is_by_rows, group) in enumerate(stretches):
        if not is_by_rows:
            parts += [numbers[_operator(each)] if isinstance(each, Step) else each for each in group]
        else:
            suffix = f"_{count // 2}" if has_several else ""
            jobs = [each for each in group if isinstance(each, Step)]
            parts.append(Jobs(f"{name}_jobs{suffix}", tuple(_slot(step, by_rows, slot_of) for step in jobs)))
    return tuple(parts)


def _with_arrivals(symbol: str, program: Iterable[Step], slots: Mapping[OperatorRef, int], slot_of: SlotOf) -> Jobs:
    """Return all jobs of a model whose input arrives row by row: an arrival has the slot behind the operators."""
    jobs = [step for step in program if step.arrival or step.move or step.operator is not None]
    return Jobs(symbol, tuple(len(slots) if step.arrival else _slot(step, slots, slot_of) for step in jobs))


def _slot(step: Step, slots: Mapping[OperatorRef, int], slot_of: SlotOf) -> int:
    return slot_of(step.move) if step.move else slots[_operator(step)]


def _running(
    analysis: Analysis, index: int, flows: Mapping[int, tuple[FlowLine, ...]]
) -> Iterator[Step | tuple[FlowLine, ...]]:
    """Yield the steps of operators of main, and control flow, in order; statements have no steps of their own."""
    _, *nodes, _ = analysis.schedule.programs[index].body
    for operator, node in zip(analysis.choices.order(index, analysis.models[index]), nodes, strict=False):
        if operator in flows:
            yield flows[operator]
        else:
            yield from (step for step in steps(node) if step.operator is not None or step.move)


def _is_job(part: Step | tuple[FlowLine, ...]) -> bool:
    return isinstance(part, Step) and (part.job is not None or part.move is not None)


def _operator(step: Step) -> OperatorRef:
    assert step.operator is not None
    return step.operator


def outputs_by_rows(kernel: Kernel, op: Operator) -> tuple[int, ...]:
    """Return the outputs that an operator that runs row by row completes row by row: not those of a reduction."""
    jobs = row_jobs(kernel)
    shapes = jobs.shapes if jobs is not None else {}
    return tuple(tensor for position, tensor in enumerate(op.outputs) if Output(position) in shapes)


def row_traces(analysis: Analysis, ref: OperatorRef, locate: Locate, jobs: RowJobs, row: str) -> Iterator[RowTrace]:
    """Yield row number `row`, as C, of each output: that of a reduction has 0 bytes."""
    op, shapes = operator_at(analysis.models, ref), jobs.shapes
    for position, tensor in enumerate(op.outputs):
        dtype = analysis.models[ref.model].main.tensors[tensor].dtype
        if Output(position) not in shapes:
            yield RowTrace(op.position, tensor, "NULL", 0)
            continue
        elements = shapes[Output(position)][1]
        offsets, base = locate.rows_of(tensor), locate.expression(tensor)
        at = offsets.at(base, row) if offsets else f"{base} + ({row}) * {elements}"
        yield RowTrace(op.position, tensor, at, elements * dtype.bits // 8)
