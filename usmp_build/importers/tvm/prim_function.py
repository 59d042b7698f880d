"""Reads a lowered PrimFunc: its statements as a program has them, and its C.

A loop nest that writes one buffer and allocates none is one statement: it reads, then it writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from usmp_build.importers.tvm.element_wise import affine, is_ascending, is_same
from usmp_build.importers.tvm.expressions import Expressions, c_type
from usmp_build.importers.tvm.refusal import Refusal
from usmp_build.naming import c_identifier, c_member

Item: TypeAlias = "dict[str, Any]"
_LONGEST_NAME = 40
ARRAYS = ("local", "warp")
"""Memory scopes of what is an array of the C function: registers, or its stack."""


@dataclass
class Names:
    """C names in one function, unlike each other even after they are cut."""

    taken: set[str] = field(default_factory=set)

    def new(self, name: str) -> str:
        """Return a name like this one that nothing has yet."""
        first = c_member(c_identifier(name, _LONGEST_NAME))
        numbers = (f"{first.rstrip('_')}_{number}" for number in range(2, len(self.taken) + 3))
        chosen = next(each for each in (first, *numbers) if each not in self.taken)
        self.taken.add(chosen)
        return chosen


class PrimFunction:
    """One PrimFunc whose buffers are flat."""

    def __init__(self, function: Any) -> None:
        self._names = Names()
        self._tensors: dict[Any, str] = {}
        self._local: set[Any] = set()
        """Buffers that are arrays of the C function, not of the plan."""
        self._variables: dict[Any, str] = {}
        self._bindings: dict[Any, Any] = {}
        self._loops: list[tuple[Any, int | None]] = []
        self._print = Expressions(self._name, self._variables)
        self._lines: list[str] = []
        self._function = function

    def read(self) -> tuple[Item, Item]:
        """Return the function of the program, and its C.  Raises Refusal."""
        parameters = []
        for parameter in self._function.params:
            if not hasattr(parameter.ty, "shape"):
                raise Refusal(f"it takes the number {parameter.name}", "give main tensors of fixed sizes")
            self._tensors[parameter] = self._names.new(parameter.name)
            if type(start := parameter.ty.elem_offset).__name__ == "Var":  # of whatever is passed: here, a whole buffer
                self._variables[start] = "0"
            parameters.append({"name": self._tensors[parameter], **self._typed(parameter)})
        body = list(self._sequence(_flat(self._function.body), 1))
        choices = sorted(self._print.choices)
        code = {"text": "\n".join(self._lines), "choices": choices, "needs_math": self._print.needs_math}
        return {"params": parameters, "body": body}, code

    def _typed(self, buffer: Any) -> Item:
        c_type(buffer.ty.dtype)
        extents = []
        for extent in buffer.ty.shape:
            if type(extent).__name__ != "IntImm":
                raise Refusal(f"the size of buffer {buffer.name} varies", "give main tensors of fixed sizes")
            extents.append(int(extent))
        return {"dtype": str(buffer.ty.dtype), "extents": extents}

    def _name(self, buffer: Any) -> str:
        name = self._tensors[buffer]
        return name if buffer in self._local else f"@{name}@"

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def _sequence(self, statements: Sequence[Any], depth: int) -> Iterator[Item]:
        for position, statement in enumerate(statements):
            if type(statement).__name__ == "AllocBuffer":
                yield from self._allocation(statement.buffer, statements[position + 1 :], depth)
                return
            yield from self._statement(statement, depth)

    def _statement(self, statement: Any, depth: int) -> Iterator[Item]:
        match type(statement).__name__:
            case "DeclBuffer":
                self._view(statement)
            case "Bind":
                self._bind(statement, depth)
            case "For":
                yield from self._loop(statement, depth)
            case "IfThenElse":
                yield from self._branch(statement, depth)
            case "BufferStore":
                yield self._store(statement, depth)
            case "AttrStmt":
                yield from self._sequence(_flat(statement.body), depth)
            case "Evaluate" if type(statement.value).__name__ == "IntImm":
                pass
            case "Evaluate":
                name = getattr(next(iter(getattr(statement.value, "args", ())), None), "value", "a function")
                raise Refusal(f"it calls {name} of TVM's run time", "compute that part in the application")
            case other:
                raise Refusal(f"there is no C for {other} of TIR")

    def _view(self, statement: Any) -> None:
        """A flat view of a parameter, or another view of what has a name."""
        data = statement.data
        source = data.args[0] if type(data).__name__ == "Call" else data
        if source not in self._tensors or int(getattr(statement.buffer.ty, "elem_offset", 0) or 0):
            raise Refusal(f"buffer {statement.buffer.name} is a view of something unknown")
        self._tensors[statement.buffer] = self._tensors[source]
        if source in self._local:
            self._local.add(statement.buffer)

    def _bind(self, statement: Any, depth: int) -> None:
        self._bindings[statement.var] = statement.value
        text = self._print.text(statement.value)
        name = self._variables[statement.var] = self._names.new(statement.var.name)
        self._line(depth, f"const {c_type(statement.var.ty)} {name} = {text};")

    def _allocation(self, buffer: Any, following: Sequence[Any], depth: int) -> Iterator[Item]:
        typed, scope = self._typed(buffer), storage_scope(buffer)
        name = self._tensors[buffer] = self._names.new(buffer.name)
        if scope in ARRAYS:
            self._local.add(buffer)
            size = 1
            for extent in typed["extents"]:
                size *= extent
            self._line(depth, f"{c_type(buffer.ty.dtype)} {name}[{size}];")
        yield {"op": "alloc", "var": name, **typed, "scope": scope, "body": list(self._sequence(following, depth))}

    def _loop(self, loop: Any, depth: int) -> Iterator[Item]:
        """Yield a loop.  C runs the rounds of any kind of loop one after the other."""
        if loop.step is not None:
            raise Refusal("the step of a loop is not 1")
        if [*self._loads(loop.min), *self._loads(loop.extent)]:
            raise Refusal("how often a loop runs depends on data", "compute that part in the application")
        extent = int(loop.extent) if type(loop.extent).__name__ == "IntImm" else None
        if type(loop.min).__name__ == "IntImm" and extent is not None:
            first, end = str(int(loop.min)), str(int(loop.min) + extent)
        else:
            first = self._print.text(loop.min)
            end = f"({first}) + ({self._print.text(loop.extent)})"
        if loop.thread_binding is not None:
            raise Refusal("a loop is bound to threads of a GPU")
        name = self._variables[loop.loop_var] = self._names.new(loop.loop_var.name)
        kind = c_type(loop.loop_var.ty)
        self._line(depth, f"for ({kind} {name} = {first}; {name} < {end}; ++{name}) {{")
        self._loops.append((loop.loop_var, extent))
        inside = list(self._sequence(_flat(loop.body), depth + 1))
        self._loops.pop()
        self._line(depth, "}")
        yield from _joined(inside) or ([{"op": "for", "extent": extent, "body": inside}] if inside else [])

    def _branch(self, branch: Any, depth: int) -> Iterator[Item]:
        condition = self._reads(branch.condition)
        self._line(depth, f"if ({self._print.text(branch.condition)}) {{")
        inside = list(self._sequence(_flat(branch.then_case), depth + 1))
        if branch.else_case is not None:
            self._line(depth, "} else {")
            inside += self._sequence(_flat(branch.else_case), depth + 1)
        self._line(depth, "}")
        for item in inside:
            yield _also_reading(item, condition)

    def _store(self, store: Any, depth: int) -> Item:
        self._line(depth, f"{self._print.element(store.buffer, store.indices)} = {self._print.text(store.value)};")
        reads = self._reads(store.value) | self._reads(store.indices[0])
        index = affine(store.indices[0], self._bindings)
        target = self._tensors[store.buffer]
        others = sorted(reads - {target}) if is_ascending(index, self._loops) else []
        elementwise = [name for name in others if all(is_same(index, at) for at in self._indices(store.value, name))]
        return {"op": "store", "buf": target, "reads": sorted(reads), "elementwise": elementwise}

    def _reads(self, value: Any) -> set[str]:
        return {self._tensors[load.source] for load in self._loads(value)}

    def _indices(self, value: Any, name: str) -> Iterator[Any]:
        """Yield the indices at which an expression reads a tensor."""
        for load in self._loads(value):
            if self._tensors[load.source] == name:
                yield affine(load.indices[0], self._bindings) if len(load.indices) == 1 else None

    def _loads(self, value: Any) -> Iterator[Any]:
        """Yield what an expression loads, itself or by its variables."""
        stack = [value]
        while stack:
            value = stack.pop()
            if type(value).__name__ == "TensorLoad":
                yield value
                stack.extend(value.indices)
            elif value in self._bindings:
                stack.append(self._bindings[value])
            else:
                stack.extend(_operands(value))


def storage_scope(buffer: Any) -> str:
    """Return the name of the memory that a schedule chose for a buffer, empty or `global` for any."""
    return str(getattr(buffer.ty, "storage_scope", "") or "")


def _operands(value: Any) -> Iterator[Any]:
    names = {each.name for each in getattr(type(value), "__tvm_ffi_type_info__").fields}  # noqa: B009
    for name in ("a", "b", "value", "condition", "true_value", "false_value", "body"):
        operand = getattr(value, name) if name in names else None
        if operand is not None and hasattr(type(operand), "__tvm_ffi_type_info__"):
            yield operand
    if "args" in names:
        yield from value.args


def _flat(statement: Any) -> list[Any]:
    """Return statements in a row: what is allocated by one is there for all that follow."""
    if type(statement).__name__ != "SeqStmt":
        return [statement]
    return [each for inner in statement.seq for each in _flat(inner)]


def _joined(items: list[Item]) -> list[Item]:
    """Return one store in place of those of a loop, if these write one buffer; else nothing."""
    if not items or any(item["op"] != "store" or item["buf"] != items[0]["buf"] for item in items):
        return []
    if len(items) == 1:
        return items
    reads = sorted({name for item in items for name in item["reads"]})
    return [{"op": "store", "buf": items[0]["buf"], "reads": reads, "elementwise": []}]


def _also_reading(item: Item, names: set[str]) -> Item:
    """Return a statement that also reads what decides whether it runs."""
    if "body" in item:
        return {**item, "body": [_also_reading(inner, names) for inner in item["body"]]}
    near = [name for name in item["elementwise"] if name not in names]
    return {**item, "reads": sorted({*item["reads"], *names}), "elementwise": near}
