"""Translates main of a program to the lines of `run`: allocations are planned, so loops and calls remain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from usmp_build.codegen.ports import Locate
from usmp_build.ir.c_types import pool_type
from usmp_build.ir.graph import Subgraph, TensorRef
from usmp_build.ir.statements import Allocate, For, If, Invoke, Statement, walk
from usmp_build.layout.functions import BodyLine, FunctionCode, ParameterRow

_LARGEST = (1 << 31) - 1


@dataclass(frozen=True)
class Body:
    """The body of main, of a program that `refusals.refuse` accepts."""

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
