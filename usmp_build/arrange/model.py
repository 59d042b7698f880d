"""One model → its C: ports, pointers, steps, or the functions of a program, and checks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from usmp_build.arrange.body import Body
from usmp_build.arrange.functions import Functions
from usmp_build.arrange.owners import refuse_passed
from usmp_build.arrange.places import places_of
from usmp_build.arrange.ports import Locate, ports
from usmp_build.arrange.refusals import refuse
from usmp_build.arrange.resets import resets
from usmp_build.arrange.steps import step_code
from usmp_build.arrange.tables import table_checks, tables_of
from usmp_build.arrange.validity import validity
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph
from usmp_build.layout import ConstantGroup, ModelCode, Place, StepCode, Summary, TraceRow
from usmp_build.memory.plan import Plan
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
    places = places_of(analysis, plan, summary, index)
    tables = tables_of(analysis, plan, summary, index)
    known = {number: place.variable for number, place in places.items()}
    known |= {number: table.symbol for number, table in tables.items()}
    inputs, outputs = ports(request.models[index], model, tuple(pool.name for pool in request.pools))
    in_pages = sorted({pool for table in tables.values() for pool, _ in table.rows})
    rows = {number: table.elements for number, table in tables.items()}
    locate = Locate(analysis, index, request.project.lower(), {**constants, **known}, places, rows, inputs, outputs)
    passed_groups = tuple(group for group in groups if group.pool.is_passed and index in group.models)
    steps = _steps(analysis, index, locate, passed_groups)
    functions = Functions(analysis, index, places, tables, constants).code()
    body = Body(model.main, locate, functions)
    passed = {argument for step in steps for argument in step.arguments} | body.passed()
    used = passed | {member.expression for function in functions.values() for member in function.members}
    shown = {number: table for number, table in tables.items() if not model.is_program or table.symbol in used}
    first = tuple(resets(analysis, index, places, constants))
    return ModelCode(
        inputs=locate.input_rows(),
        outputs=locate.output_rows(),
        validity=validity(request, analysis, index, inputs, outputs),
        places=tuple(replace(place, used=place.variable in passed) for place in places.values()),
        views=tuple(view for view in _views_of_inputs(model.main, locate) if view.expression in passed),
        steps=steps,
        passed_constants=_called_for(passed_groups, passed),
        tables=tuple(shown.values()),
        paged=tuple((number, summary.pools[number], request.pools[number].page) for number in in_pages),
        checks=tuple(_checks(summary.models[index].name, analysis, places)),
        table_checks=tuple(table_checks(analysis, summary, index, shown)),
        functions=tuple(functions.values()),
        body=body.lines(),
        resets=first,
        reset_constants=_called_for(passed_groups, [row.source for row in first]),
    )


def _called_for(groups: tuple[ConstantGroup, ...], arguments: Collection[str]) -> tuple[ConstantGroup, ...]:
    """Return the constants that `run` passes on: as a whole to a step, one by one to a function."""
    named = {argument.partition("->")[0] for argument in arguments}
    return tuple(group for group in groups if group.symbol in named)


def _steps(analysis: Analysis, index: int, locate: Locate, groups: tuple[ConstantGroup, ...]) -> tuple[StepCode, ...]:
    graph = analysis.models[index].main
    views: dict[int, list[int]] = {}
    for op in graph.operators:
        if op.kind == "VIEW" and op.inputs[0] is not None:
            views.setdefault(op.inputs[0], []).extend(op.outputs)
    running = [(OperatorRef(index, 0, i), op) for i, op in enumerate(graph.operators) if op.kind != "VIEW"]
    chosen = ((ref, analysis.kernels[ref], op) for ref, op in running)
    return tuple(
        step_code(analysis, ref, locate, groups, _traces(kernel, op, graph, views, locate))
        for ref, kernel, op in chosen
        if isinstance(kernel, Kernel)  # `refuse` came first
    )


def _traces(
    kernel: Kernel, op: Operator, graph: Subgraph, views: Mapping[int, list[int]], locate: Locate
) -> tuple[TraceRow, ...]:
    """What the hook shows after an operator: its outputs, the variables that it changed, and the views of all these."""
    changed = (op.inputs[position] for position in sorted(kernel.updates))
    shown = [*op.outputs, *(tensor for tensor in changed if tensor is not None)]
    for tensor in shown:
        shown += views.get(tensor, ())
    return tuple(_trace(op, t, graph, locate) for t in shown)


def _trace(op: Operator, tensor: int, graph: Subgraph, locate: Locate) -> TraceRow:
    shown = graph.tensors[tensor]
    row = locate.row(tensor) * shown.dtype.bits // 8
    return TraceRow(op.position, tensor, locate.expression(tensor), shown.size, row)


def _views_of_inputs(graph: Subgraph, locate: Locate) -> Iterator[TraceRow]:
    known = set(graph.inputs)
    for op in graph.operators:
        if op.kind == "VIEW" and op.inputs[0] in known:
            known.update(op.outputs)
            for t in op.outputs:
                yield _trace(op, t, graph, locate)


def _end(place: Place) -> str:
    """Behind the last byte of a buffer, or behind its last cache line, which it shares with nothing."""
    end, line = f"{place.macro}_OFFSET + {place.macro}_BYTES", place.row.cache_line
    return f"({end} + {line - 1}) / {line} * {line}" if line else end


def _checks(model: str, analysis: Analysis, places: Mapping[int, Place]) -> list[tuple[str, str]]:
    """The plan as conditions for the C compiler: inside the pool, aligned, and apart from everything in conflict."""
    checks = []
    for number, place in places.items():
        end = _end(place)
        pool = f"{model.upper()}_{place.pool.name.upper()}_WORKSPACE_POOL_SIZE"
        checks.append((f"{place.macro}_OFFSET >= 0 && {end} <= {pool}", f"{place.macro}_is_inside".lower()))
        if place.row.alignment > 1:
            condition = f"{place.macro}_OFFSET % {place.row.alignment} == 0"
            checks.append((condition, f"{place.macro}_is_aligned".lower()))
        for other in analysis.problem.conflicts[number]:
            above = places.get(other)
            if above and above.pool is place.pool and place.row.offset < above.row.offset:
                name = f"{place.macro}_is_below_{above.variable}".lower()
                checks.append((f"{end} <= {above.macro}_OFFSET", name))
    return checks
