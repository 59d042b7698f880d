"""Buffers to be placed, and the buffer of each tensor; offsets are assigned later.

A `StorageBuffer` is storage that one or more tensors share, scratch of one operator, or constant data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType, OperatorRef, TensorRef
from usmp_build.ir.schedule import RowRef, ScratchRef, Value
from usmp_build.units import align_up


class Kind(Enum):
    """What a buffer is for."""

    INPUT = "input"
    OUTPUT = "output"
    CONNECTION = "connection"
    INTERMEDIATE = "intermediate"
    SCRATCH = "scratch"
    VARIABLE = "variable"
    CONSTANT = "constant"


@frozen
class StorageBuffer:
    """Bytes to be placed."""

    name: str
    """Unique in the firmware: `<model>.<tensor>`."""
    kind: Kind
    models: tuple[int, ...]
    """The models that use it; several only for constants and connections: the producer first."""
    size: int
    alignment: int
    dtype: DType
    """Element type of its first tensor: views may have another one."""
    pools: tuple[int, ...]
    """The pools that it may be placed in, most preferred first."""
    reason: str
    """Why it exists, in a few words for reports."""
    data: bytes | None = None
    """The bytes of a constant."""
    stays_apart: bool = False
    """Whether a constant is excluded from deduplication: it is writable, replaceable, or a placeholder."""
    copies: int = 1
    """Number of copies within `size`, side by side and each aligned.  The workers of the outermost parallel loop divide
    them evenly, those of a nested loop divide the share of their worker, and so on; a worker uses the first of its
    share."""
    cache_line: int = 0
    """Bytes of a cache line if it must not share any, because DMA may touch it; 0: it may share them."""
    tail: int = 0
    """Most bytes behind a constant that kernels read, whatever is there; they are in its pool."""
    equals: tuple[str, ...] = ()
    """Names of equal constants that are merged into this one (see `passes.once`)."""

    @property
    def only_model(self) -> tuple[int, ...]:
        """The only model that uses it; empty if several do."""
        return self.models if len(self.models) == 1 else ()

    @property
    def extent(self) -> int:
        """Bytes that it occupies: its size, rounded up to full cache lines if it has any."""
        return align_up(self.size, self.cache_line or 1)


@frozen
class Storage:
    """All buffers, and the buffer of each tensor and scratch request.

    A tensor starts where its buffer starts, unless it has an entry in `offsets`, as parts of another tensor do.
    """

    buffers: tuple[StorageBuffer, ...]
    tensors: Mapping[TensorRef, int]
    """Every tensor that has planned bytes → index of its buffer."""
    scratch: Mapping[OperatorRef, tuple[int, ...]]
    """An operator's scratch buffers, in the order of its kernel's requests."""
    derived: Mapping[OperatorRef, tuple[int, ...]]
    """The constants that an operator's kernel derives (multipliers, tables), in the kernel's order."""
    arguments: Mapping[TensorRef, TensorRef]
    """Tensors in the caller's arrays → the input or output of the model whose array it is."""
    rows: Mapping[int, int]
    """First row of a tensor that has rows → its number of rows, which are consecutive buffers."""
    edges: Mapping[int, int] = field(default_factory=dict)
    """Tensor in one buffer that operators read or write row by row → its number of rows."""
    on_demand: tuple[TensorRef, ...] = ()
    """Tensors of unknown size: the generated code allocates them from the application at run time."""
    seals: Mapping[int, int] = field(default_factory=dict)
    """Constant pool owned by the application → its seal, the buffer at its beginning."""
    initial: Mapping[int, int] = field(default_factory=dict)
    """Variable → the constant with its initial value; in others, all initial bytes are equal."""
    repeated: int = 0
    """Bytes saved by deduplication of constants (see `passes.once`)."""
    offsets: Mapping[TensorRef, int] = field(default_factory=dict)
    """Part of another tensor → its offset in the buffer in bytes, if not 0."""
    pitches: Mapping[TensorRef, int] = field(default_factory=dict)
    """Tensor that is some channels of another one → its pixel stride in bytes."""
    transfers: frozenset[OperatorRef] = frozenset()
    """Operators whose operands another target or DMA touches, not only the processor that caches them."""

    @property
    def workspace(self) -> list[int]:
        """The buffers that are not constants."""
        return [index for index, buffer in enumerate(self.buffers) if buffer.kind is not Kind.CONSTANT]

    @property
    def constants(self) -> list[int]:
        """The buffers that are constants."""
        return [index for index, buffer in enumerate(self.buffers) if buffer.kind is Kind.CONSTANT]

    def span(self, buffer: int) -> range:
        """Return a buffer or, if it is the first row of a tensor, all rows."""
        return range(buffer, buffer + self.rows.get(buffer, 1))

    def buffers_of(self, value: Value) -> range:
        """Return the buffers of a value: all rows of a tensor that has rows; empty if no bytes are planned for it."""
        match value:
            case RowRef(tensor, row):
                rows = self.buffers_of(tensor)
                return rows[row : row + 1] if len(rows) > 1 else rows
            case TensorRef():
                buffer = self.tensors.get(value)
                return range(0) if buffer is None else self.span(buffer)
            case ScratchRef(operator, position):
                return self.span(self.scratch[operator][position])
