"""Reads one function of a program: names become tensors, records become statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from usmp_build.document.faults import Place
from usmp_build.document.json_text import Paths, validate
from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted, suggestion
from usmp_build.errors import Diagnostic, ModelError
from usmp_build.importers.program import records as r
from usmp_build.importers.program.sizes import Declaration, Disagreement, Sizes
from usmp_build.ir.check_body import condition_fault, elementwise_fault
from usmp_build.ir.graph import Subgraph, Tensor
from usmp_build.ir.statements import (
    LOOPS,
    MAX_NESTING,
    Access,
    Allocate,
    For,
    If,
    Invoke,
    Provider,
    Statement,
    too_deep,
)

_ANYWHERE = {"", "global", "global.workspace"}


@dataclass
class FunctionReader:
    """Reads function `name`, which stands at `place`."""

    source: Source
    sizes: Sizes
    functions: Mapping[str, int]
    """Name → number, of all functions."""
    name: str
    place: Place
    calls: list[tuple[Invoke, Place]] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    scope: dict[str, int] = field(default_factory=dict)
    """Name → tensor, as visible here."""

    def read(self, record: r.FunctionRecord) -> Subgraph:
        """Return the function.  Raises ModelError."""
        for position, parameter in enumerate(record.params):
            place = (*self.place, "params", position)
            declared = _declaration(parameter.name, parameter)
            tensor = self._declare(declared, place, self.sizes.parameter)
            if parameter.buffer is not None and parameter.buffer != parameter.name:
                self._name(parameter.buffer, tensor, (*place, "buffer"))
        body = tuple(self._body(record.body, (*self.place, "body"), 1))
        return Subgraph(self.name, tuple(self.tensors), (), (), (), body, len(record.params))

    def fault(self, code: str, message: str, place: Place, help_: str) -> ModelError:
        """Return an error at a place."""
        return ModelError(Diagnostic(code, message, Paths(self.source).span(place), help_))

    def _body(self, items: Sequence[Any], place: Place, depth: int) -> list[Statement]:
        if depth > MAX_NESTING:
            deep = too_deep()
            raise self.fault(deep.code, deep.message, place, deep.help)
        statements: list[Statement] = []
        for position, item in enumerate(items):
            at = (*place, position)
            statements += self._statements(self._record(item, at), at, depth)
        return statements

    def _record(self, item: Any, place: Place) -> r.StatementRecord:
        if not isinstance(item, dict):
            raise self.fault("T262", "a statement must be an object", place, 'for example {"op": "store", ...}')
        op = item.get("op", "")
        if isinstance(op, str) and op in r.STATEMENTS:
            return validate(r.STATEMENTS[op], item, self.source, place)
        if "op" not in item:
            message = '"op" is missing'
        else:
            message = f"there is no statement {quoted(op)}" if isinstance(op, str) else '"op" must be text in quotes'
        help_ = suggestion(op if isinstance(op, str) else "", r.STATEMENTS, "statements are")
        raise self.fault("T262", message, (*place, "op") if "op" in item else place, help_)

    def _statements(self, record: r.StatementRecord, place: Place, depth: int) -> list[Statement]:
        """Return the statements of a record: those of a constant, or of what does not matter, stand for it."""
        match record:
            case r.StoreRecord():
                return [self._store(record, place)]
            case r.CallRecord():
                return self._call(record, place)
            case r.AllocRecord() | r.AllocConstRecord():
                tensor = self._allocation(record, place)
                body = self._body(record.body, (*place, "body"), depth + 1)
                del self.scope[record.var]
                constant = isinstance(record, r.AllocConstRecord)
                return body if constant else [Allocate(tensor, tuple(body), _provider(record))]
            case r.ForRecord():
                extent, workers = self._rounds(record)
                body = self._body(record.body, (*place, "body"), depth + 1)
                return [For(LOOPS[record.kind], extent, tuple(body), workers)]
            case r.IfRecord():
                return [self._branch(record, place, depth)]
            case r.AttrRecord():
                return self._body(record.body, (*place, "body"), depth + 1)

    def _allocation(self, record: r.AllocRecord | r.AllocConstRecord, place: Place) -> int:
        declared = _declaration(record.var, record)
        if isinstance(record, r.AllocConstRecord):
            data = record.data
            return self._declare(declared, place, lambda d: self.sizes.constant(d, data, self.name))
        is_planned = _provider(record) is Provider.PLAN
        return self._declare(declared, place, self.sizes.allocation if is_planned else self.sizes.tensor)

    def _branch(self, record: r.IfRecord, place: Place, depth: int) -> If:
        condition = self._lookup(record.condition, (*place, "condition"))
        if message := condition_fault(self.tensors, condition):
            raise self.fault("T254", message, (*place, "condition"), "compute a bool or an integer, and name that")
        then, other = (
            tuple(self._body(body, (*place, key), depth + 1))
            for key, body in (("then", record.then), ("else", record.else_))
        )
        return If(condition, then, other)

    def _rounds(self, record: r.ForRecord) -> tuple[int | None, int | None]:
        """Return extent and workers.  A symbol with an upper bound may be 0, but there are no more workers."""
        extent, workers = record.extent, record.workers
        if not isinstance(extent, str):
            return extent, workers
        bound = self.sizes.upper_bounds.get(extent)
        return None, workers if bound is None else max(1, min(workers or bound, bound))

    def _store(self, record: r.StoreRecord, place: Place) -> Access:
        reads = self._named(record.reads, (*place, "reads"))
        buffer = self._lookup(record.buf, (*place, "buf"))
        near = self._named(record.elementwise, (*place, "elementwise"))
        for position, tensor in enumerate(near):
            if message := elementwise_fault(self.tensors, reads, buffer, tensor):
                help_ = 'leave it out, or give both buffers "dtype" and "extents"'
                raise self.fault("T257", message, (*place, "elementwise", position), help_)
        return Access(reads, (buffer,), record.whole, elementwise=near)

    def _call(self, record: r.CallRecord, place: Place) -> list[Statement]:
        touched = self._named(record.touches, (*place, "touches"))
        at = (*place, "args")
        arguments = tuple(None if a is None else self._lookup(a, (*at, i)) for i, a in enumerate(record.args))
        if record.fn in self.functions:
            if record.reads is not None or record.writes is not None:
                message = f"{quoted(record.fn)} is in the program: what it reads and writes is known"
                key = "reads" if record.reads is not None else "writes"
                raise self.fault("T262", message, (*place, key), 'leave "reads" and "writes" out')
            invoke = Invoke(self.functions[record.fn], arguments)
            self.calls.append((invoke, place))
            # What the call may touch at any time is touched before and after it, and so must live throughout.
            around = [Access(touched, touched, name=f"touched by {record.fn}:")] if touched else []
            return [*around, invoke, *around]
        given = tuple(tensor for tensor in arguments if tensor is not None)
        reads = given if record.reads is None else self._named(record.reads, (*place, "reads"))
        writes = given if record.writes is None else self._named(record.writes, (*place, "writes"))
        return [Access((*touched, *reads), (*touched, *writes), name=record.fn)]

    def _declare(self, declared: Declaration, place: Place, make: Callable[[Declaration], Tensor]) -> int:
        try:
            tensor = make(declared)
        except Disagreement as error:
            code, message, help_, key = error.facts
            raise self.fault(code, message, (*place, key), help_) from None
        self._name(declared.name, len(self.tensors), place)
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def _name(self, name: str, tensor: int, place: Place) -> None:
        if self.scope.setdefault(name, tensor) != tensor:
            message = f"{quoted(name)} is declared twice in one scope of function {quoted(self.name)}"
            raise self.fault("T264", message, place, "give each its own name")

    def _named(self, names: Sequence[str], place: Place) -> tuple[int, ...]:
        return tuple(self._lookup(name, (*place, position)) for position, name in enumerate(names))

    def _lookup(self, name: str, place: Place) -> int:
        if name not in self.scope:
            message = f"there is no {quoted(name)} in this scope of function {quoted(self.name)}"
            raise self.fault("T263", message, place, suggestion(name, self.scope, "there are"))
        return self.scope[name]


def _provider(record: r.AllocRecord | r.AllocConstRecord) -> Provider:
    if not isinstance(record, r.AllocRecord):
        return Provider.PLAN
    if record.on_demand:
        return Provider.APPLICATION
    is_ours = record.scope in _ANYWHERE or record.scope.startswith("global.")
    return Provider.PLAN if is_ours else Provider.FUNCTION


def _declaration(name: str, record: r.ParameterRecord | r.AllocRecord | r.AllocConstRecord) -> Declaration:
    if isinstance(record, r.AllocConstRecord):
        return Declaration(name, record.dtype, record.extents, record.bytes)
    scope = "" if record.scope in _ANYWHERE else record.scope
    return Declaration(name, record.dtype, record.extents, record.bytes, record.axis_separators, scope)
