"""The map file of GNU ld → regions, and which input sections each output section consists of."""

from __future__ import annotations

import re
from collections.abc import Mapping

from usmp_build.errors import Diagnostic, UsageError
from usmp_build.frozen import frozen
from usmp_build.image_check.image import Extent

_REGIONS = re.compile(r"^Memory Configuration\n\nName +Origin +Length[^\n]*\n((?:[^\n]+\n)*)", re.MULTILINE)
_REGION = re.compile(r"^(\S{1,512}) +0x([0-9a-f]{1,16}) +0x([0-9a-f]{1,16})\b", re.MULTILINE)
_SYMBOL = re.compile(r"^ +0x([0-9a-f]{1,16}) +(?:PROVIDE \()?([A-Za-z_.$][\w.$]{0,255}) = ", re.MULTILINE)
_LAYOUT = "\nLinker script and memory map\n"
_PIECE = re.compile(
    r"^( ?)([^\s*]\S{0,1023})(?:\n +| +)0x([0-9a-f]{1,16}) +0x([0-9a-f]{1,16})(?: ([^\n]*))?$", re.MULTILINE
)


@frozen
class InputSection:
    """A piece of an object file in an output section."""

    name: str
    extent: Extent
    file: str
    """The object file, as the linker shows it."""


@frozen
class MapFile:
    """What the linker says of its work."""

    file: str
    regions: Mapping[str, Extent]
    """MEMORY: name → addresses."""
    outputs: Mapping[str, Extent]
    """Output sections."""
    inputs: Mapping[str, tuple[InputSection, ...]]
    """Output section → what it consists of; pieces without bytes are left out."""
    symbols: Mapping[str, int]
    """What the linker script assigns: name → value."""


def read_map(data: bytes, file: str) -> MapFile:
    """Read a map file.  Raises UsageError when it is none of GNU ld's."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    regions = _REGIONS.search(text)
    if regions is None or _LAYOUT not in text:
        help_ = "give the file that GNU ld writes for -Wl,-Map=FILE, in English, or leave --map out: the image will do"
        raise UsageError(Diagnostic("U222", "this is not a map file of GNU ld", file, help_))
    extents_by_region = {
        name: Extent(int(start, 16), int(size, 16)) for name, start, size in _REGION.findall(regions[1])
    }
    extents_by_region.pop("*default*", None)
    outputs: dict[str, Extent] = {}
    inputs: dict[str, list[InputSection]] = {}
    current = ""
    for match in _PIECE.finditer(text, text.index(_LAYOUT)):
        indent, name, start, size, rest = match.groups()
        extent = Extent(int(start, 16), int(size, 16))
        if not indent:
            current = name
            outputs.setdefault(name, extent)
        elif current and extent.size and rest:
            inputs.setdefault(current, []).append(InputSection(name, extent, rest.strip()))
    symbols = {name: int(value, 16) for value, name in _SYMBOL.findall(text, text.index(_LAYOUT))}
    pieces = {name: tuple(pieces) for name, pieces in inputs.items()}
    return MapFile(file, extents_by_region, outputs, pieces, symbols)
