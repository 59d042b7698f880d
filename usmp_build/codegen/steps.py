"""Describes the C function of one operator for the template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from usmp_build.codegen.calls import Parameter, call_code, of_one_row
from usmp_build.codegen.moved_rows import Reader
from usmp_build.codegen.ports import Locate
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import Absent, Derived, Input, Kernel, Operand, Output, Scratch
from usmp_build.ir.c_types import pool_type
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, operator_at
from usmp_build.ir.ports import show_type
from usmp_build.ir.schedule import Direction
from usmp_build.layout.code import StepCode, TraceRow
from usmp_build.layout.constants import ConstantGroup
from usmp_build.naming import c_comment, c_identifier, short_name


def step_code(
    analysis: Analysis,
    ref: OperatorRef,
    locate: Locate,
    groups: tuple[ConstantGroup, ...],
    traces: tuple[TraceRow, ...],
) -> StepCode:
    """Return the function of an operator that has a kernel; `groups` are constants that must be passed to it."""
    model = analysis.models[ref.model]
    op = operator_at(analysis.models, ref)
    kernel = analysis.kernel_of(ref)
    assert isinstance(kernel, Kernel)  # `refusals.refuse` came first
    graph, locate = model.subgraphs[ref.subgraph], locate.within(ref.subgraph)
    parameters = _parameters(graph, ref, kernel, locate)

    def expression(operand: Operand) -> str:
        parameter = parameters.get(operand)
        return parameter.name if parameter else _expression(analysis, ref, locate, operand)

    calls = tuple(call_code(call, locate.prefix, parameters, expression) for call in kernel.calls)
    row = ["int32_t y"] if analysis.choices.jobs(ref) > 1 else []
    if row:
        calls = tuple(map(of_one_row, calls, kernel.calls))
    named = {argument.partition("->")[0] for call in calls for argument in call.arguments}
    passed = [group for group in groups if group.symbol in named]
    return StepCode(
        function=f"{model.name}_{c_identifier(op.kind).lower()}_{op.position}{_suffix(ref)}",
        comment=_comment(op, kernel, graph, analysis.directions.get(ref, Direction.FORWARD), bool(row)),
        signature=(
            *(p.declaration for p in parameters.values()),
            *(group.declaration for group in passed),
            *row,
        ),
        calls=calls,
        arguments=(*(p.argument for p in parameters.values()), *(group.symbol for group in passed)),
        traces=traces,
    )


def _comment(op: Operator, kernel: Kernel, graph: Subgraph, direction: Direction, is_by_rows: bool) -> tuple[str, ...]:
    """Return a comment: inputs, outputs and changed variables, without constants, which calls name."""
    suffix = ", backward" if direction is Direction.BACKWARD else ""
    operands = [(position in kernel.updates, graph.tensors[t]) for position, t in enumerate(op.inputs) if t is not None]
    inputs = [tensor for changes, tensor in operands if not changes and not tensor.is_constant]
    outputs = [graph.tensors[t] for t in op.outputs] + [tensor for changes, tensor in operands if changes]
    sides = [" and ".join(f"{show_type(t)} {short_name(t.name)}" for t in side) for side in (inputs, outputs)]
    return (
        c_comment(f"{op.kind} {op.position}{', a row' * is_by_rows}{suffix}"),
        c_comment(" -> ".join(side for side in sides if side)),
    )


def _suffix(ref: OperatorRef) -> str:
    return f"_of_{ref.subgraph}" if ref.subgraph else ""


def _used(graph: Subgraph, op: Operator, kernel: Kernel) -> tuple[list[Input], list[Scratch], list[Output]]:
    """Return the workspace operands that calls of a kernel have, inputs and outputs by position."""
    used = dict.fromkeys(operand for call in kernel.calls for operand in call.operands)
    inputs = [o for o in used if isinstance(o, Input) and not _is_constant(graph, op, o)]
    outputs = [o for o in used if isinstance(o, Output)]
    scratches = [o for o in used if isinstance(o, Scratch)]
    return sorted(inputs, key=_position), scratches, sorted(outputs, key=_position)


def _parameters(graph: Subgraph, ref: OperatorRef, kernel: Kernel, locate: Locate) -> dict[Operand, Parameter]:
    """Return every workspace operand once: inputs, scratch, outputs.  Constants are named where they are used."""
    op = graph.operators[ref.operator]
    inputs, scratches, outputs = _used(graph, op, kernel)
    result: dict[Operand, Parameter] = {}

    def add(name: str, operands: Sequence[Input | Output], tensors: Sequence[int | None], qualifier: str = "") -> None:
        for i, operand in enumerate(operands):
            tensor = tensors[operand.position]
            assert tensor is not None  # a kernel names no input that was left out
            made = _of_tensor(locate, graph, tensor, _numbered(name, i, len(operands)), qualifier)
            read = isinstance(operand, Input) and locate.read.get(Reader(ref, operand.position))
            result[operand] = replace(made, offsets=read) if read else made

    add("input", [o for o in inputs if o.position not in kernel.updates], op.inputs, "const ")
    add("state", [o for o in inputs if o.position in kernel.updates], op.inputs)
    for i, scratch in enumerate(scratches):
        buffer = locate.analysis.storage.scratch[ref][scratch.position]
        c_type = f"{pool_type(kernel.scratch[scratch.position].dtype)} *"
        result[scratch] = Parameter(c_type, _numbered("scratch", i, len(scratches)), locate.buffer(buffer))
    add("output", outputs, op.outputs)
    return result


def _position(operand: Input | Output) -> int:
    return operand.position


def _of_tensor(locate: Locate, graph: Subgraph, tensor: int, name: str, qualifier: str) -> Parameter:
    c_type = f"{qualifier}{pool_type(graph.tensors[tensor].dtype)} *"
    row = locate.row(tensor)
    argument = locate.expression(tensor)
    if offsets := locate.rows_of(tensor):
        return Parameter(c_type, name, argument, offsets=offsets)
    return Parameter(c_type, name, f"({c_type}const *){argument}" if row and qualifier else argument, row)


def _numbered(name: str, index: int, count: int) -> str:
    return f"{name}_{index}" if count > 1 else name


def _is_constant(graph: Subgraph, op: Operator, operand: Input) -> bool:
    tensor = op.inputs[operand.position]
    return tensor is not None and graph.tensors[tensor].is_constant


def _expression(analysis: Analysis, ref: OperatorRef, locate: Locate, operand: Operand) -> str:
    """Return the expression of an operand that is not a parameter of the function."""
    if isinstance(operand, Derived):
        return locate.buffer(analysis.storage.derived[ref][operand.position])
    if isinstance(operand, Absent):
        return "NULL"
    assert isinstance(operand, Input)
    tensor = operator_at(analysis.models, ref).inputs[operand.position]
    return "NULL" if tensor is None else locate.expression(tensor)
