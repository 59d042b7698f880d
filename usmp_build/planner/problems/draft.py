"""A problem as a file states it: by names, unchecked, with the place of everything."""

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
    """Empty: all there are."""
    costs: tuple[int, ...] = ()
    offset: int | None = None
    intervals: list[tuple[int, int, Place]] = field(default_factory=list)
    """Start, stop, and where that stands."""


@dataclass(slots=True)
class SeparationDraft:
    """How far `above` must start behind the start of `below` if it is above it."""

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
