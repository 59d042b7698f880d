"""Decides on the C of one model: ports, pointers, steps, or the functions of a program, and checks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from usmp_build.codegen.body import Body
from usmp_build.codegen.buffers import buffer_codes
from usmp_build.codegen.checks import overlap_checks, placement_checks
from usmp_build.codegen.flow import Flow, pointers
from usmp_build.codegen.function_names import ports
from usmp_build.codegen.functions import Functions
from usmp_build.codegen.passed_pools import refuse_passed
from usmp_build.codegen.ports import Locate
from usmp_build.codegen.refusals import refuse
from usmp_build.codegen.resets import resets
from usmp_build.codegen.row_offsets import row_offsets
from usmp_build.codegen.row_traces import outputs_by_rows
from usmp_build.codegen.sequence import arrival, row_steps, sequence
from usmp_build.codegen.steps import step_code
from usmp_build.codegen.tables import table_checks, tables_of
from usmp_build.codegen.validity import exclusion, validity
from usmp_build.codegen.valued import Valued
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Model, Operator, OperatorRef, Subgraph, operator_at
from usmp_build.ir.options import called_subgraphs
from usmp_build.ir.schedule import steps
from usmp_build.layout import Summary
from usmp_build.layout.code import BufferCode, FlowLine, ModelCode, StepCode, TableCode, TraceRow
from usmp_build.layout.constants import ConstantGroup
from usmp_build.layout.rows import RowOffsets
from usmp_build.planner.memory.plan import Plan
from usmp_build.request import Request


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
    in_pages = sorted({pool for table in tables.values() for pool, _ in table.rows})
    offsets = row_offsets(analysis, plan, summary, index)
    locate = _located(request, analysis, index, buffers, tables, constants, offsets)
    passed_groups = tuple(group for group in groups if group.pool.is_passed and index in group.models)
    numbers = {ref: number for number, ref in enumerate(_operators(analysis, index))}
    steps = _steps(analysis, index, numbers, locate, passed_groups)
    described = Functions(analysis, index, buffers, tables, constants)
    functions = described.code()
    body = Body(model.main, locate, functions)
    flows = _flows(model, locate, numbers)
    passed = {_buffer_of(argument) for step in steps for argument in step.arguments} | body.passed()
    passed |= {_buffer_of(pointer) for lines in flows.values() for pointer in pointers(lines)}
    used = passed | {member.expression for function in functions.values() for member in function.members}
    tables_in_use = {number: table for number, table in tables.items() if not model.is_program or table.symbol in used}
    reset_rows = tuple(resets(analysis, index, buffers, constants))
    return ModelCode(
        inputs=locate.input_rows(),
        outputs=locate.output_rows(),
        validity=validity(request, analysis, index, locate.inputs, locate.outputs),
        exclusion=exclusion(request, summary.models[index], index),
        sha256="" if summary.models[index].passed_constants else model.sha256,
        buffers=tuple(replace(buffer, is_used=buffer.variable in passed) for buffer in buffers.values()),
        views=tuple(view for view in _views_of_inputs(model.main, locate) if _buffer_of(view.expression) in passed),
        steps=steps,
        row_steps=row_steps(analysis, locate, numbers),
        row_offsets=tuple(offsets.values()),
        sequence=sequence(analysis, index, numbers, flows),
        arrival=arrival(analysis, locate),
        passed_constants=_called_for(passed_groups, passed),
        tables=tuple(tables_in_use.values()),
        paged=tuple((number, summary.pools[number], request.pools[number].page) for number in in_pages),
        checks=tuple(placement_checks(summary.models[index].name, analysis.problem, buffers)),
        overlap_checks=tuple(overlap_checks(analysis.problem, buffers)),
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
    valued = Valued(graph)
    traces = {}
    for ref, _ in sorted(_operators(analysis, index).items(), key=lambda item: item[1]):
        kernel, op = analysis.kernel_of(ref), operator_at(analysis.models, ref)
        if isinstance(kernel, Kernel) and not ref.subgraph:
            by_rows = outputs_by_rows(kernel, op) if analysis.choices.jobs(ref) > 1 else ()
            outputs = (tensor for tensor in valued.after(kernel, op) if tensor not in by_rows)
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


def _views_of_inputs(graph: Subgraph, locate: Locate) -> Iterator[TraceRow]:
    for tensor in Valued(graph).at_first():
        yield _trace(graph.operators[graph.producers[tensor]], tensor, graph, locate)
