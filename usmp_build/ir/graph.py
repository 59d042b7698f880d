"""Models as graphs: what every importer makes and every pass reads.

A `Tensor` is a *value*.  It knows its type and shape and, when constant, its bytes; it knows nothing of memory.
Everything is frozen, and refers to its neighbours by index into the tuples of its `Subgraph`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from usmp_build.ir.options import Options, Parts
from usmp_build.ir.statements import Statement

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DType(Enum):
    """Element types, by TFLite's names.

    RESOURCE is a handle of four bytes, as in TensorFlow Lite Micro.  STRING and VARIANT have no fixed width: such
    tensors import, but only constant ones have a size.  A parameter of a function whose type is not told is a VARIANT.
    """

    FLOAT32 = "FLOAT32"
    FLOAT16 = "FLOAT16"
    INT32 = "INT32"
    UINT8 = "UINT8"
    INT64 = "INT64"
    BOOL = "BOOL"
    INT16 = "INT16"
    COMPLEX64 = "COMPLEX64"
    INT8 = "INT8"
    FLOAT64 = "FLOAT64"
    COMPLEX128 = "COMPLEX128"
    UINT64 = "UINT64"
    UINT32 = "UINT32"
    UINT16 = "UINT16"
    RESOURCE = "RESOURCE"
    INT4 = "INT4"
    UINT4 = "UINT4"
    INT2 = "INT2"
    BFLOAT16 = "BFLOAT16"
    FLOAT8_E4M3FN = "FLOAT8_E4M3FN"
    FLOAT8_E5M2 = "FLOAT8_E5M2"
    STRING = "STRING"
    VARIANT = "VARIANT"

    @property
    def bits(self) -> int:
        """Width of an element; less than 8 when several share a byte, 0 when it is not fixed."""
        return _BITS[self.name]

    @property
    def alignment(self) -> int:
        """The alignment in bytes that C demands of an element; a complex number's is that of its parts."""
        return max(1, self.bits // (16 if self.name.startswith("COMPLEX") else 8))

    @property
    def numpy(self) -> str:
        """The name of numpy's type; empty when numpy has none."""
        return "" if self.name in _NOT_IN_NUMPY else self.name.lower()

    @property
    def is_float(self) -> bool:
        """Whether elements are real numbers, not quantized ones."""
        return "FLOAT" in self.name

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers of whole bytes."""
        return "INT" in self.name and bool(self.numpy)


_BITS = {
    "FLOAT32": 32, "FLOAT16": 16, "INT32": 32, "UINT8": 8, "INT64": 64, "BOOL": 8, "INT16": 16, "COMPLEX64": 64,
    "INT8": 8, "FLOAT64": 64, "COMPLEX128": 128, "UINT64": 64, "UINT32": 32, "UINT16": 16, "RESOURCE": 32,
    "INT4": 4, "UINT4": 4, "INT2": 2, "BFLOAT16": 16, "FLOAT8_E4M3FN": 8, "FLOAT8_E5M2": 8,
    "STRING": 0, "VARIANT": 0,
}  # fmt: skip
_NOT_IN_NUMPY = {"STRING", "VARIANT", "RESOURCE", "INT4", "UINT4", "INT2", "BFLOAT16", "FLOAT8_E4M3FN", "FLOAT8_E5M2"}


@dataclass(frozen=True, slots=True)
class Quantization:
    """How integers stand for real numbers: `real = scale * (q - zero_point)` (TFLite's QuantizationParameters).

    One scale and zero point for all of a tensor, or one for each index along `axis`.
    """

    scales: tuple[float, ...]
    """Each is exactly a float32."""
    zero_points: tuple[int, ...]
    axis: int = 0

    @property
    def per_channel(self) -> bool:
        """Whether each index along `axis` has a scale of its own."""
        return len(self.scales) > 1


@dataclass(frozen=True)
class Tensor:
    """A value: type, shape, and for constants the bytes (little-endian, row-major)."""

    name: str
    """As the model says; any text, not unique."""
    shape: tuple[int, ...]
    dtype: DType
    quantization: Quantization | None = None
    data: bytes | None = None
    is_variable: bool = False
    """Keeps its value from one run to the next."""
    axis_separators: tuple[int, ...] | None = None
    """Where its axes are cut for memory of pages (see `ir.axes`); None: nobody says."""
    is_withheld: bool = False
    """The bytes only tell this constant from others: they are not what the model runs with."""
    resource: str = ""
    """Of a variable that operators know by name: tensors of one model that name the same one are one variable."""
    initial: bytes | None = None
    """Of a variable: what it holds before the first run; None: all its bytes are `initial_byte`."""

    @cached_property
    def elements(self) -> int:
        """The number of elements: the product of the shape, 1 for a scalar."""
        return prod(self.shape)

    @cached_property
    def size(self) -> int:
        """Bytes; elements narrower than a byte are packed.  For types of no fixed width, the bytes of the constant."""
        if not self.dtype.bits:
            return len(self.data or b"")
        return (self.elements * self.dtype.bits + 7) // 8

    @property
    def initial_byte(self) -> int:
        """Each byte of a variable of which nobody says what it holds at first: what stands for 0, as in TFLM."""
        points = self.quantization.zero_points if self.quantization else ()
        return points[0] & 0xFF if points and (self.resource or self.dtype is DType.INT8) else 0

    @property
    def is_constant(self) -> bool:
        """Whether the value is known at build time."""
        return self.data is not None

    def as_array(self) -> NDArray[np.generic]:
        """Return the constant as a numpy array of its shape.  Raises ValueError when there is none."""
        if self.data is None or not self.dtype.numpy:
            raise ValueError(f"tensor {self.name!r} has no array")
        little = np.dtype(self.dtype.numpy).newbyteorder("<")
        return np.frombuffer(self.data, little).reshape(self.shape)


SHARING = frozenset({"VIEW", "JOIN", "CUT"})
"""Kinds of operators at which nothing runs, for tensors share bytes: the output of a VIEW has those of its input, the
inputs of a JOIN are parts of its output, and the outputs of a CUT parts of its input (`options.Parts` says which)."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operation of a subgraph.  Tensors are given by index; an input left out is None."""

    kind: str
    """TFLite's name of the builtin operator ("CONV_2D"), "CUSTOM:<code>", or one of ours: "COPY" (see `ir.scopes`),
    "LOOKUP" (a table, see `options.Lookup`), and those of `SHARING`."""
    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]
    options: Options | None = None
    position: int = -1
    """Its index in the model file; rewriting keeps it, so that messages and dumps stay comparable.  Copies, which
    the file does not have, are numbered on from its last operator."""

    @property
    def runs(self) -> bool:
        """Whether anything is done when it is its turn."""
        return self.kind not in SHARING

    @property
    def shares(self) -> tuple[Share, ...]:
        """What it says of bytes that tensors share; nothing for an operator that runs."""
        source = self.inputs[0] if self.inputs else None
        offsets = self.options.offsets if isinstance(self.options, Parts) else (0,) * len(self.outputs)
        if self.kind == "JOIN":
            joined = zip(self.inputs, offsets, strict=False)
            return tuple(Share(part, self.outputs[0], offset) for part, offset in joined if part is not None)
        if self.runs or source is None:
            return ()
        return tuple(Share(part, source, offset) for part, offset in zip(self.outputs, offsets, strict=False))


class Share(NamedTuple):
    """A tensor that is bytes of another one: all of them, or some in a row."""

    part: int
    whole: int
    offset: int
    """Bytes of the whole in front of the part."""


class Home(NamedTuple):
    """Where the bytes of a tensor are in the end."""

    root: int
    """The tensor that they are of."""
    offset: int
    """Bytes of the root in front of them."""


@dataclass(frozen=True)
class Subgraph:
    """Operators in an order in which they may run, and the tensors between them."""

    name: str
    tensors: tuple[Tensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[Operator, ...]
    body: tuple[Statement, ...] = ()
    """What a function of a program does, where it is given by statements instead of operators."""
    parameters: int = 0
    """The first tensors of a function of a program: they are the bytes of what it is called with."""

    @cached_property
    def homes(self) -> dict[int, Home]:
        """Tensor that is bytes of another one → where these are in the end."""
        inside: dict[int, Home] = {}

        def home(tensor: int) -> Home:
            offset = 0
            while tensor in inside:
                tensor, more = inside[tensor]
                offset += more
            return Home(tensor, offset)

        for share in (share for op in self.operators for share in op.shares):
            part, whole = home(share.part), home(share.whole)
            if part.root != whole.root:
                inside[part.root] = Home(whole.root, whole.offset + share.offset - part.offset)
        return {tensor: home(tensor) for tensor in inside}

    @cached_property
    def roots(self) -> dict[int, int]:
        """Tensor that is bytes of another one → the one whose bytes they are in the end."""
        return {tensor: home.root for tensor, home in self.homes.items()}

    @cached_property
    def parts(self) -> frozenset[int]:
        """The tensors that are some bytes of another one, not all of them."""
        sizes = [tensor.size for tensor in self.tensors]
        return frozenset(tensor for tensor, home in self.homes.items() if sizes[tensor] < sizes[home.root])

    @cached_property
    def pitches(self) -> dict[int, int]:
        """Tensor that is channels of another one → bytes from one of its pixels to the next."""
        found: dict[int, int] = {}
        for op in self.operators:
            pitch = op.options.pitch if isinstance(op.options, Parts) else 0
            for share in op.shares if pitch else ():
                whole = self.tensors[share.whole]
                tensors = [share.part] if pitch * 8 == whole.shape[-1] * whole.dtype.bits else [share.part, share.whole]
                found.update(dict.fromkeys(tensors, pitch))
        return found

    @cached_property
    def producers(self) -> dict[int, int]:
        """tensor index → index of the operator that writes it."""
        return {t: i for i, op in enumerate(self.operators) for t in op.outputs}


@dataclass(frozen=True, slots=True)
class Port:
    """A name that a signature gives to an input or output of the main subgraph."""

    name: str
    tensor: int


@dataclass(frozen=True)
class Model:
    """One or more subgraphs, or functions of a program; the first is the one that runs."""

    name: str
    """As the manifest calls it."""
    subgraphs: tuple[Subgraph, ...]
    input_names: tuple[Port, ...] = ()
    """From the model's first signature for subgraph 0; empty when it has none."""
    output_names: tuple[Port, ...] = ()
    sha256: str = ""
    """Of the file it was read from, in hexadecimal; empty for one that was read from none."""

    @property
    def main(self) -> Subgraph:
        """The subgraph that runs."""
        return self.subgraphs[0]

    @property
    def is_program(self) -> bool:
        """Whether subgraphs are functions of statements, not graphs of operators."""
        return any(subgraph.body or subgraph.parameters for subgraph in self.subgraphs)


class TensorRef(NamedTuple):
    """A tensor of the whole firmware: which model, which subgraph, which index."""

    model: int
    subgraph: int
    tensor: int


class OperatorRef(NamedTuple):
    """An operator of the whole firmware: which model, which subgraph, which index after rewriting."""

    model: int
    subgraph: int
    operator: int


def tensor_at(models: tuple[Model, ...], ref: TensorRef) -> Tensor:
    """Look a tensor up."""
    return models[ref.model].subgraphs[ref.subgraph].tensors[ref.tensor]


def operator_at(models: tuple[Model, ...], ref: OperatorRef) -> Operator:
    """Look an operator up."""
    return models[ref.model].subgraphs[ref.subgraph].operators[ref.operator]
