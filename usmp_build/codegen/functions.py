"""Describes the functions of a program: prototypes, buffers that they use, and C where it is generated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from usmp_build.codegen.function_names import function_names
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.c_types import plain_type, pool_type
from usmp_build.ir.graph import Model, Subgraph, Tensor, TensorRef
from usmp_build.ir.ports import show_type
from usmp_build.ir.statements import Code, Invoke, walk
from usmp_build.ir.storage import Kind
from usmp_build.ir.uses import Uses, callees_first, uses
from usmp_build.layout.code import BufferCode, TableCode
from usmp_build.layout.functions import FunctionCode, MemberRow, ParameterRow
from usmp_build.naming import c_comment, c_member, unique

Forms = Mapping[tuple[int, int], set[bool]]
"""(function, tensor) → whether it is a table of rows; a parameter may be both, in different calls."""


@frozen
class Functions:
    """The functions of one program, and what their C depends on."""

    analysis: Analysis
    index: int
    buffer_codes: Mapping[int, BufferCode]
    tables: Mapping[int, TableCode]
    constants: Mapping[int, str]
    """Buffer → C expression."""

    def code(self) -> Mapping[int, FunctionCode]:
        """Describe the functions that main calls, itself or through others, by number."""
        return {function: self._function(function, name) for function, name in self._names.items()}

    @property
    def _model(self) -> Model:
        return self.analysis.models[self.index]

    @cached_property
    def _names(self) -> Mapping[int, str]:
        return function_names(self._model)

    @cached_property
    def _uses(self) -> Mapping[int, Uses]:
        return uses(self._model) if self._names else {}

    @cached_property
    def _forms(self) -> Forms:
        return forms(self.analysis, self.index) if self._names else {}

    def _function(self, function: int, name: str) -> FunctionCode:
        graph = self._model.subgraphs[function]
        refs = [TensorRef(self.index, function, t) for t in range(len(graph.tensors))]
        stored = [ref for ref in refs[graph.parameters :] if ref in self.analysis.storage.tensors]
        members = unique(c_member(graph.tensors[ref.tensor].name) for ref in stored)
        parameters = unique(c_member(tensor.name) for tensor in graph.tensors[: graph.parameters])
        names = dict(enumerate(parameters)) | {ref.tensor: member for ref, member in zip(stored, members, strict=True)}
        symbol = f"{self._model.name}_{name}"
        return FunctionCode(
            name=symbol,
            comment=c_comment(graph.name),
            parameters=tuple(self._parameter(function, t, parameter) for t, parameter in enumerate(parameters)),
            members=tuple(self._member(ref, symbol, member) for ref, member in zip(stored, members, strict=True)),
            on_demand=tuple(
                c_comment(graph.tensors[ref.tensor].name)
                for ref in self.analysis.storage.on_demand
                if ref[:2] == (self.index, function)
            ),
            body=_body(graph, names),
        )

    def choices(self) -> tuple[tuple[str, str], ...]:
        """Return the functions of two numbers that generated functions call."""
        return tuple(sorted({choice for code in self._codes() for choice in code.choices}))

    def call_math(self) -> bool:
        """Tell whether generated functions call those of <math.h>."""
        return any(code.needs_math for code in self._codes())

    def _codes(self) -> list[Code]:
        codes = (self._model.subgraphs[function].code for function in self._names)
        return [code for code in codes if code is not None]

    def _parameter(self, function: int, tensor: int, name: str) -> ParameterRow:
        """Return a parameter, which is const unless the function writes to it."""
        declared = self._model.subgraphs[function].tensors[tensor]
        return ParameterRow(
            element=pool_type(declared.dtype) if declared.dtype.bits else "void",
            name=name,
            is_const=tensor not in self._uses[function].written,
            is_table=True in self._forms.get((function, tensor), ()),
        )

    def _member(self, ref: TensorRef, function: str, name: str) -> MemberRow:
        buffer = self.analysis.storage.tensors[ref]
        tensor = self._model.subgraphs[ref.subgraph].tensors[ref.tensor]
        comment = f"{show_type(tensor)}, {tensor.size:,} bytes"
        if self.analysis.storage.buffers[buffer].kind is Kind.CONSTANT:
            c_type = f"const {plain_type(tensor.dtype)} *"
            return MemberRow(c_type, name, c_comment(comment), self.constants.get(buffer, "NULL"))
        macro = f"{function}_{name}".upper()
        table = self.tables.get(buffer)
        if table is not None:
            rows = self.analysis.axes[ref].rows
            comment += f", in rows of {table.elements}"
            stride = (f"{macro}_ROWS", rows) if len(table.rows) > rows else None
            if stride:
                comment += f"; {len(table.rows) // rows:,} copies, one for each worker, {rows:,} rows apart"
            return MemberRow(f"{table.c_type} *const *", name, c_comment(comment), table.symbol, stride)
        code = self.buffer_codes.get(buffer)
        c_type = f"{pool_type(tensor.dtype)} *"
        where = f"({c_type})(void *)({code.pool.base} + {code.macro}_OFFSET)" if code else "NULL"
        stride = self._stride(buffer, tensor, macro)
        if stride:
            copies = self.analysis.storage.buffers[buffer].copies
            comment += f"; {copies:,} copies, one for each worker, {stride[1]:,} bytes apart"
        return MemberRow(c_type, name, c_comment(comment), where, stride)

    def _stride(self, buffer: int, tensor: Tensor, macro: str) -> tuple[str, int] | None:
        """Return the bytes from one copy of a worker to the next, and the macro for it; None for a single copy."""
        stored = self.analysis.storage.buffers[buffer]
        if stored.copies == 1:
            return None
        return f"{macro}_STRIDE", (stored.size - tensor.size) // (stored.copies - 1)


def _body(graph: Subgraph, names: Mapping[int, str]) -> str:
    """Return the C of a function; an allocation that no statement touches is none of its names."""
    parts = graph.code.parts if graph.code is not None else ()
    return "".join(names[part] if isinstance(part, int) else part for part in parts)


def forms(analysis: Analysis, index: int) -> Forms:
    """Follow every tensor of a program from its storage to all parameters that it is passed to."""
    model = analysis.models[index]
    forms_: dict[tuple[int, int], set[bool]] = {}
    for function in reversed([*callees_first(model)]):
        graph = model.subgraphs[function]
        for tensor in range(len(graph.tensors)):
            if function == 0 or tensor >= graph.parameters:
                buffer = analysis.storage.tensors.get(TensorRef(index, function, tensor))
                forms_[function, tensor] = {buffer in analysis.storage.rows}
        for call in walk(graph.body):
            if isinstance(call, Invoke):
                for parameter, argument in enumerate(call.arguments):
                    if argument is not None:
                        passed = forms_.get((function, argument), set())
                        forms_.setdefault((call.function, parameter), set()).update(passed)
    return forms_
