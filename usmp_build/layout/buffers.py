"""Buffers as planned, and those that share bytes with them while both are alive."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.units import align_up


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """Another buffer that shares bytes with one while both are alive."""

    buffer: str
    bytes: int
    operator: str
    """Which touches both, and has read these bytes of the one before it writes them in the other: "CONV_2D 5"."""
    direction: str
    """"forward" or "backward": from which end it goes through its output."""
    is_lower: bool
    """Whether `separation` is that of the one below the other: both may begin at the same byte."""
    separation: int
    """Bytes, at least, from the start of the lower one to that of the other; 0 or less where that may begin first."""
    distance: int
    """The same, as planned."""


@dataclass(frozen=True, slots=True)
class BufferRow:
    """A planned buffer, for tables and for plan.json."""

    name: str
    kind: str
    models: tuple[str, ...]
    pool: str
    offset: int
    size: int
    alignment: int
    intervals: tuple[tuple[int, int], ...]
    read: int
    """Bytes, in one run of each of its models."""
    written: int
    reason: str
    scope: str
    """Who restricts the pools that it may be in; empty when nobody does."""
    kept: tuple[str, ...]
    """What keeps its data longer than its use in one run, in a few words each."""
    cache_line: int
    """Bytes of the cache lines that it shares with nothing, for DMA may touch it; 0: it may share them."""
    overlaps: tuple[OverlapRow, ...] = ()

    @property
    def end(self) -> int:
        """The first byte behind what is its own: behind its last byte, or behind its last cache line."""
        return self.offset + align_up(self.size, self.cache_line or 1)
