"""Which bytes tensors live in: values become buffers here, places come later.

A `StorageBuffer` is storage that one or more tensors share, or scratch of one operator, or constant data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from usmp_build.ir.graph import DType, OperatorRef, TensorRef
from usmp_build.ir.schedule import ScratchRef
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


@dataclass(frozen=True, slots=True)
class StorageBuffer:
    """Bytes to be placed."""

    name: str
    """Unique in the whole firmware: `<model>.<tensor>`."""
    kind: Kind
    models: tuple[int, ...]
    """Who uses it; more than one only for constants and connections: the producer first."""
    size: int
    alignment: int
    dtype: DType
    """What it holds, or what its first tensor holds: views may read it as something else."""
    pools: tuple[int, ...]
    """The pools that it may be placed in, most preferred first."""
    reason: str
    """Why it exists, in a few words for reports."""
    data: bytes | None = None
    """The bytes of a constant."""
    stays_apart: bool = False
    """Of a constant: never one with equal ones, for it is written to, may be exchanged, or only stands for others."""
    copies: int = 1
    """Side by side within `size`, each aligned.  The workers of the outermost parallel loop divide them evenly, those
    of a loop within one worker divide its share, and so on; the first of what is left is a worker's own."""
    cache_line: int = 0
    """Bytes of the cache lines that it shares with nothing, for DMA may touch it; 0: it may share them."""
    equals: tuple[str, ...] = ()
    """Of a constant: the names of equal ones that are stored as this one (see `passes.once`)."""

    @property
    def only_model(self) -> tuple[int, ...]:
        """The only model that uses it; empty when several do, whichever they are."""
        return self.models if len(self.models) == 1 else ()

    @property
    def extent(self) -> int:
        """Bytes that are its own: its size, in whole cache lines where it has such."""
        return align_up(self.size, self.cache_line or 1)


@dataclass(frozen=True)
class Storage:
    """The buffers, and which one each tensor and each scratch request is in.

    A tensor starts where its buffer starts, unless `offsets` says otherwise: parts of another tensor do not.
    """

    buffers: tuple[StorageBuffer, ...]
    tensors: Mapping[TensorRef, int]
    """Every tensor that has planned bytes → index of its buffer."""
    scratch: Mapping[OperatorRef, tuple[int, ...]]
    """An operator's scratch buffers, in the order in which its kernel asks for them."""
    derived: Mapping[OperatorRef, tuple[int, ...]]
    """The constants that an operator's kernel derives (multipliers, tables), in the kernel's order."""
    arguments: Mapping[TensorRef, TensorRef]
    """Tensors in the caller's arrays → the input or output of the model whose array it is."""
    rows: Mapping[int, int]
    """The first row of a tensor in memory of pages → how many rows it has: they are buffers in a row."""
    on_demand: tuple[TensorRef, ...] = ()
    """Tensors of unknown size: whoever runs the model gets memory from the application, and gives it back."""
    seals: Mapping[int, int] = field(default_factory=dict)
    """Constant pools of the application → the buffer at their beginning that says which code they belong to."""
    initial: Mapping[int, int] = field(default_factory=dict)
    """Variable → the constant that it holds at first; others begin with all bytes alike."""
    repeated: int = 0
    """Bytes of constants that are not here, because others hold the same (see `passes.once`)."""
    offsets: Mapping[TensorRef, int] = field(default_factory=dict)
    """Parts of another tensor → bytes of the buffer in front of them, where there are any."""
    pitches: Mapping[TensorRef, int] = field(default_factory=dict)
    """Tensors that are channels of another one → bytes from one pixel to the next."""
    transfers: frozenset[OperatorRef] = frozenset()
    """Operators whose operands somebody else touches than the processor that caches them: another target, or DMA."""

    @property
    def workspace(self) -> list[int]:
        """The buffers that are no constants."""
        return [index for index, buffer in enumerate(self.buffers) if buffer.kind is not Kind.CONSTANT]

    @property
    def constants(self) -> list[int]:
        """The others."""
        return [index for index, buffer in enumerate(self.buffers) if buffer.kind is Kind.CONSTANT]

    def span(self, buffer: int) -> range:
        """Return a buffer, or all rows of the tensor of which it is the first."""
        return range(buffer, buffer + self.rows.get(buffer, 1))

    def buffer_of(self, value: TensorRef | ScratchRef) -> int | None:
        """Return the buffer that a value is in; None when no bytes are planned for it."""
        if isinstance(value, TensorRef):
            return self.tensors.get(value)
        return self.scratch[value.operator][value.position]
