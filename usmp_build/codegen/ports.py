"""Inputs and outputs of a model: their C names, and C expressions for the tensors of the running code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

from usmp_build.codegen.moved_rows import Reader
from usmp_build.frozen import frozen
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.c_types import float_literal, plain_type
from usmp_build.ir.graph import Subgraph, TensorRef, tensor_at
from usmp_build.ir.ports import Names, show_type
from usmp_build.ir.storage import Kind
from usmp_build.ir.uses import alignments
from usmp_build.layout.code import BufferCode, PortRow
from usmp_build.layout.rows import RowOffsets
from usmp_build.naming import c_comment


@frozen
class Locate:
    """Locates the bytes of each tensor of one model, as a C expression inside `run`."""

    analysis: Analysis
    model: int
    prefix: str
    """The prefix of the plan's symbols."""
    buffers: Mapping[int, str]
    """Buffer → C expression."""
    buffer_codes: Mapping[int, BufferCode]
    rows: Mapping[int, int]
    """Buffers in memory of pages → elements of a row."""
    inputs: Names
    outputs: Names
    offsets: Mapping[int, RowOffsets]
    """Buffers of first rows in plain memory → offsets of all rows."""
    read: Mapping[Reader, RowOffsets] = field(default_factory=dict)
    """Inputs of operators → offsets of rows that are read elsewhere than where they were written."""
    subgraph: int = 0
    """The subgraph whose tensors are located."""

    def within(self, subgraph: int) -> Locate:
        """Return the same for the tensors of another subgraph."""
        return replace(self, subgraph=subgraph)

    def expression(self, tensor: int) -> str:
        """Return the pointer to a tensor's bytes: `t7`, or `t7 + 24` for a part that begins at element 24.

        Of a tensor that has rows in plain memory it is what their offsets start from.
        """
        ref = self._ref(tensor)
        buffer = self.analysis.storage.tensors.get(ref)
        if offsets := self.rows_of(tensor):
            return offsets.base
        if buffer is not None:
            elements = self.analysis.storage.offsets.get(ref, 0) // tensor_at(self.analysis.models, ref).dtype.alignment
            return f"{self.buffers.get(buffer, 'NULL')}{f' + {elements}' if elements else ''}"
        port = self.analysis.storage.arguments[ref].tensor
        main = self._main
        if port in main.inputs:
            return f"inputs->{self.inputs[main.inputs.index(port)]}"
        return f"outputs->{self.outputs[main.outputs.index(port)]}"

    def row(self, tensor: int) -> int:
        """Return the elements of a row where `expression` is a table of rows; else 0."""
        buffer = self.analysis.storage.tensors.get(self._ref(tensor))
        return self.rows.get(buffer, 0) if buffer is not None else 0

    def rows_of(self, tensor: int) -> RowOffsets | None:
        """Return the offsets of a tensor's rows in plain memory, if it has rows there."""
        return self.offsets.get(self.analysis.storage.tensors.get(self._ref(tensor), -1))

    def pitch(self, tensor: int) -> int:
        """Return the pixel stride, in bytes, of a tensor that is some channels of another one; else 0."""
        return self.analysis.storage.pitches.get(self._ref(tensor), 0)

    def buffer(self, buffer: int) -> str:
        """Return the pointer to a buffer that is no tensor: scratch, or a derived constant."""
        return self.buffers.get(buffer, "NULL")

    def input_rows(self) -> tuple[PortRow, ...]:
        """Describe the inputs."""
        return tuple(self._row(tensor, name) for tensor, name in zip(self._main.inputs, self.inputs, strict=True))

    def output_rows(self) -> tuple[PortRow, ...]:
        """Describe the outputs."""
        return tuple(self._row(tensor, name) for tensor, name in zip(self._main.outputs, self.outputs, strict=True))

    def _ref(self, tensor: int) -> TensorRef:
        return TensorRef(self.model, self.subgraph, tensor)

    @property
    def _main(self) -> Subgraph:
        return self.analysis.models[self.model].main

    def _row(self, index: int, name: str) -> PortRow:
        model = self.analysis.models[self.model]
        tensor = model.main.tensors[index]
        scale, zero_point = "", 0
        if tensor.quantization and not tensor.quantization.per_channel:
            scale = float_literal(tensor.quantization.scales[0])
            zero_point = tensor.quantization.zero_points[0]
        return PortRow(
            name=name,
            macro=f"{model.name}_{name}".upper(),
            c_type=plain_type(tensor.dtype),
            size=tensor.size,
            elements=tensor.elements,
            shape=tensor.shape,
            alignment=self._alignments.get((0, index), tensor.dtype.alignment),
            comment=c_comment(f"{show_type(tensor)}  {tensor.name}"),
            scale=scale,
            zero_point=zero_point,
            expression=self._address(index),
            cache_line=self._cache_line(index),
            is_connected=TensorRef(self.model, 0, index) in {c.consumer for c in self.analysis.connections},
            rows=len(offsets.entries) if (offsets := self.rows_of(index)) else 0,
        )

    def _cache_line(self, tensor: int) -> int:
        """Return the bytes of a cache line where DMA may transfer a tensor that the processor caches; else 0."""
        buffer = self.analysis.storage.tensors.get(TensorRef(self.model, 0, tensor), -1)
        rows, code = self.rows_of(tensor), self.buffer_codes.get(buffer)
        pool = rows.pools[0] if rows else code.pool if code else None
        return pool.cache_line if pool and self.analysis.storage.buffers[buffer].cache_line else 0

    @cached_property
    def _alignments(self) -> Mapping[tuple[int, int], int]:
        """The alignments, in bytes, that the functions of a program require of their arguments."""
        return alignments(self.analysis.models[self.model])

    def _address(self, tensor: int) -> str:
        """Return the address of a port in a pool, outside `run`."""
        buffer = self.analysis.storage.tensors.get(TensorRef(self.model, 0, tensor))
        if buffer is None:
            return ""
        if self.analysis.storage.buffers[buffer].kind is Kind.CONSTANT:
            return self.buffers.get(buffer, "NULL")
        code = self.buffer_codes.get(buffer)
        return f"{code.pool.base} + {code.macro}_OFFSET" if code else "NULL"
