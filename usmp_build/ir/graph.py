"""Models as graphs of operators and tensors: produced by importers, transformed by passes.

A `Tensor` is a *value*.  It knows its type and shape and, when constant, its bytes; it knows nothing of memory.
Everything is frozen, and refers to its neighbors by index into the tuples of its `Subgraph`.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from usmp_build.frozen import frozen
from usmp_build.ir.options import Options, Parts
from usmp_build.ir.statements import Code, Statement

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DType(Enum):
    """Element types, by TFLite's names.

    RESOURCE is a handle of four bytes, as in TensorFlow Lite Micro.  STRING and VARIANT have no fixed width: such
    tensors import, but only constant ones have a size.  A parameter of a function without a declared type is a VARIANT.
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
        """Bits of an element; less than 8 if several share a byte, 0 if the width is not fixed."""
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


@frozen
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


@frozen
class Tensor:
    """A value: type, shape, and for constants the bytes (little-endian, row-major)."""

    name: str
    """Name in the model; any text, not unique."""
    shape: tuple[int, ...]
    dtype: DType
    quantization: Quantization | None = None
    data: bytes | None = None
    is_variable: bool = False
    """Whether it keeps its value from one run to the next."""
    axis_separators: tuple[int, ...] | None = None
    """Where its axes are cut for memory of pages (see `ir.axes`); None: not given by the model."""
    is_withheld: bool = False
    """Whether the bytes are a placeholder that only distinguishes this constant from others."""
    resource: str = ""
    """Name of a variable that operators access by name: all its tensors in a model are one variable."""
    initial: bytes | None = None
    """Value of a variable before the first run; None: all its bytes are `initial_byte`."""
    memory_scope: str = ""
    """Name of the memory that the model's compiler chose for it; empty: any."""

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
        """Initial value of each byte of a variable without `initial`: the byte that represents 0, as in TFLM."""
        points = self.quantization.zero_points if self.quantization else ()
        return points[0] & 0xFF if points and (self.resource or self.dtype is DType.INT8) else 0

    @property
    def is_constant(self) -> bool:
        """Whether the value is known at build time."""
        return self.data is not None

    def as_array(self) -> NDArray[np.generic]:
        """Return the constant as a numpy array of its shape.  Raises ValueError if it has none."""
        if self.data is None or not self.dtype.numpy:
            raise ValueError(f"tensor {self.name!r} has no array")
        little = np.dtype(self.dtype.numpy).newbyteorder("<")
        return np.frombuffer(self.data, little).reshape(self.shape)


SHARING = frozenset({"VIEW", "JOIN", "CUT"})
"""Kinds of operators that run nothing, because their tensors share bytes: the output of a VIEW has those of its input,
the inputs of a JOIN are parts of its output, and the outputs of a CUT parts of its input (see `options.Parts`)."""


@frozen
class Operator:
    """One operation of a subgraph.  Tensors are given by index; an omitted input is None."""

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
        """Whether it executes anything."""
        return self.kind not in SHARING

    @property
    def shares(self) -> tuple[Share, ...]:
        """The pairs of tensors that share bytes because of it; empty for an operator that runs."""
        source = self.inputs[0] if self.inputs else None
        offsets = self.options.offsets if isinstance(self.options, Parts) else (0,) * len(self.outputs)
        if self.kind == "JOIN":
            joined = zip(self.inputs, offsets, strict=False)
            return tuple(Share(part, self.outputs[0], offset) for part, offset in joined if part is not None)
        if self.runs or source is None:
            return ()
        return tuple(Share(part, source, offset) for part, offset in zip(self.outputs, offsets, strict=False))


class Share(NamedTuple):
    """A tensor inside another one: all of its bytes, or some of them."""

    part: int
    whole: int
    offset: int
    """Offset of the part in the whole, in bytes."""


class Home(NamedTuple):
    """The outermost tensor that contains a tensor's bytes, and where."""

    root: int
    """The outermost tensor."""
    offset: int
    """Offset in the root, in bytes."""


@frozen
class Subgraph:
    """Operators in an order in which they may run, and the tensors between them; or a function of a program.

    A function has statements and no operators, a graph has operators and no statements: passes go through both, and
    need not ask which it is.
    """

    name: str
    tensors: tuple[Tensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[Operator, ...]
    body: tuple[Statement, ...] = ()
    """Statements of a function."""
    parameters: int = 0
    """Number of parameters of a function: its first tensors, which share the bytes of the arguments."""
    code: Code | None = None
    """C of a function; None: the application supplies it."""

    @cached_property
    def homes(self) -> dict[int, Home]:
        """Tensor inside another one → its home in the outermost tensor."""
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
        """Tensor inside another one → the outermost tensor, its root."""
        return {tensor: home.root for tensor, home in self.homes.items()}

    def root(self, tensor: int) -> int:
        """Return the outermost tensor that contains a tensor's bytes: itself, if it is inside no other one."""
        return self.roots.get(tensor, tensor)

    @cached_property
    def parts(self) -> frozenset[int]:
        """The tensors that are smaller than their root."""
        sizes = [tensor.size for tensor in self.tensors]
        return frozenset(tensor for tensor, home in self.homes.items() if sizes[tensor] < sizes[home.root])

    @cached_property
    def pitches(self) -> dict[int, int]:
        """Tensor that is some channels of another one → its pixel stride in bytes."""
        pitch_of_tensor: dict[int, int] = {}
        for op in self.operators:
            pitch = op.options.pitch if isinstance(op.options, Parts) else 0
            for share in op.shares if pitch else ():
                whole = self.tensors[share.whole]
                tensors = [share.part] if pitch * 8 == whole.shape[-1] * whole.dtype.bits else [share.part, share.whole]
                pitch_of_tensor.update(dict.fromkeys(tensors, pitch))
        return pitch_of_tensor

    @cached_property
    def producers(self) -> dict[int, int]:
        """tensor index → index of the operator that writes it."""
        return {t: i for i, op in enumerate(self.operators) for t in op.outputs}


@frozen
class Port:
    """A name that a signature gives to an input or output of the main subgraph."""

    name: str
    tensor: int


@frozen
class CompilerPlan:
    """What the compiler of a program would allocate itself, in bytes, without inputs and outputs."""

    compiler: str
    tensors: int
    """Of main."""
    functions: int
    """In the function that allocates most; the others reuse it."""


@frozen
class Model:
    """One or more subgraphs, or functions of a program; the first is the one that runs."""

    name: str
    """Name in the manifest."""
    subgraphs: tuple[Subgraph, ...]
    input_names: tuple[Port, ...] = ()
    """From the model's first signature for subgraph 0; empty if it has none."""
    output_names: tuple[Port, ...] = ()
    sha256: str = ""
    """SHA-256 of the model file, in hexadecimal; empty if it was not read from a file."""
    compiler_plan: CompilerPlan | None = None
    """To compare with; None: unknown."""
    notes: tuple[str, ...] = ()
    """What the import lost of the file, and its user would not see: clauses."""

    @property
    def main(self) -> Subgraph:
        """The subgraph that runs."""
        return self.subgraphs[0]

    @property
    def is_program(self) -> bool:
        """Whether subgraphs are functions, not graphs."""
        return any(subgraph.body or subgraph.parameters for subgraph in self.subgraphs)


class TensorRef(NamedTuple):
    """A tensor of the firmware: which model, which subgraph, which index."""

    model: int
    subgraph: int
    tensor: int


class OperatorRef(NamedTuple):
    """An operator of the firmware: which model, which subgraph, which index after rewriting."""

    model: int
    subgraph: int
    operator: int


def tensor_at(models: tuple[Model, ...], ref: TensorRef) -> Tensor:
    """Return the tensor that a reference names."""
    return models[ref.model].subgraphs[ref.subgraph].tensors[ref.tensor]


def operator_at(models: tuple[Model, ...], ref: OperatorRef) -> Operator:
    """Return the operator that a reference names."""
    return models[ref.model].subgraphs[ref.subgraph].operators[ref.operator]
