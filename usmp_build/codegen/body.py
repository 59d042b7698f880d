"""Translates main of a program to the lines of `run`, and says what of it has no C.

Allocations are planned, so loops and calls remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usmp_build.codegen.functions import forms
from usmp_build.codegen.ports import Locate
from usmp_build.document.suggest import listed, quoted
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.c_types import pool_type
from usmp_build.ir.graph import Model, Subgraph, TensorRef
from usmp_build.ir.statements import Access, Allocate, For, If, Invoke, Provider, Statement, walk
from usmp_build.ir.uses import Uses, uses
from usmp_build.layout.functions import BodyLine, FunctionCode, ParameterRow

_LARGEST = (1 << 31) - 1
_MOVE = "move it into a function of the program that main calls: the application supplies the functions"

Refusal = tuple[str, str]
"""What has no C, and the suggested fix."""


@frozen
class Body:
    """The body of main, of a program without `refusals`."""

    graph: Subgraph
    locate: Locate
    functions: Mapping[int, FunctionCode]

    def lines(self) -> tuple[BodyLine, ...]:
        """Return the body, line by line."""
        return tuple(self._lines(self.graph.body, 0))

    def passed(self) -> set[str]:
        """Return the expressions of all arguments and conditions."""
        statements = [*walk(self.graph.body)]
        arguments = {tensor for call in statements if isinstance(call, Invoke) for tensor in call.arguments}
        conditions = {branch.condition for branch in statements if isinstance(branch, If)}
        return {self._expression(tensor) for tensor in arguments | conditions}

    def _lines(self, body: tuple[Statement, ...], depth: int) -> Iterator[BodyLine]:
        for statement in body:
            match statement:
                case Allocate():
                    yield from self._lines(statement.body, depth)
                case For():
                    yield from self._loop(statement, depth)
                case If():
                    yield from self._branch(statement, depth)
                case Invoke():
                    yield self._call(statement, depth)

    def _loop(self, loop: For, depth: int) -> Iterator[BodyLine]:
        """Yield a loop; one without calls is left out, and of a single round only the body remains."""
        rounds = loop.extent or 0
        if rounds == 1:
            yield from self._lines(loop.body, depth)
            return
        inside = tuple(self._lines(loop.body, depth + 1))
        if inside:
            counter_type = "int32_t" if rounds <= _LARGEST else "int64_t"
            yield BodyLine(depth, f"for ({counter_type} i{depth} = 0; i{depth} < {rounds}; ++i{depth}) {{")
            yield from inside
            yield BodyLine(depth, "}")

    def _branch(self, branch: If, depth: int) -> Iterator[BodyLine]:
        """Yield a branch; without calls it is left out, and its condition is negated if only the other arm has any."""
        then, other = (tuple(self._lines(arm, depth + 1)) for arm in (branch.then, branch.other))
        pointer = self._expression(branch.condition)
        element = ("**" if self.locate.row(branch.condition) else "*") + (f"({pointer})" if " " in pointer else pointer)
        if then or other:
            yield BodyLine(depth, f"if ({'' if then else '!'}{element}) {{")
            yield from then or other
            if then and other:
                yield BodyLine(depth, "} else {")
                yield from other
            yield BodyLine(depth, "}")

    def _call(self, call: Invoke, depth: int) -> BodyLine:
        function = self.functions[call.function]
        pairs = zip(call.arguments, function.parameters, strict=True)
        arguments = tuple(self._argument(tensor, parameter) for tensor, parameter in pairs)
        return BodyLine(depth, function=function.name, arguments=arguments)

    def _argument(self, tensor: int | None, parameter: ParameterRow) -> str:
        """Return an argument as a pointer of the parameter's type, which may differ from the tensor's."""
        expression = self._expression(tensor)
        if tensor is None or expression == "NULL":
            return "NULL"
        is_same = parameter.element == pool_type(self.graph.tensors[tensor].dtype)
        if self.locate.row(tensor):
            through = "" if is_same else "(const void *)"
            return f"({parameter.c_type}){through}{expression}" if parameter.is_const or not is_same else expression
        if is_same or parameter.element == "void":
            return expression
        return f"({parameter.c_type})({'const ' if parameter.is_const else ''}void *){expression}"

    def _expression(self, tensor: int | None) -> str:
        """Return the expression of a tensor; NULL for constants that no function reads."""
        storage = self.locate.analysis.storage
        ref = TensorRef(self.locate.model, 0, -1 if tensor is None else tensor)
        has_bytes = ref in storage.tensors or ref in storage.arguments
        return self.locate.expression(ref.tensor) if has_bytes else "NULL"


def refusals(analysis: Analysis, index: int) -> Iterator[Refusal]:
    """Yield all of a program that has no C."""
    model = analysis.models[index]
    yield from _statements(model)
    yield from _ports(model)
    yield from _mixed(analysis, index)


def _statements(model: Model) -> Iterator[Refusal]:
    uses_by_function = uses(model)
    for statement in walk(model.main.body):
        match statement:
            case Access(reads, writes):
                names = listed(model.main.tensors[t].name for t in dict.fromkeys((*writes, *reads)))
                yield f"main has a statement of its own: {_statement(statement)} {names}", _MOVE
            case For(kind, extent):
                if kind.is_parallel:
                    yield f"main has a loop that runs in parallel ({kind.value})", f'make it "serial", or {_MOVE}'
                elif extent is None:
                    yield "main has a loop whose number of rounds is unknown before it runs", _MOVE
            case Allocate(tensor, _, provider) if provider is not Provider.PLAN:
                yield f"main has an allocation that is not planned: {quoted(model.main.tensors[tensor].name)}", _MOVE
            case Invoke():
                yield from _constant_arguments(model, statement, uses_by_function)


def _statement(access: Access) -> str:
    """Return what messages call a statement: a verb, or a function from outside the program."""
    return "store to" if access.name == "store" else quoted(access.name)[1:-1]


def _constant_arguments(model: Model, call: Invoke, uses_by_function: Mapping[int, Uses]) -> Iterator[Refusal]:
    written = (a for parameter, a in enumerate(call.arguments) if parameter in uses_by_function[call.function].written)
    for argument in written:
        if argument is not None and model.main.tensors[argument].is_constant:
            callee, constant = model.subgraphs[call.function], model.main.tensors[argument]
            help_ = 'declare what external functions do ("reads", "writes"), or pass a copy of the constant'
            yield f"main calls {quoted(callee.name)} with constant {quoted(constant.name)}, which it writes to", help_


def _ports(model: Model) -> Iterator[Refusal]:
    for port in (*model.main.inputs, *model.main.outputs):
        tensor = model.main.tensors[port]
        if port < model.main.parameters and not tensor.dtype.bits:
            message = f"parameter {quoted(tensor.name)} of main has no type"
            yield message, "give it a dtype and extents: the application must know the size of its array"


def _mixed(analysis: Analysis, index: int) -> Iterator[Refusal]:
    model = analysis.models[index]
    for (function, tensor), tensor_forms in sorted(forms(analysis, index).items()):
        if True in tensor_forms and model.subgraphs[function].code is not None:
            name = quoted(model.subgraphs[function].tensors[tensor].name)
            message = f"{name} of {quoted(model.subgraphs[function].name)} is in banked memory, but its C takes plain"
            yield f"{message} memory", "let the model use other workspace_pools"
        if len(tensor_forms) > 1:
            graph = model.subgraphs[function]
            message = f"parameter {quoted(graph.tensors[tensor].name)} of {quoted(graph.name)} is in banked memory in"
            help_ = "let all that it is called with live in pools of one kind"
            yield f"{message} one call, and in plain memory in another", help_
