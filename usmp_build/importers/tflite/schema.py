"""The parts of TensorFlow Lite's schema that we read, table by table.

Tables are named as in schema.fbs.  Those of options follow from the classes that operator kinds name for them.
Defaults are the schema's, not ours.  A test compares all of it with the `tflite` package.
"""

from __future__ import annotations

from dataclasses import fields, make_dataclass
from functools import cache

from usmp_build.frozen import frozen
from usmp_build.importers.tflite import enums
from usmp_build.importers.tflite.flatbuffer import (
    Record,
    content,
    present,
    scalar,
    table,
    tables,
    text,
    union,
    vector,
)
from usmp_build.ir.options import SLOT
from usmp_build.operators.kind import StoredOptions
from usmp_build.operators.table import OPERATORS

OPTIONS: dict[str, tuple[int, StoredOptions]] = {
    kind.name: (enums.OPTIONS.index(kind.options.table), kind.options)
    for kind in OPERATORS.values()
    if kind.options and kind.options.table
}
"""Operator kind → the type that the union `builtin_options` must have, and its table.  Others are not read."""
_BY_TYPE = dict(OPTIONS.values())


@cache
def options_table(stored: StoredOptions) -> type[Record]:
    """Return the table that has the options of a kind, as the class of the options declares it."""
    declared = [
        (option.name, object, text(place.position) if place.letter == "s" else scalar(*place))
        for option in fields(stored.options)
        if (place := option.metadata.get(SLOT)) and option.name not in stored.left_out
    ]
    return make_dataclass(str(stored.table), declared, bases=(Record,))


def _table_of(type_: int) -> type[Record] | None:
    return options_table(_BY_TYPE[type_]) if type_ in _BY_TYPE else None


@frozen
class OperatorCode(Record):
    """A kind of operator that the file uses."""

    deprecated_builtin_code: int = scalar(0, "b")
    custom_code: str = text(1)
    builtin_code: int = scalar(3, "i")


@frozen
class Operator(Record):
    """An operator, which names its kind by index."""

    opcode_index: int = scalar(0, "I")
    inputs: tuple[int, ...] = vector(1, "i")
    outputs: tuple[int, ...] = vector(2, "i")
    options_type: int = scalar(3, "B")
    options: tuple[Record, ...] = union(3, _table_of)
    custom_options: tuple[int, ...] = vector(5, "B")


@frozen
class QuantizationParameters(Record):
    """Scales and zero points."""

    scale: tuple[float, ...] = vector(2, "f")
    zero_point: tuple[int, ...] = vector(3, "q")
    details_type: int = scalar(4, "B")
    quantized_dimension: int = scalar(6, "i")


@frozen
class Tensor(Record):
    """A tensor, which names its data by index."""

    shape: tuple[int, ...] = vector(0, "i")
    type: int = scalar(1, "b")
    buffer: int = scalar(2, "I")
    name: str = text(3)
    quantization: tuple[QuantizationParameters, ...] = table(4, QuantizationParameters)
    is_variable: bool = scalar(5, "?")
    is_sparse: bool = present(6)
    external_buffer: int = scalar(10, "I")


@frozen
class SubGraph(Record):
    """Tensors and operators."""

    tensors: tuple[Tensor, ...] = tables(0, Tensor)
    inputs: tuple[int, ...] = vector(1, "i")
    outputs: tuple[int, ...] = vector(2, "i")
    operators: tuple[Operator, ...] = tables(3, Operator)
    name: str = text(4)


@frozen
class Buffer(Record):
    """Data of tensors."""

    data: bytes = content(0, 1, 2)


@frozen
class TensorMap(Record):
    """A name of an input or output."""

    name: str = text(0)
    tensor_index: int = scalar(1, "I")


@frozen
class SignatureDef(Record):
    """Names of the inputs and outputs of a subgraph."""

    inputs: tuple[TensorMap, ...] = tables(0, TensorMap)
    outputs: tuple[TensorMap, ...] = tables(1, TensorMap)
    subgraph_index: int = scalar(4, "I")


@frozen
class Metadata(Record):
    """Data of any kind, under a name."""

    name: str = text(0)
    buffer: int = scalar(1, "I")


@frozen
class Model(Record):
    """The root."""

    version: int = scalar(0, "I")
    operator_codes: tuple[OperatorCode, ...] = tables(1, OperatorCode)
    subgraphs: tuple[SubGraph, ...] = tables(2, SubGraph)
    buffers: tuple[Buffer, ...] = tables(4, Buffer)
    metadata: tuple[Metadata, ...] = tables(6, Metadata)
    signature_defs: tuple[SignatureDef, ...] = tables(7, SignatureDef)
