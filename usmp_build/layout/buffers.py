"""Buffers as planned, and those that share bytes with them while both are alive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from usmp_build.layout.record import Record
from usmp_build.units import align_up


@dataclass(frozen=True, slots=True)
class OverlapRecord(Record):
    """Another buffer that shares bytes with one while both are alive."""

    buffer: str
    bytes: int
    operator: str
    """Which touches both: its kind, and its position in the model's file ("CONV_2D 5").  It has read these bytes of the
    one buffer, or needs them as scratch no more, before it writes them in the other."""
    direction: Literal["forward", "backward"]
    """From which end the operator goes through its output."""


@dataclass(frozen=True, slots=True)
class OverlapRow(OverlapRecord):
    """The same, and what keeps the two from sharing more."""

    is_lower: bool
    """Whether `separation` is that of the one below the other: both may begin at the same byte."""
    separation: int
    """Bytes, at least, from the start of the lower one to that of the other; 0 or less where that may begin first."""
    distance: int
    """The same, as planned."""


@dataclass(frozen=True, slots=True)
class BufferRecord(Record):
    """A buffer and its place."""

    name: str
    model: str
    """The model that uses it; the first one for a shared constant, the producer for a connection."""
    shared_with: tuple[str, ...]
    """Further models that read this constant or connection."""
    kind: Literal["input", "output", "connection", "intermediate", "scratch", "variable", "constant"]
    pool: str
    offset: int
    size: int
    alignment: int
    intervals: tuple[tuple[int, int], ...]
    """Half-open steps [start, stop) in which it holds data, on the timeline `steps`."""
    read: int
    """Bytes that kernels read of it in one run of each of its models; what is read again counts again."""
    written: int
    """Bytes that kernels write to it in one run of each of its models."""
    reason: str
    """Why it exists."""
    cache_line: int
    """Bytes of the cache lines that it shares with nothing, for DMA may touch it; 0: it may share them."""
    overlaps: tuple[OverlapRecord, ...]
    """Buffers that share bytes with it at a step at which both are alive."""


@dataclass(frozen=True, slots=True)
class BufferRow(BufferRecord):
    """The same, and what explains it."""

    overlaps: tuple[OverlapRow, ...]
    scope: str
    """What restricts the pools that it may be in; empty when nothing does."""
    kept: tuple[str, ...]
    """What keeps its data longer than its use in one run, in a few words each."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models that use it."""
        return (self.model, *self.shared_with)

    @property
    def end(self) -> int:
        """The first byte after it: after its last byte, or after its last cache line."""
        return self.offset + align_up(self.size, self.cache_line or 1)
