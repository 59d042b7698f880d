"""Inputs and outputs of a model: their C names, and where each tensor is for the code that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from usmp_build.arrange.c_types import float_literal, plain_type
from usmp_build.document.suggest import suggestion
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.interfaces.analysis import Analysis
from usmp_build.ir.graph import Model, Tensor, TensorRef
from usmp_build.ir.storage import Kind
from usmp_build.ir.uses import alignments
from usmp_build.layout import Place, PortRow
from usmp_build.naming import c_comment, c_identifier, short_name, unique
from usmp_build.request import ModelRequest

Names = dict[int, str]
"""Tensor index → C name."""


def ports(request: ModelRequest, model: Model, pools: tuple[str, ...]) -> tuple[Names, Names]:
    """Name the inputs and outputs: as the manifest says, else as the signature does, else as the tensor is called.

    `pools` are the names of all pools.  Raises ManifestError for a name in the manifest that is not one of them.
    """
    signature = _signature(model)
    main = model.main
    known = {main.tensors[t].name for t in (*main.inputs, *main.outputs)} | set(signature.values())
    for key in sorted(request.names.keys() - known):
        message = f'model "{request.name}" has no input or output called "{key}"'
        hint = suggestion(key, sorted(known), "it has")
        raise ManifestError(Diagnostic("P304", message, request.names_span, hint))
    return _name(model, request.names, pools)


def default_names(model: Model) -> tuple[Names, Names]:
    """Name the inputs and outputs of a model of which no manifest says anything."""
    return _name(model, {}, ())


def _name(model: Model, wanted: Mapping[str, str], pools: tuple[str, ...]) -> tuple[Names, Names]:
    main, signature = model.main, _signature(model)
    names = []
    for tensor in (*main.inputs, *main.outputs):
        keys = (main.tensors[tensor].name, signature.get(tensor, ""))
        given = next((wanted[key] for key in keys if key in wanted), "")
        names.append(given or _default_name(main.tensors[tensor], signature.get(tensor)))
    distinct = _unlike(names, pools)
    count = len(main.inputs)
    return dict(zip(main.inputs, distinct[:count], strict=True)), dict(enumerate(distinct[count:]))


def _signature(model: Model) -> dict[int, str]:
    return {port.tensor: port.name for port in (*model.input_names, *model.output_names)}


def _default_name(tensor: Tensor, signature: str | None) -> str:
    return c_identifier(signature or short_name(tensor.name).removesuffix(":0"), 32)


def _unlike(names: list[str], pools: tuple[str, ...]) -> list[str]:
    """Make names distinct even in capitals, for their macros, and unlike the macros of pools.

    "x" and "X" become "x" and "X_2".
    """
    taken = [f"{pool}_{kind}_pool".upper() for pool in pools for kind in ("workspace", "constant")]
    numbered = unique([*taken, *(name.upper() for name in names)])[len(taken) :]
    return [name + big[len(name) :] for name, big in zip(names, numbered, strict=True)]


@dataclass(frozen=True)
class Locate:
    """Where the bytes of each tensor of one model are, as a C expression inside `run`."""

    analysis: Analysis
    model: int
    prefix: str
    """Of the plan's symbols."""
    buffers: Mapping[int, str]
    """Buffer → expression."""
    places: Mapping[int, Place]
    rows: Mapping[int, int]
    """Buffers in memory of pages → elements of a row."""
    inputs: Names
    """By tensor."""
    outputs: Names
    """By position among the outputs."""

    def expression(self, tensor: int) -> str:
        """Return the pointer to a tensor's bytes."""
        ref = TensorRef(self.model, 0, tensor)
        buffer = self.analysis.storage.tensors.get(ref)
        if buffer is not None:
            return self.buffers.get(buffer, "NULL")
        port = self.analysis.storage.arguments[ref].tensor
        if port in self.inputs:
            return f"inputs->{self.inputs[port]}"
        return f"outputs->{self.outputs[self.analysis.models[self.model].main.outputs.index(port)]}"

    def row(self, tensor: int) -> int:
        """Return the elements of a row where `expression` is a table of rows; else 0."""
        buffer = self.analysis.storage.tensors.get(TensorRef(self.model, 0, tensor))
        return self.rows.get(buffer, 0) if buffer is not None else 0

    def buffer(self, buffer: int) -> str:
        """Return the pointer to a buffer that is no tensor: scratch, or a derived constant."""
        return self.buffers.get(buffer, "NULL")

    def input_rows(self) -> tuple[PortRow, ...]:
        """Describe the inputs."""
        return tuple(self._row(tensor, name) for tensor, name in self.inputs.items())

    def output_rows(self) -> tuple[PortRow, ...]:
        """Describe the outputs."""
        tensors = self.analysis.models[self.model].main.outputs
        return tuple(self._row(tensors[position], name) for position, name in self.outputs.items())

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
            alignment=self._alignments.get((0, index), tensor.dtype.alignment),
            comment=c_comment(f"{show_type(tensor)}  {tensor.name}"),
            scale=scale,
            zero_point=zero_point,
            expression=self._address(index),
        )

    @cached_property
    def _alignments(self) -> Mapping[tuple[int, int], int]:
        """What the functions of a program demand of what they are called with."""
        model = self.analysis.models[self.model]
        return alignments(model) if model.is_program else {}

    def _address(self, tensor: int) -> str:
        """Where a port in a pool is, outside `run`."""
        buffer = self.analysis.storage.tensors.get(TensorRef(self.model, 0, tensor))
        if buffer is None:
            return ""
        if self.analysis.storage.buffers[buffer].kind is Kind.CONSTANT:
            return self.buffers.get(buffer, "NULL")
        place = self.places.get(buffer)
        return f"{place.pool.symbol} + {place.macro}_OFFSET" if place else "NULL"


def show_type(tensor: Tensor) -> str:
    """Write type and shape: `int8[1,49,10,1]`."""
    return f"{tensor.dtype.name.lower()}[{','.join(map(str, tensor.shape))}]"
