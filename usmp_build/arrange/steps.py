"""One operator → a C function of its own, as rows for the template."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from usmp_build.arrange.c_types import float_literal, int_literal, pool_type
from usmp_build.arrange.ports import Locate, show_type
from usmp_build.interfaces.analysis import Analysis
from usmp_build.interfaces.kernels import (
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Scratch,
    Whole,
)
from usmp_build.ir.graph import Operator, OperatorRef, Subgraph, operator_at
from usmp_build.layout import CallCode, LoopCode, StepCode, TraceRow
from usmp_build.naming import c_comment, short_name


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A pointer that a step's function takes."""

    c_type: str
    name: str
    argument: str

    @property
    def declaration(self) -> str:
        return f"{self.c_type}{'' if self.c_type.endswith('*') else ' '}{self.name}"


def step_code(analysis: Analysis, ref: OperatorRef, locate: Locate, traces: tuple[TraceRow, ...]) -> StepCode:
    """Write down the function of an operator that has a kernel."""
    model = analysis.models[ref.model]
    op = operator_at(analysis.models, ref)
    kernel = analysis.kernels[ref]
    assert isinstance(kernel, Kernel)  # `model._refuse` came first
    parameters = _parameters(analysis, ref, kernel, locate)
    return StepCode(
        function=f"{model.name}_{op.kind.lower()}_{op.position}",
        comment=_comment(op, model.main),
        signature=tuple(p.declaration for p in parameters.values()),
        calls=tuple(_call(analysis, ref, call, parameters, locate) for call in kernel.calls),
        arguments=tuple(p.argument for p in parameters.values()),
        traces=traces,
    )


def _comment(op: Operator, graph: Subgraph) -> tuple[str, ...]:
    """What goes in and out; constants are left out, for they are named in the calls."""
    inputs = [graph.tensors[t] for t in op.inputs if t is not None and not graph.tensors[t].is_constant]
    outputs = [graph.tensors[t] for t in op.outputs]
    sides = [" and ".join(f"{show_type(t)} {short_name(t.name)}" for t in side) for side in (inputs, outputs)]
    return (c_comment(f"{op.kind} {op.position}"), c_comment(f"{sides[0]} -> {sides[1]}"))


def _parameters(analysis: Analysis, ref: OperatorRef, kernel: Kernel, locate: Locate) -> dict[Operand, _Parameter]:
    """Every workspace operand, each once: inputs, scratch, outputs.  Constants are named where they are used."""
    graph = analysis.models[ref.model].main
    op = graph.operators[ref.operator]
    used = dict.fromkeys(operand for call in kernel.calls for operand in call.operands)
    activations = [o for o in used if isinstance(o, Input) and not _is_constant(graph, op, o)]
    outputs = [o for o in used if isinstance(o, Output)]
    scratches = [o for o in used if isinstance(o, Scratch)]
    result: dict[Operand, _Parameter] = {}
    for i, source in enumerate(activations):
        tensor = op.inputs[source.position]
        assert tensor is not None  # a kernel names no input that was left out
        c_type = f"const {pool_type(graph.tensors[tensor].dtype)} *"
        result[source] = _Parameter(c_type, _numbered("input", i, len(activations)), locate.expression(tensor))
    for i, scratch in enumerate(scratches):
        buffer = analysis.storage.scratch[ref][scratch.position]
        c_type = f"{pool_type(kernel.scratch[scratch.position].dtype)} *"
        result[scratch] = _Parameter(c_type, _numbered("scratch", i, len(scratches)), locate.buffer(buffer))
    for i, output in enumerate(outputs):
        tensor = op.outputs[output.position]
        c_type = f"{pool_type(graph.tensors[tensor].dtype)} *"
        result[output] = _Parameter(c_type, _numbered("output", i, len(outputs)), locate.expression(tensor))
    return result


def _numbered(name: str, index: int, count: int) -> str:
    return f"{name}_{index}" if count > 1 else name


def _is_constant(graph: Subgraph, op: Operator, operand: Input) -> bool:
    tensor = op.inputs[operand.position]
    return tensor is not None and graph.tensors[tensor].is_constant


def _call(
    analysis: Analysis, ref: OperatorRef, call: KernelCall, parameters: dict[Operand, _Parameter], locate: Locate
) -> CallCode:
    prefix = locate.prefix
    op = operator_at(analysis.models, ref)

    def expression(operand: Operand) -> str:
        if operand in parameters:
            return parameters[operand].name
        if isinstance(operand, Derived):
            return locate.buffer(analysis.storage.derived[ref][operand.position])
        assert isinstance(operand, Input)
        tensor = op.inputs[operand.position]
        return "NULL" if tensor is None else locate.expression(tensor)

    first, last = call.operands[0], call.operands[-1]
    streams = not isinstance(call.form, Whole)
    arguments = call.operands[1:-1] if streams else call.operands
    return CallCode(
        form=type(call.form).__name__.lower(),
        function=f"{prefix}_{call.function}",
        struct=f"{prefix}_{call.parameters.struct}" if call.parameters else "",
        fields=_fields(call),
        arguments=tuple(expression(operand) for operand in arguments),
        streamed=expression(first) if streams else "",
        streamed_type=parameters[first].c_type if streams else "",
        result=expression(last) if streams else "",
        result_type=parameters[last].c_type if streams else "",
        loop=LoopCode(**asdict(call.form)),
    )


def _fields(call: KernelCall) -> tuple[tuple[str, str], ...]:
    if call.parameters is None:
        return ()
    return tuple(
        (name, float_literal(value) if isinstance(value, float) else int_literal(value))
        for name, value in call.parameters.fields
    )
