"""Drafts: problems as files state them, by names, unchecked, with the place of everything in the file."""

from __future__ import annotations

from dataclasses import dataclass, field

from usmp_build.document.faults import Place, Places

LONGEST_NAME = 1024


@dataclass(slots=True)
class PoolDraft:
    """A pool."""

    name: str
    limit: int | None
    place: Place


@dataclass(slots=True)
class BufferDraft:
    """A buffer, with one interval for each row it has."""

    name: str
    size: int
    place: Place
    alignment: int = 1
    pools: tuple[str, ...] = ()
    """Empty: all pools."""
    costs: tuple[int, ...] = ()
    offset: int | None = None
    intervals: list[tuple[int, int, Place]] = field(default_factory=list)
    """Start, stop, and its place in the file."""


@dataclass(slots=True)
class SeparationDraft:
    """The least distance, in bytes, from the start of `below` to that of `above` if it is above."""

    below: str
    above: str
    bytes: int
    place: Place


@dataclass(slots=True)
class Draft:
    """Everything that a file states."""

    places: Places
    pools: list[PoolDraft]
    buffers: list[BufferDraft]
    separations: list[SeparationDraft] = field(default_factory=list)
    conflicts: list[tuple[str, str, Place]] | None = None
    """None: two buffers conflict when they are alive at one step."""
