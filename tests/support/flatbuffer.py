"""Writes .tflite files, sound and unsound ones, with the builder functions of the `tflite` package.

A file is described by `Node`s, named and filled as in schema.fbs (fields in CamelCase, as the package has them):

    Node("Tensor", Name="x", Shape=[1, 4], Type=TensorType.INT8)

Below that are short forms for what tests need most: `model(subgraph([tensor(...)], [operator(...)]))`.
"""

from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np
import tflite


class Node:
    """A table; a field `slot10=7` is an unsigned number in a slot that the package has no name for."""

    def __init__(self, table: str, **fields: Any) -> None:
        self.table = table
        self.fields = fields
        self.kind = ""
        """Of an operator from `operator`."""


def write(root: Node, identifier: bytes = b"TFL3") -> bytes:
    """Return the file.  A node or text that occurs twice is written once, and shared."""
    builder = flatbuffers.Builder(1024)
    builder.Finish(_Writer(builder).table(root), identifier)
    return bytes(builder.Output())


class _Writer:
    def __init__(self, builder: flatbuffers.Builder) -> None:
        self._builder = builder
        self._written: dict[int, int] = {}

    def table(self, node: Node) -> int:
        if id(node) not in self._written:
            values = {name: self._value(value) for name, value in node.fields.items()}
            self._builder.StartObject(64)
            for name, value in values.items():
                if name.startswith("slot"):
                    self._builder.PrependUint32Slot(int(name[4:]), value, 0)
                else:
                    getattr(tflite, f"{node.table}Add{name}")(self._builder, value)
            self._written[id(node)] = self._builder.EndObject()
        return self._written[id(node)]

    def _value(self, value: Any) -> Any:
        """Write what a field refers to and return its place; a number is its own value."""
        if isinstance(value, Node):
            return self.table(value)
        if isinstance(value, str):
            return self._builder.CreateSharedString(value)
        if isinstance(value, bytes):
            return self._builder.CreateByteVector(value)
        if not isinstance(value, (Sequence, np.ndarray)):
            return value
        if len(value) and isinstance(value[0], Node):
            return self._tables([self.table(node) for node in value])
        is_float = len(value) and isinstance(value[0], float)
        numbers = value if isinstance(value, np.ndarray) else np.array(value, np.float32 if is_float else np.int32)
        return self._builder.CreateNumpyVector(numbers)

    def _tables(self, places: list[int]) -> int:
        self._builder.StartVector(4, len(places), 4)
        for place in reversed(places):
            self._builder.PrependUOffsetTRelative(place)
        return int(self._builder.EndVector())


def tensor(name: str = "", shape: Sequence[int] = (4,), dtype: str = "INT8", **fields: Any) -> Node:
    """Return a tensor; without further fields, one that an operator or the caller writes."""
    return Node("Tensor", Name=name, Shape=list(shape), Type=getattr(tflite.TensorType, dtype), **fields)


def quantization(scales: Sequence[float], zero_points: Sequence[int] = (), axis: int = 0, **fields: Any) -> Node:
    """Return the quantization of a tensor."""
    return Node(
        "QuantizationParameters",
        Scale=np.array(scales, np.float32),
        ZeroPoint=np.array(zero_points, np.int64),
        QuantizedDimension=axis,
        **fields,
    )


def operator(
    kind: str, inputs: Sequence[int], outputs: Sequence[int], options: Node | None = None, custom: bytes = b""
) -> Node:
    """Return an operator, builtin or `CUSTOM:<code>`, with custom options; `model` gives it its operator code."""
    node = Node("Operator", Inputs=list(inputs), Outputs=list(outputs))
    node.kind = kind
    if custom:
        node.fields["CustomOptions"] = custom
    if options:
        node.fields |= {"BuiltinOptionsType": getattr(tflite.BuiltinOptions, options.table), "BuiltinOptions": options}
    return node


def subgraph(
    tensors: Sequence[Node],
    operators: Sequence[Node] = (),
    inputs: Sequence[int] = (),
    outputs: Sequence[int] = (),
    name: str = "main",
) -> Node:
    """Return a subgraph."""
    return Node("SubGraph", Tensors=tensors, Operators=operators, Inputs=list(inputs), Outputs=list(outputs), Name=name)


def model(*subgraphs: Node, data: Sequence[bytes] = (), **fields: Any) -> Node:
    """Return a model of version 3; its buffers are the empty one and then those of `data`."""
    operators = [op for node in subgraphs for op in node.fields["Operators"]]
    kinds = sorted({op.kind for op in operators if op.kind})
    for op in operators:
        if op.kind:
            op.fields["OpcodeIndex"] = kinds.index(op.kind)
    buffers = [Node("Buffer"), *(Node("Buffer", Data=part) for part in data)]
    defaults = {"OperatorCodes": [operator_code(kind) for kind in kinds], "Buffers": buffers}
    return Node("Model", **{"Version": 3, "Subgraphs": subgraphs, **defaults, **fields})


def operator_code(kind: str) -> Node:
    """Return an operator code as converters write it since there are more than 127 builtin operators."""
    if kind.startswith("CUSTOM:"):
        custom = tflite.BuiltinOperator.CUSTOM
        return Node("OperatorCode", DeprecatedBuiltinCode=custom, BuiltinCode=custom, CustomCode=kind[7:])
    number = getattr(tflite.BuiltinOperator, kind)
    return Node("OperatorCode", DeprecatedBuiltinCode=min(number, 127), BuiltinCode=number)


def identity(**fields: Any) -> Node:
    """Return the least model that does something: one RELU from tensor 0 to tensor 1."""
    main = subgraph([tensor("x"), tensor("y")], [operator("RELU", [0], [1])], [0], [1])
    return model(main, **fields)
