"""A linked image as addresses: sections and symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Extent:
    """Addresses `[start, start + size)`."""

    start: int
    size: int
    """Bytes."""

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.start + self.size

    def holds(self, other: Extent) -> bool:
        """Return whether all of `other` is in it."""
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: Extent) -> bool:
        """Return whether they have a byte in common."""
        return self.start < other.end and other.start < self.end and self.size > 0 and other.size > 0

    def __str__(self) -> str:
        return f"0x{self.start:08x}..0x{self.end:08x}"


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the image that has addresses."""

    name: str
    extent: Extent
    """Its addresses at run time."""
    load: int | None
    """The address that it is loaded from; None where no program header states it."""
    stored: bool
    """Whether the image contains its bytes; otherwise it only has addresses."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name for an address."""

    name: str
    extent: Extent
    has_bytes: bool
    """Whether it is a variable or a function: labels of linker scripts and assemblers are not."""


@dataclass(frozen=True)
class Image:
    """A linked program."""

    file: str
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    """Empty when the image was stripped."""

    @cached_property
    def named(self) -> Mapping[str, Symbol]:
        """Symbols by name; global ones take precedence over local ones, which come earlier."""
        return {symbol.name: symbol for symbol in self.symbols}

    @cached_property
    def sections_called(self) -> Mapping[str, tuple[Section, ...]]:
        """Sections that have bytes, by name."""
        sections_by_name: dict[str, list[Section]] = {}
        for section in self.sections:
            if section.extent.size:
                sections_by_name.setdefault(section.name, []).append(section)
        return {name: tuple(sections) for name, sections in sections_by_name.items()}

    def section_at(self, address: int) -> str:
        """Return the name of the section that an address is in; empty when it is in none."""
        byte = Extent(address, 1)
        return next((section.name for section in self.sections if section.extent.holds(byte)), "")
