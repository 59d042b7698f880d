"""Combines what plan, image and map file state about one pool."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.frozen import frozen
from usmp_build.image_check.image import Extent, Image, Section, Symbol
from usmp_build.image_check.map_file import MapFile
from usmp_build.layout import PlanRecord, PoolRecord
from usmp_build.naming import constants_object, linker_name, pool_object, pool_symbol, region_symbols

_OF_PROGRAMS = (".bss.", ".sbss.", ".noinit.", ".data.", ".sdata.", ".rodata.")
"""Beginnings of sections that linker scripts collect in sections of the program."""
_WHOLE = 1 << 32
"""Bytes of the smallest region whose length does not fit a 32-bit symbol."""


@frozen
class Evidence:
    """A planned pool and what the linker made of it."""

    plan: PlanRecord
    pool: PoolRecord
    image: Image
    map: MapFile | None

    @property
    def called(self) -> str:
        """The pool as messages name it."""
        return f'pool "{self.pool.name}"'

    @property
    def section_name(self) -> str:
        """The section that the pool is in, as the linker fragment writes it."""
        return linker_name(self.pool.section)

    @property
    def section(self) -> Section | None:
        """The pool's section; None when the image has none with bytes."""
        return next(iter(self.image.sections_called.get(self.section_name, ())), None)

    @property
    def is_passed(self) -> bool:
        """Whether the application owns the array, and passes a pointer to it: then it may be anywhere."""
        return self.pool.owner == "application"

    @property
    def has_canaries(self) -> bool:
        """Whether the section and the pool's object in it both have room for the pool between canaries, no more."""
        size = self.pool.size + sum(self.pool.canaries)
        extents = [*(symbol.extent for symbol in self.objects()), *([self.section.extent] if self.section else [])]
        return len(extents) == 2 and all(extent.size == size for extent in extents)

    @property
    def joins_program(self) -> bool:
        """Whether linker scripts may put it with what the program has of its kind: constants, or zeros, or values."""
        is_free = not self.pool.region and self.pool.origin is None
        return is_free and (self.pool.access == "ro" or self.pool.section.startswith(_OF_PROGRAMS))

    @property
    def extents(self) -> list[Extent]:
        """Where its bytes are: in its section, or its objects in sections of the program."""
        if self.section is not None:
            return [self.section.extent]
        return [symbol.extent for symbol in self.objects()] if self.joins_program else []

    @property
    def shown(self) -> bool:
        """Whether the symbols show any object of the plan: then, what they do not show is not in the image."""
        return any(other.objects() for other in self._all())

    @property
    def in_part(self) -> bool:
        """Whether the image has a section of any pool of the plan."""
        return any(other.section for other in self._all())

    @property
    def shows_project(self) -> bool:
        """Whether the image has the section, or objects that carry the project's name: not only the model's."""
        names = {pool_object(self.plan.project, self.pool.name), self._shared_object}
        return self.section is not None or any(symbol.name in names for symbol in self.objects())

    @property
    def _shared_object(self) -> str:
        return constants_object(f"{self.plan.project}_shared", self.pool.name)

    def _all(self) -> Iterator[Evidence]:
        return (Evidence(self.plan, pool, self.image, self.map) for pool in self.plan.pools)

    def objects(self) -> list[Symbol]:
        """Return the generated C objects of the pool that the image has; of stripped images, the map shows arrays."""
        if not self.image.symbols and self.map is not None and self.pool.is_workspace and self.joins_program:
            pieces = (piece for pieces in self.map.inputs.values() for piece in pieces)
            mine = (piece.extent for piece in pieces if linker_name(piece.name) == self.section_name)
            return [Symbol(name, extent, True) for name in self.object_names() for extent in mine]
        return [self.image.named[name] for name in self.object_names() if name in self.image.named]

    def object_names(self) -> Iterator[str]:
        """Yield the names that C objects of the pool may have."""
        if self.pool.is_workspace:
            yield pool_object(self.plan.project, self.pool.name)
            return
        for model in self.plan.models:
            yield constants_object(model.name, self.pool.name)
        yield self._shared_object

    def start_symbol(self) -> Symbol | None:
        """What the linker fragment says of where the pool begins; None when the image does not have the symbol."""
        return self.image.named.get(pool_symbol(self.pool.name, "start"))

    def region(self, load: bool = False) -> Extent | None:
        """Return the region that the pool should be in, or be loaded from; None if neither image nor map shows it."""
        name = self.pool.load_region if load and self.pool.load_region else self.pool.region
        if self.map is not None and name in self.map.regions:
            return self.map.regions[name]
        start, size = (self.image.named.get(symbol) for symbol in region_symbols(self.pool.name, load))
        if not name or start is None or size is None:
            return None
        return Extent(start.extent.start, size.extent.start or _WHOLE)

    def too_small(self) -> list[Symbol]:
        """Return the symbols in the section of a pool of the application that are neither its array nor part of one."""
        section = self.section
        if section is None or not self.is_passed:
            return []
        symbols = [symbol for symbol in self.image.symbols if symbol.has_bytes and symbol.extent.meets(section.extent)]
        small: list[Symbol] = []
        end = 0  # of the arrays so far; none of them begins after the symbol
        for symbol in sorted(symbols, key=lambda symbol: (symbol.extent.start, -symbol.extent.size)):
            if symbol.extent.size >= self.pool.size:
                end = max(end, symbol.extent.end)
            elif symbol.extent.end > end:
                small.append(symbol)
        return small

    def strangers(self) -> list[str]:
        """Return what is in the pool's section and does not belong to the pool."""
        section = self.section
        if section is None or self.is_passed:
            return []
        names = set(self.object_names())
        descriptions = [
            f"{symbol.name} (0x{symbol.extent.start:08x}, {symbol.extent.size:,} bytes)"
            for symbol in self.image.symbols
            if symbol.has_bytes and symbol.name not in names and symbol.extent.meets(section.extent)
        ]
        pieces = self.map.inputs.get(section.name, ()) if self.map is not None else ()
        descriptions += [
            f"{piece.name} of {piece.file} (0x{piece.extent.start:08x}, {piece.extent.size:,} bytes)"
            for piece in pieces
            if linker_name(piece.name) != section.name
        ]
        return descriptions
