"""Reads ELF files: little endian, 32 and 64 bits; trusts no number in the file.

Every table is cut out of the file before it is read, so a count or an offset that lies is an error and never a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from usmp_build.errors import CheckFailed, Diagnostic, UsageError
from usmp_build.frozen import frozen
from usmp_build.image_check.image import Extent, Image, Section, Symbol

_IDENT = 16
"""Bytes before the fields of the file header."""
_CLASS, _DATA = 4, 5
_LITTLE = 1
_LINKED = (2, 3)
"""Types of files: executable, and position independent."""
_LOAD = 1
"""Type of a program header: bytes of the image."""
_SYMBOLS, _NO_BYTES = 2, 8
"""Types of sections."""
_ALLOCATED, _CODE, _THREAD = 0x2, 0x4, 0x400
"""Flags of sections."""
_OBJECTS = frozenset({1, 2, 6})
"""Types of symbols: variables, functions, variables of threads."""
_LONGEST_NAME = 1024
"""Most bytes of a name that are read."""
_MOST_SEGMENTS = 128
"""Most program headers of an image: linkers write a handful."""


@frozen
class _Format:
    """The structs of one width, and where their fields are."""

    header: Struct
    section: Struct
    """name, type, flags, addr, offset, size, link, info, addralign, entsize."""
    segment: Struct
    symbol: Struct
    segment_fields: tuple[int, int, int, int, int]
    """Positions of type, vaddr, paddr, filesz, memsz."""
    symbol_fields: tuple[int, int, int, int, int]
    """Positions of name, value, size, info, section."""


_FORMATS = {
    1: _Format(
        header=Struct("<HHIIIIIHHHHHH"),
        section=Struct("<10I"),
        segment=Struct("<8I"),
        symbol=Struct("<IIIBBH"),
        segment_fields=(0, 2, 3, 4, 5),
        symbol_fields=(0, 1, 2, 3, 5),
    ),
    2: _Format(
        header=Struct("<HHIQQQIHHHHHH"),
        section=Struct("<IIQQQQIIQQ"),
        segment=Struct("<IIQQQQQQ"),
        symbol=Struct("<IBBHQQ"),
        segment_fields=(0, 3, 4, 5, 6),
        symbol_fields=(0, 4, 5, 1, 3),
    ),
}
"""Formats by the class in the file's identification."""


class _Header(NamedTuple):
    """A section header."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


def read_elf(data: bytes, file: str) -> Image:
    """Read an image.  Raises UsageError when it is not one, and CheckFailed when it is damaged."""
    form = _format(data, file)
    return _Reader(data, file, form).image()


def _format(data: bytes, file: str) -> _Format:
    if data[:4] != b"\x7fELF" or len(data) <= _DATA:
        raise _not_an_image(file, "is not an ELF file")
    form = _FORMATS.get(data[_CLASS])
    if form is None or data[_DATA] != _LITTLE:
        raise _not_an_image(file, "is an ELF file of a kind that is not read here: 32 or 64 bits, little endian")
    return form


@frozen
class _Reader:
    data: bytes
    file: str
    form: _Format

    def image(self) -> Image:
        head = self.form.header.unpack(self._cut(_IDENT, self.form.header.size, "the file header"))
        kind, machine, _, entry, segments_at, sections_at = head[:6]
        segment_size, segment_count, section_size, section_count, names = head[8:13]
        if kind not in _LINKED:
            raise _not_an_image(self.file, "is not linked: it is an object file, or a core dump")
        if section_count == 0 or section_size != self.form.section.size:
            raise self._damaged("it has no section headers that can be read")
        headers = self._rows(self.form.section, sections_at, section_count, "the section headers")
        sections = [_Header(*row) for row in headers]
        loads = self._loads(segments_at, segment_count, segment_size)
        text = self._contents(sections, names, "the names of sections")
        sections_with_addresses = tuple(
            self._section(header, text, loads) for header in sections if _has_addresses(header)
        )
        segments = tuple(stored for _, stored in loads)
        return Image(self.file, sections_with_addresses, tuple(self._symbols(sections)), machine, entry, segments)

    def _section(self, header: _Header, names: bytes, loads: list[tuple[Extent, Extent]]) -> Section:
        extent, name = Extent(header.address, header.size), _text(names, header.name)
        load = next((at.start + extent.start - there.start for there, at in loads if there.holds(extent)), None)
        stored = header.type != _NO_BYTES
        data = self._view(header.offset, header.size, f"the bytes of section {name}") if stored else b""
        return Section(name, extent, load, stored, bool(header.flags & _CODE), data)

    def _loads(self, offset: int, count: int, size: int) -> list[tuple[Extent, Extent]]:
        """Return what the image brings: addresses in the program, and those where it is stored."""
        if count > _MOST_SEGMENTS or (count and size != self.form.segment.size):
            raise self._damaged("it has no program headers that can be read")
        kind, virtual, physical, stored, length = self.form.segment_fields
        rows = self._rows(self.form.segment, offset, count, "the program headers")
        return [
            (Extent(row[virtual], row[length]), Extent(row[physical], row[stored]))
            for row in rows
            if row[kind] == _LOAD
        ]

    def _symbols(self, sections: list[_Header]) -> Iterator[Symbol]:
        """Yield symbols that are defined and have names, local ones first."""
        table = next((section for section in sections if section.type == _SYMBOLS), None)
        if table is None:
            return
        name_at, value_at, size_at, info_at, section_at = self.form.symbol_fields
        names = self._contents(sections, table.link, "the names of symbols")
        for row in self._rows(self.form.symbol, table.offset, table.size // self.form.symbol.size, "the symbols"):
            name = _text(names, row[name_at])
            if name and row[section_at]:
                extent = Extent(row[value_at], row[size_at])
                yield Symbol(name, extent, row[info_at] & 0xF in _OBJECTS and extent.size > 0)

    def _contents(self, sections: list[_Header], index: int, what: str) -> bytes:
        if index >= len(sections) or sections[index].type == _NO_BYTES:
            raise self._damaged(f"{what} are in section {index:,}, which does not exist")
        return self._cut(sections[index].offset, sections[index].size, what)

    def _rows(self, row: Struct, offset: int, count: int, what: str) -> Iterator[tuple[int, ...]]:
        return row.iter_unpack(self._cut(offset, count * row.size, what))

    def _cut(self, offset: int, size: int, what: str) -> bytes:
        return bytes(self._view(offset, size, what))

    def _view(self, offset: int, size: int, what: str) -> memoryview:
        if offset + size > len(self.data):
            raise self._damaged(f"{what} end at byte {offset + size:,}, and the file at byte {len(self.data):,}")
        return memoryview(self.data)[offset : offset + size]

    def _damaged(self, reason: str) -> CheckFailed:
        return CheckFailed(Diagnostic("S611", f"the image is damaged: {reason}", self.file, "link it again"))


def _has_addresses(header: _Header) -> bool:
    """Return whether a section takes memory.  Zeros of threads are allocated elsewhere, for each thread."""
    return bool(header.flags & _ALLOCATED) and not (header.flags & _THREAD and header.type == _NO_BYTES)


def _text(names: bytes, at: int) -> str:
    end = names.find(b"\0", at, at + _LONGEST_NAME)
    return names[at : end if end >= 0 else at + _LONGEST_NAME].decode("utf-8", "replace")


def _not_an_image(file: str, reason: str) -> UsageError:
    return UsageError(Diagnostic("U221", f"this {reason}", file, "give the program that the linker writes"))
