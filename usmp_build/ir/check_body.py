"""Checks the functions of a program: tensors are in scope, arguments fit, and nesting is bounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from usmp_build.errors import Diagnostic, one_line
from usmp_build.ir.graph import DType, Model, Subgraph, Tensor
from usmp_build.ir.labels import tensor_label
from usmp_build.ir.statements import (
    MAX_NESTING,
    Access,
    Allocate,
    For,
    If,
    Invoke,
    Provider,
    Statement,
    bodies,
    too_deep,
    walk,
)
from usmp_build.ir.uses import Demand, Uses, callees_first, demands, known_size, role_fault, uses
from usmp_build.units import MAX_BYTES


def body_faults(index: int, model: Model) -> Iterator[Diagnostic]:
    """Yield the faults of function `index` alone: invalid indices, counts and scopes."""
    graph = model.subgraphs[index]
    if graph.operators:
        yield Diagnostic("T250", f"subgraph {index} has operators, but is part of a program of statements")
    if not 0 <= graph.parameters <= len(graph.tensors):
        message = f"function {index} has {graph.parameters} parameters, but {len(graph.tensors)} tensors"
        yield Diagnostic("T251", message)
    for tensor in range(graph.parameters):
        if graph.tensors[tensor].is_constant or graph.tensors[tensor].is_variable:
            what = "constant" if graph.tensors[tensor].is_constant else "variable"
            yield Diagnostic("T251", f"{_label(index, graph, tensor)} is a parameter and a {what}")
    for statement in walk(graph.body):
        yield from _statement_faults(index, model, statement)
    yield from _Scopes(index, graph).faults()


def _statement_faults(index: int, model: Model, statement: Statement) -> Iterator[Diagnostic]:
    graph = model.subgraphs[index]
    for tensor in _named(statement):
        if not 0 <= tensor < len(graph.tensors):
            message = f"a statement of function {index} names tensor {tensor}, but it has {len(graph.tensors)} tensors"
            yield Diagnostic("T231", message)
    match statement:
        case For():
            yield from _loop_faults(index, statement)
        case If(condition) if message := condition_fault(graph.tensors, condition):
            yield Diagnostic("T254", f"function {index}: {message}")
        case Access() if statement.elementwise:
            yield from _elementwise_faults(index, graph, statement)
        case Invoke(function):
            if not 0 <= function < len(model.subgraphs):
                message = f"function {index} calls function {function}, but there are {len(model.subgraphs)}"
                yield Diagnostic("T241", message)
            elif message := count_fault(model.subgraphs[function], statement):
                yield Diagnostic("T252", f"function {index} calls function {function}: {message}")


def _loop_faults(index: int, loop: For) -> Iterator[Diagnostic]:
    for count, what, minimum in ((loop.extent, "rounds", 0), (loop.workers, "workers", 1)):
        if count is not None and not minimum <= count <= MAX_BYTES:
            message = f"function {index} has a loop of {count:,} {what}"
            yield Diagnostic("T254", message, help=f"{what} are {minimum} or more, and at most {MAX_BYTES:,}")


def _elementwise_faults(index: int, graph: Subgraph, access: Access) -> Iterator[Diagnostic]:
    if len(access.writes) != 1:
        yield Diagnostic("T257", f"an element-wise store of function {index} writes {len(access.writes)} tensors")
        return
    for tensor in access.elementwise:
        if message := elementwise_fault(graph.tensors, access.reads, access.writes[0], tensor):
            yield Diagnostic("T257", f"function {index}: {message}")


def elementwise_fault(tensors: Sequence[Tensor], reads: tuple[int, ...], written: int, tensor: int) -> str:
    """Return why a store that writes one tensor cannot read another one element by element; empty if it can."""
    if not all(0 <= each < len(tensors) for each in (written, tensor)):
        return ""  # said elsewhere
    label = f'"{one_line(tensors[tensor].name)}"'
    if tensor not in reads:
        return f"{label} is read element by element, but not among what is read"
    for each in (tensors[written], tensors[tensor]):
        if known_size(each) is None or each.dtype.bits % 8:
            return f'{label} is read element by element, but the elements of "{one_line(each.name)}" are not known'
    return ""


def condition_fault(tensors: Sequence[Tensor], condition: int) -> str:
    """Return why no branch can be chosen by the first element of a tensor; empty if it can."""
    if not 0 <= condition < len(tensors):
        return ""  # said elsewhere
    tensor = tensors[condition]
    has_sense = tensor.size and (tensor.dtype is DType.BOOL or tensor.dtype.is_integer)
    if has_sense or not tensor.dtype.bits:
        return ""
    return f'a branch depends on "{one_line(tensor.name)}", whose first element is neither a bool nor an integer'


def _named(statement: Statement) -> tuple[int, ...]:
    match statement:
        case Allocate(tensor):
            return (tensor,)
        case Access(reads, writes):
            return (*reads, *writes, *statement.elementwise)
        case Invoke(_, arguments):
            return tuple(tensor for tensor in arguments if tensor is not None)
        case If(condition):
            return (condition,)
        case For():
            return ()


def count_fault(callee: Subgraph, call: Invoke) -> str:
    """Return why a call has the wrong number of arguments; empty if it has not."""
    if len(call.arguments) == callee.parameters:
        return ""
    return f"it has {callee.parameters} parameters, but gets {len(call.arguments)} arguments"


def size_fault(model: Model, caller: int, call: Invoke, demands_by_tensor: Mapping[tuple[int, int], Demand]) -> str:
    """Return which argument of a call is too small for its parameter, or one that it is passed on to; else empty."""
    for position, argument in enumerate(call.arguments):
        if argument is not None:
            parameter = model.subgraphs[call.function].tensors[position]
            size = known_size(model.subgraphs[caller].tensors[argument])
            needed = demands_by_tensor[call.function, position].size
            if size is not None and needed > size:
                has = "has" if known_size(parameter) == needed else "is handed to a function that takes"
                return f'parameter "{one_line(parameter.name)}" {has} {needed:,} bytes, but its argument has {size:,}'
    return ""


class _Scopes:
    """Tracks the tensors that are in scope at each statement."""

    def __init__(self, index: int, graph: Subgraph) -> None:
        self._index = index
        self._graph = graph
        self._allocated: set[int] = set()
        self._in_scope = {t for t, tensor in enumerate(graph.tensors) if t < graph.parameters or tensor.is_constant}

    def faults(self) -> Iterator[Diagnostic]:
        """Yield tensors that are allocated twice, or used out of scope.  A statement of None ends an allocation."""
        stack: list[tuple[Statement | None, int]] = [(statement, 0) for statement in reversed(self._graph.body)]
        while stack:
            statement, tensor = stack.pop()
            if statement is None:
                self._in_scope.discard(tensor)
                continue
            if isinstance(statement, Allocate):
                yield from self._allocate(statement)
                stack.append((None, statement.tensor))
            else:
                yield from self._use(statement)
            stack += ((inner, 0) for body in reversed(bodies(statement)) for inner in reversed(body))

    def _allocate(self, statement: Allocate) -> Iterator[Diagnostic]:
        tensor = statement.tensor
        label = _label(self._index, self._graph, tensor)
        if tensor in self._allocated or tensor in self._in_scope:
            what = "is allocated twice" if tensor in self._allocated else "is allocated, but no allocation"
            yield Diagnostic("T253", f"{label} {what}")
        if statement.provider is Provider.PLAN and known_size(self._graph.tensors[tensor]) is None:
            yield Diagnostic("T221", f"{label} is allocated, but its size is not known")
        self._allocated.add(tensor)
        self._in_scope.add(tensor)

    def _use(self, statement: Statement) -> Iterator[Diagnostic]:
        for tensor in _named(statement):
            if tensor not in self._in_scope:
                message = f"{_label(self._index, self._graph, tensor)} is used where it is not allocated"
                yield Diagnostic("T253", message)


def program_faults(model: Model) -> Iterator[Diagnostic]:
    """Yield the faults of a program as a whole; each of its functions must be valid."""
    if max(_depths(model)) > MAX_NESTING:
        yield too_deep(", those of called functions counted in")
    demands_by_tensor = demands(model)
    for function, graph in enumerate(model.subgraphs):
        for call in walk(graph.body):
            if isinstance(call, Invoke) and (message := size_fault(model, function, call, demands_by_tensor)):
                yield Diagnostic("T252", f"function {function} calls function {call.function}: {message}")
    yield from _port_faults(model.main, uses(model)[0])


def _port_faults(main: Subgraph, used: Uses) -> Iterator[Diagnostic]:
    """Yield the parameters of main that are not an input or an output, once."""
    for tensor in range(main.parameters):
        is_output = tensor in main.outputs
        if message := role_fault(main.tensors[tensor].name, is_output, tensor in used.read, tensor in used.written):
            yield Diagnostic("T255", message)
        elif (tensor in main.inputs) == is_output:
            role = "both an input and an output" if is_output else "an input, but not listed as one"
            yield Diagnostic("T255", f"{_label(0, main, tensor)} is {role}")
    ports = (*main.inputs, *main.outputs)
    for tensor in ports:
        if tensor >= main.parameters:
            yield Diagnostic("T255", f"{_label(0, main, tensor)} is an input or output, but no parameter of main")
        elif ports.count(tensor) > 1:
            yield Diagnostic("T255", f"{_label(0, main, tensor)} is an input or output more than once")


def _depths(model: Model) -> list[int]:
    """Return the nesting depth of each function, including its callees.  Raises CycleError for recursion."""
    depths: dict[int, int] = {}
    for function in callees_first(model):
        deepest, stack = 0, [(statement, 1) for statement in model.subgraphs[function].body]
        while stack:
            statement, depth = stack.pop()
            inside = depths[statement.function] if isinstance(statement, Invoke) else 0
            deepest = max(deepest, depth + inside)
            stack += ((inner, depth + 1) for body in bodies(statement) for inner in body)
        depths[function] = deepest
    return [depths[function] for function in range(len(model.subgraphs))]


def _label(index: int, graph: Subgraph, tensor: int) -> str:
    return tensor_label(index, tensor, graph.tensors[tensor].name)
