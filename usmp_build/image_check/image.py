"""A linked image as addresses: sections and symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from usmp_build.frozen import frozen


@frozen
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


@frozen
class Section:
    """A section of the image that has addresses."""

    name: str
    extent: Extent
    """Its addresses at run time."""
    load: int | None
    """The address that it is loaded from; None where no program header states it."""
    stored: bool
    """Whether the image contains its bytes; otherwise it only has addresses."""
    is_code: bool = False
    """Whether the processor may execute it."""
    data: bytes | memoryview = b""
    """Its bytes, if they are stored."""


@frozen
class Symbol:
    """A name for an address."""

    name: str
    extent: Extent
    has_bytes: bool
    """Whether it is a variable or a function: labels of linker scripts and assemblers are not."""


@frozen
class Image:
    """A linked program."""

    file: str
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    """Empty when the image was stripped."""
    machine: int = 0
    """The processor's number in ELF files."""
    entry: int = 0
    """The address of ENTRY of the linker script; odd where it is Thumb code."""
    segments: tuple[Extent, ...] = ()
    """What is loaded, each in one piece, by the addresses that it is loaded from."""

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

    def section_at(self, address: int) -> Section | None:
        """Return the section that an address is in."""
        byte = Extent(address, 1)
        return next((section for section in self.sections if section.extent.holds(byte)), None)

    def word(self, address: int) -> int | None:
        """Return the 32 bits that the image has for an address; None where it has none."""
        word = Extent(address, 4)
        section = next((section for section in self.sections if section.stored and section.extent.holds(word)), None)
        if section is None:
            return None
        start = address - section.extent.start
        return int.from_bytes(section.data[start : start + 4], "little")

    def addresses_of(self, word: int) -> Iterator[int]:
        """Yield where the image has these 32 bits."""
        pattern = word.to_bytes(4, "little")
        for section in self.sections:
            data, at = bytes(section.data), -1
            while (at := data.find(pattern, at + 1)) >= 0:
                yield section.extent.start + at
