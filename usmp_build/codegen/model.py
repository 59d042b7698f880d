"""Decides on the C of one model: ports, pointers, steps, or the functions of a program, and checks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from math import gcd

from usmp_build.codegen.body import Body
from usmp_build.codegen.buffers import buffer_codes, first_tensors, name_within, table_checks, tables_of
from usmp_build.codegen.flow import Flow, pointers
from usmp_build.codegen.function_names import function_names, ports, variable
from usmp_build.codegen.functions import Functions
from usmp_build.codegen.moved_rows import moves, read_offsets, slot_of
from usmp_build.codegen.ports import Locate
from usmp_build.codegen.refusals import refuse, refuse_passed
from usmp_build.codegen.sequence import arrival, outputs_by_rows, row_steps, sequence
from usmp_build.codegen.steps import step_code
from usmp_build.codegen.validity import exclusion, validity
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph, operator_at, tensor_at
from usmp_build.ir.options import called_subgraphs
from usmp_build.ir.schedule import steps
from usmp_build.ir.storage import Kind
from usmp_build.layout import PoolRow, Summary
from usmp_build.layout.code import BufferCode, FlowLine, ModelCode, ResetRow, StepCode, TableCode, TraceRow
from usmp_build.layout.constants import ConstantGroup
from usmp_build.layout.rows import RowOffsets
from usmp_build.naming import c_comment
from usmp_build.planner.memory.plan import Plan
from usmp_build.planner.memory.problem import Problem
from usmp_build.request import Request

Check = tuple[str, str]


def model_code(
    request: Request,
    analysis: Analysis,
    plan: Plan,
    summary: Summary,
    constants: Mapping[int, str],
    groups: tuple[ConstantGroup, ...],
    index: int,
) -> ModelCode:
    """Decide on the C of model `index`; `constants` are the expressions of constant buffers, in `groups`.

    Raises KernelError for what has no C, as `refuse` and `refuse_passed` do.
    """
    refuse(request, analysis, summary, index)
    refuse_passed(request, analysis, plan, summary, index)
    model = analysis.models[index]
    buffers = buffer_codes(analysis, plan, summary, index)
    tables = tables_of(analysis, plan, summary, index)
    offsets = row_offsets(analysis, plan, summary, index)
    read = read_offsets(analysis, plan, summary, index, offsets)
    locate = replace(_located(request, analysis, index, buffers, tables, constants, offsets), read=read)
    passed_groups = tuple(group for group in groups if group.pool.is_passed and index in group.models)
    numbers = {ref: number for number, ref in enumerate(_operators(analysis, index))}
    steps = _steps(analysis, index, numbers, locate, passed_groups)
    described = Functions(analysis, index, buffers, tables, constants)
    functions = described.code()
    body = Body(model.main, locate, functions)
    flows = _flows(model, locate, numbers)
    passed = _passed(steps, flows) | body.passed()
    used = passed | {member.expression for function in functions.values() for member in function.members}
    tables_in_use = {number: table for number, table in tables.items() if table.symbol in used}
    reset_rows = tuple(resets(analysis, index, buffers, constants))
    in_rows, arriving = row_steps(analysis, locate, numbers), arrival(analysis, locate)
    moved = moves(analysis, plan, summary, index, len(in_rows) + (arriving is not None))
    return ModelCode(
        inputs=locate.input_rows(),
        outputs=locate.output_rows(),
        validity=validity(request, analysis, index, locate.inputs, locate.outputs),
        exclusion=exclusion(request, summary.models[index], index),
        sha256="" if summary.models[index].passed_constants else model.sha256,
        buffers=tuple(replace(buffer, is_used=buffer.variable in passed) for buffer in buffers.values()),
        views=tuple(_views_of_inputs(model.main, locate, passed)),
        steps=steps,
        row_steps=in_rows,
        row_offsets=(*offsets.values(), *read.values()),
        moves=moved,
        sequence=sequence(analysis, index, numbers, flows, partial(slot_of, analysis, plan, summary, moved)),
        arrival=arriving,
        passed_constants=_called_for(passed_groups, passed),
        tables=tuple(tables_in_use.values()),
        paged=_paged(request, summary, tables.values()),
        checks=tuple(_placement_checks(summary.models[index].name, analysis.problem, buffers)),
        overlap_checks=tuple(_overlap_checks(analysis.problem, buffers)),
        table_checks=tuple(table_checks(analysis, summary, index, tables_in_use)),
        functions=tuple(functions.values()),
        body=body.lines(),
        choices=described.choices(),
        calls_math=described.call_math(),
        resets=reset_rows,
        reset_constants=_called_for(passed_groups, [row.source for row in reset_rows]),
    )


def _located(
    request: Request,
    analysis: Analysis,
    index: int,
    buffers: Mapping[int, BufferCode],
    tables: Mapping[int, TableCode],
    constants: Mapping[int, str],
    offsets: Mapping[int, RowOffsets],
) -> Locate:
    """Return what knows the C expression of each tensor of model `index`."""
    expressions = {number: buffer.variable for number, buffer in buffers.items()}
    expressions |= {number: table.symbol for number, table in tables.items()}
    rows = {number: table.elements for number, table in tables.items()}
    inputs, outputs = ports(request.models[index], analysis.models[index], tuple(pool.name for pool in request.pools))
    everything = {**constants, **expressions}
    return Locate(analysis, index, request.project.lower(), everything, buffers, rows, inputs, outputs, offsets)


def _buffer_of(expression: str) -> str:
    """Return the expression of the buffer that an expression of a part names."""
    return expression.partition(" + ")[0]


def _called_for(groups: tuple[ConstantGroup, ...], arguments: Collection[str]) -> tuple[ConstantGroup, ...]:
    """Return the groups of constants that `run` passes on: a struct to a step, single members to a function."""
    named = {argument.partition("->")[0] for argument in arguments}
    return tuple(group for group in groups if group.symbol in named)


def _operators(analysis: Analysis, index: int) -> dict[OperatorRef, int]:
    """Return the operators of a model in the order in which they begin, each with the step at which it ends."""
    running = enumerate(steps(analysis.schedule.programs[index]))
    return {step.operator: at for at, step in running if step.operator is not None}


def _steps(
    analysis: Analysis, index: int, numbers: Iterable[OperatorRef], locate: Locate, groups: tuple[ConstantGroup, ...]
) -> tuple[StepCode, ...]:
    """Return the functions of all operators that run: `refuse` has shown that they have kernels.

    The hook shows what those of main compute.
    """
    graph = analysis.models[index].main
    valued = _Valued(graph)
    traces = {}
    for ref, _ in sorted(_operators(analysis, index).items(), key=lambda item: item[1]):
        kernel, op = analysis.kernel_of(ref), operator_at(analysis.models, ref)
        if isinstance(kernel, Kernel) and not ref.subgraph:
            by_rows = outputs_by_rows(kernel, op) if analysis.choices.jobs(ref) > 1 else ()
            values = valued.after(kernel, op)
            outputs = (each for each in values if each not in by_rows and not locate.rows_of(each))
            traces[ref] = tuple(_trace(op, tensor, graph, locate) for tensor in outputs)
    return tuple(step_code(analysis, ref, locate, groups, traces.get(ref, ())) for ref in numbers)


def _flows(model: Model, locate: Locate, numbers: Mapping[OperatorRef, int]) -> dict[int, tuple[FlowLine, ...]]:
    """Return the lines of the operators of main that call subgraphs, each with what the hook shows after it."""
    flow = Flow(model, locate, numbers)
    flows = {}
    for index, op in enumerate(model.main.operators):
        if called_subgraphs(op.options):
            traces = (_trace(op, tensor, model.main, locate) for tensor in op.outputs)
            flows[index] = (*flow.lines(op), *(FlowLine(0, trace=each) for each in traces))
    return flows


def _trace(op: Operator, tensor: int, graph: Subgraph, locate: Locate) -> TraceRow:
    traced = graph.tensors[tensor]
    pitch = locate.pitch(tensor)
    row = (traced.shape[-1] if pitch else locate.row(tensor)) * traced.dtype.bits // 8
    return TraceRow(op.position, tensor, locate.expression(tensor), traced.size, row, pitch)


def _views_of_inputs(graph: Subgraph, locate: Locate, passed: Collection[str]) -> Iterator[TraceRow]:
    for tensor in _Valued(graph).at_first():
        view = _trace(graph.operators[graph.producers[tensor]], tensor, graph, locate)
        if _buffer_of(view.expression) in passed and not locate.rows_of(tensor):
            yield view


def _passed(steps: Iterable[StepCode], flows: Mapping[int, tuple[FlowLine, ...]]) -> set[str]:
    """Return the buffers that functions of operators are called with, in `run` or in its control flow."""
    pointers_ = [*(argument for step in steps for argument in step.arguments), *chain(*map(pointers, flows.values()))]
    return set(map(_buffer_of, pointers_))


def _paged(request: Request, summary: Summary, tables: Iterable[TableCode]) -> tuple[tuple[int, PoolRow, int], ...]:
    """Return the pools that are memory of pages, and hold rows: number, pool and page size."""
    numbers = sorted({pool for table in tables for pool, _ in table.rows})
    return tuple((number, summary.pools[number], request.pools[number].page) for number in numbers)


def resets(
    analysis: Analysis, index: int, buffer_codes: Mapping[int, BufferCode], constants: Mapping[int, str]
) -> Iterator[ResetRow]:
    """Yield how each variable of model `index` gets its initial value; `constants` are the expressions of constants."""
    tensors = first_tensors(analysis, index)
    for number, code in buffer_codes.items():
        if analysis.storage.buffers[number].kind is Kind.VARIABLE:
            tensor = tensor_at(analysis.models, tensors[number])
            value = tensor.initial[0] if tensor.initial else tensor.initial_byte
            source = analysis.storage.initial.get(number)
            yield ResetRow(code, constants[source] if source is not None else "", value)


def row_offsets(analysis: Analysis, plan: Plan, summary: Summary, index: int) -> dict[int, RowOffsets]:
    """Return the tables of a model by the first row's buffer."""
    tensors, functions = first_tensors(analysis, index), function_names(analysis.models[index])
    tables = {}
    for first in analysis.storage.rows:
        if first not in tensors or tensors[first] not in analysis.choices.by_rows.tables:
            continue
        stored = analysis.storage.buffers[first]
        table = analysis.choices.by_rows.tables[tensors[first]]
        places = [plan.allocations[row] for row in analysis.storage.span(first)[: table.rows]]
        unit = gcd(*(place.offset for place in places)) or 1
        tables[first] = RowOffsets(
            symbol=f"{summary.models[index].name}_{variable(functions, tensors[first])}_rows",
            unit=unit,
            offsets=tuple(place.offset // unit for place in places),
            pools=tuple(summary.pools[place.pool] for place in places),
            workspaces=summary.models[index].workspaces,
            row_bytes=stored.size,
            elements=table.elements,
            comment=c_comment(name_within(stored, index).rpartition("[")[0]),
        )
    return tables


class _Valued:
    """Follows the operators of a subgraph as they run; tensors that share bytes have their value after the last."""

    def __init__(self, graph: Subgraph) -> None:
        self._sharing = [op for op in graph.operators if not op.runs]
        self._valued = {t for t, tensor in enumerate(graph.tensors) if tensor.is_constant or tensor.is_variable}
        self._valued.update(graph.inputs)
        self._readers: dict[int, list[Operator]] = {}
        for op in self._sharing:
            for tensor in op.inputs:
                if tensor is not None:
                    self._readers.setdefault(tensor, []).append(op)

    def at_first(self) -> list[int]:
        """Return the tensors that share bytes with inputs alone."""
        return self._followers(sorted(self._valued))

    def after(self, kernel: Kernel, op: Operator) -> list[int]:
        """Return the outputs of an operator, the variables it changed, and the tensors that share bytes with these."""
        changed = (op.inputs[position] for position in sorted(kernel.updates))
        tensors = [*op.outputs, *(tensor for tensor in changed if tensor is not None)]
        self._valued.update(tensors)
        return [*tensors, *self._followers(tensors)]

    def _followers(self, tensors: list[int]) -> list[int]:
        """Return the tensors that have their value now that `tensors` have theirs."""
        followers: list[int] = []
        for tensor in tensors:
            followers += self._outputs(tensor)
        for tensor in followers:
            followers += self._outputs(tensor)
        return followers

    def _outputs(self, tensor: int) -> list[int]:
        outputs: list[int] = []
        for op in self._readers.get(tensor, ()):
            if self._valued.issuperset(t for t in op.inputs if t is not None):
                outputs += (t for t in op.outputs if t not in self._valued)
                self._valued.update(op.outputs)
        return outputs


def _placement_checks(model: str, problem: Problem, buffers: Mapping[int, BufferCode]) -> Iterator[Check]:
    """Yield conditions that each buffer is inside its pool, aligned, and apart from those it must not overlap."""
    for number, buffer in buffers.items():
        end = _end(buffer)
        pool = f"{model.upper()}_{buffer.pool.name.upper()}_WORKSPACE_POOL_SIZE"
        yield f"{buffer.macro}_OFFSET >= 0 && {end} <= {pool}", f"{buffer.macro}_is_inside".lower()
        if buffer.row.alignment > 1:
            yield f"{buffer.macro}_OFFSET % {buffer.row.alignment} == 0", f"{buffer.macro}_is_aligned".lower()
        for other, above in _above(problem, buffers, number):
            if (number, other) not in problem.separations:
                yield f"{end} <= {above.macro}_OFFSET", f"{buffer.macro}_is_below_{above.variable}".lower()


def _overlap_checks(problem: Problem, buffers: Mapping[int, BufferCode]) -> Iterator[Check]:
    """Yield conditions on distances between starts, where an operator may write over what it has read."""
    for number, buffer in buffers.items():
        for other, above in _above(problem, buffers, number):
            if (number, other) in problem.separations:
                start = _start_plus(buffer, problem.separations[number, other])
                yield f"{start} <= {above.macro}_OFFSET", f"{buffer.macro}_is_clear_of_{above.variable}".lower()


def _above(problem: Problem, buffers: Mapping[int, BufferCode], number: int) -> Iterator[tuple[int, BufferCode]]:
    """Yield the buffers in conflict with this one that are above it in its pool."""
    for other in problem.conflicts[number]:
        above = buffers.get(other)
        if above and above.pool is buffers[number].pool and _is_below(problem, buffers, number, other):
            yield other, above


def _is_below(problem: Problem, buffers: Mapping[int, BufferCode], one: int, other: int) -> bool:
    """Whether `one` counts as the lower of two buffers in conflict; exactly one of each pair does."""
    distance = buffers[other].row.offset - buffers[one].row.offset
    holds, holds_too = distance >= problem.separation(one, other), -distance >= problem.separation(other, one)
    return (distance, other - one) > (0, 0) if holds == holds_too else holds


def _end(buffer: BufferCode) -> str:
    """Return the end of a buffer, or that of its last cache line, which it shares with nothing."""
    end, line = f"{buffer.macro}_OFFSET + {buffer.macro}_BYTES", buffer.row.cache_line
    return f"({end} + {line - 1}) / {line} * {line}" if line else end


def _start_plus(buffer: BufferCode, distance: int) -> str:
    """Return the start of a buffer plus a distance in bytes, which may be negative."""
    further = f" {'+' if distance > 0 else '-'} {abs(distance)}" if distance else ""
    return f"{buffer.macro}_OFFSET{further}"
