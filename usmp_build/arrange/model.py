"""One model → its C: ports, pointers, steps and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from usmp_build.arrange.c_types import pool_type
from usmp_build.arrange.ports import Locate, ports
from usmp_build.arrange.steps import step_code
from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, TensorRef
from usmp_build.ir.options import called_subgraphs
from usmp_build.ir.storage import Kind
from usmp_build.layout import ModelCode, Place, Summary, TraceRow
from usmp_build.memory.plan import Plan
from usmp_build.naming import c_comment
from usmp_build.request import Request

_LARGEST_OFFSET = (1 << 31) - 1


def model_code(
    request: Request, analysis: Analysis, plan: Plan, summary: Summary, constants: Mapping[int, str], index: int
) -> ModelCode:
    """Decide on the C of model `index`; `constants` are the expressions of constant buffers.

    Raises KernelError for what has no C: operators without a kernel, control flow, variables, pools beyond 2 GiB.
    """
    _refuse(request, analysis, summary, index)
    places = _places(analysis, plan, summary, index)
    variables = {buffer: place.variable for buffer, place in places.items()}
    inputs, outputs = ports(request.models[index], analysis.models[index], tuple(pool.name for pool in request.pools))
    locate = Locate(analysis, index, request.project.lower(), {**constants, **variables}, places, inputs, outputs)
    graph = analysis.models[index].main
    views: dict[int, list[int]] = {}
    for op in graph.operators:
        if op.kind == "VIEW" and op.inputs[0] is not None:
            views.setdefault(op.inputs[0], []).extend(op.outputs)
    steps = tuple(
        step_code(analysis, OperatorRef(index, 0, i), locate, _traces(op, graph, views, locate))
        for i, op in enumerate(graph.operators)
        if op.kind != "VIEW"
    )
    passed = {argument for step in steps for argument in step.arguments}
    return ModelCode(
        inputs=locate.input_rows(),
        outputs=locate.output_rows(),
        places=tuple(replace(place, used=place.variable in passed) for place in places.values()),
        views=tuple(view for view in _views_of_inputs(graph, locate) if view.expression in passed),
        steps=steps,
        checks=tuple(_checks(summary.models[index].name, analysis, places)),
    )


def _traces(op: Operator, graph: Subgraph, views: Mapping[int, list[int]], locate: Locate) -> tuple[TraceRow, ...]:
    """What the hook shows after an operator: its outputs, and the views of them."""
    shown = list(op.outputs)
    for tensor in shown:
        shown += views.get(tensor, ())
    return tuple(TraceRow(op.position, t, locate.expression(t), graph.tensors[t].size) for t in shown)


def _views_of_inputs(graph: Subgraph, locate: Locate) -> Iterator[TraceRow]:
    known = set(graph.inputs)
    for op in graph.operators:
        if op.kind == "VIEW" and op.inputs[0] in known:
            known.update(op.outputs)
            for t in op.outputs:
                yield TraceRow(op.position, t, locate.expression(t), graph.tensors[t].size)


def _places(analysis: Analysis, plan: Plan, summary: Summary, index: int) -> dict[int, Place]:
    """The planned buffers of a model in workspace pools, in the order in which they are first touched."""
    rows = {row.name: row for row in summary.buffers}
    tensors: dict[int, int] = {}
    for ref, buffer in analysis.storage.tensors.items():
        if ref.model == index:
            tensors.setdefault(buffer, ref.tensor)
    scratches = 0
    places = {}
    for number, stored in enumerate(analysis.storage.buffers):
        if index not in stored.models or stored.kind is Kind.CONSTANT or not stored.size:
            continue
        if number in tensors:
            variable = f"t{tensors[number]}"
        else:
            variable = f"s{scratches}"
            scratches += 1
        places[number] = Place(
            variable=variable,
            c_type=pool_type(stored.dtype),
            macro=f"{summary.models[index].macro}_{variable.upper()}",
            row=rows[stored.name],
            pool=summary.pools[plan.allocations[number].pool],
            comment=c_comment(stored.name.partition(".")[2]),
            lives=_lives(analysis, index, number),
            used=False,
        )
    return places


def _lives(analysis: Analysis, index: int, buffer: int) -> str:
    """Steps counted from the model's own first one: what other models do moves nothing here."""
    first = analysis.schedule.starts[index]
    intervals = analysis.lifetimes.intervals[buffer]
    return " ".join(f"[{i.start - first}, {i.stop - first})" for i in intervals)


def _checks(model: str, analysis: Analysis, places: Mapping[int, Place]) -> list[tuple[str, str]]:
    """The plan as conditions for the C compiler: inside the pool, aligned, and apart from everything in conflict."""
    checks = []
    for number, place in places.items():
        end = f"{place.macro}_OFFSET + {place.macro}_BYTES"
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


def _refuse(request: Request, analysis: Analysis, summary: Summary, index: int) -> None:
    problems = []
    model, path = analysis.models[index], request.models[index].path
    for i, op in enumerate(model.main.operators):
        kernel = analysis.kernels.get(OperatorRef(index, 0, i))
        if isinstance(kernel, NoKernel):
            problems.append((f"operator {op.position} ({op.kind}): {kernel.reason}", _WAYS_OUT))
        elif called_subgraphs(op.options):
            problems.append((f"operator {op.position} ({op.kind}) runs a subgraph, which has no C yet", _WAYS_OUT))
        elif isinstance(kernel, Kernel) and _touches_variable(analysis, index, i):
            problems.append((f"operator {op.position} ({op.kind}) keeps state between runs, which has no C yet", ""))
    for pool in summary.pools:
        if pool.size > _LARGEST_OFFSET:
            problems.append((f'pool "{pool.name}" needs {pool.size:,} bytes; offsets in C end at 2 GiB', ""))
    if problems:
        raise KernelError(*(Diagnostic("P305", message, path, hint or _PLAN_ONLY) for message, hint in problems))


_PLAN_ONLY = '"usmp-build plan" shows the plan without generating C'
_WAYS_OUT = f'{_PLAN_ONLY}; kernels of the application (kernels = "extern") are not supported yet'


def _touches_variable(analysis: Analysis, model: int, operator: int) -> bool:
    op = analysis.models[model].main.operators[operator]
    buffers = (analysis.storage.tensors.get(TensorRef(model, 0, t)) for t in (*op.inputs, *op.outputs) if t is not None)
    return any(b is not None and analysis.storage.buffers[b].kind is Kind.VARIABLE for b in buffers)
