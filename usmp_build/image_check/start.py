"""Where the processor starts: no pool may lie before the vector table of a Cortex-M, or where its stack grows.

flash                               RAM
+--------------+  the region's      +--------------+  top: word 0 of the table, or a symbol
| vector table |  beginning         |    stack     |
|  0: stack    |                    |      v       |
|  1: reset    |                    +--------------+  limit: a symbol, or at least _LEAST_STACK below
+--------------+                    |  pools, data |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from usmp_build.errors import Diagnostic
from usmp_build.frozen import frozen
from usmp_build.image_check.evidence import Evidence
from usmp_build.image_check.image import Extent, Image, Section, Symbol
from usmp_build.image_check.map_file import InputSection, MapFile
from usmp_build.units import count_bytes

_ARM = 40
"""The number of 32-bit Arm processors in ELF files."""
_TABLES = frozenset(
    ".isr_vector .isr_vectors .vectors .vector_table .vec_table .intvecs .intvec .interrupts .exception_vectors "
    "rom_start __Vectors __vectors _vectors vectors g_pfnVectors g_pfnVectors_boot __isr_vector isr_vector "
    "_vector_table vector_table __vector_table __VECTOR_TABLE exception_table __INTERRUPTS VECTORS".split()
)
"""What projects call the table: sections, and symbols."""
_TOPS = (
    *("_estack", "__StackTop", "__stack_top", "_stack_top", "stack_top", "__stack", "__initial_sp", "__INITIAL_SP"),
    *("_vStackTop", "__stack_end__", "_sp", "__sp"),
)
"""Symbols where a stack begins: it grows down from there."""
_LIMITS = (
    *("__StackBottom", "__StackLimit", "__stack_limit", "__STACK_LIMIT", "_stack_limit", "__stack_bottom", "_sstack"),
    *("_stack_bottom", "_vStackBase", "__stack_start__"),
)
"""Symbols that it must not pass."""
_SIZES = ("_Min_Stack_Size", "__STACK_SIZE", "__stack_size", "__stack_size__", "_stack_size", "__StackSize")
"""Symbols whose value is its size."""
_LEAST_STACK = 256
"""Bytes without which no model runs: one interrupt takes 104 of them where there is floating point."""


@frozen
class _Table:
    """The vector table of a Cortex-M."""

    start: int
    load: int
    """The address that it is loaded from."""
    stack: int
    """Where the stack begins, by its first word."""
    reset: int
    """Where the program begins, by its second word."""


def start_findings(pools: Sequence[Evidence], image: Image, map_: MapFile | None) -> Iterator[Diagnostic]:
    """Yield pools that lie where the processor looks for its first words, or where its stack grows."""
    table = _vector_table(image, map_)
    if table is not None:
        yield from _before_the_table(pools, image, table)
    yield from _under_the_stack(pools, image, map_, table)


def _vector_table(image: Image, map_: MapFile | None) -> _Table | None:
    """Return the first vector table of the image; None where there is none, as in programs of other processors.

    It is what projects call so, or whatever has the address of ENTRY as its second word.
    """
    if image.machine != _ARM:
        return None
    parts: list[Symbol | Section | InputSection] = [*image.symbols, *image.sections]
    parts += chain.from_iterable(map_.inputs.values()) if map_ is not None else ()
    named = {part.extent.start for part in parts if part.name in _TABLES}
    starts = {symbol.extent.start for symbol in image.symbols} | {section.extent.start for section in image.sections}
    starts &= {address - 4 for address in image.addresses_of((image.entry | 1) & 0xFFFFFFFF)}
    tables = (_table_at(image, start) for start in starts | named)
    return min((table for table in tables if table is not None), key=lambda table: table.load, default=None)


def _table_at(image: Image, start: int) -> _Table | None:
    """Return the table at an address if its first words are a stack and a Thumb function of the program."""
    stack, reset, section = image.word(start), image.word(start + 4), image.section_at(start)
    if not stack or stack % 4 or not reset or not reset % 2 or section is None:
        return None
    code = image.section_at(reset - 1)
    if code is None or not code.is_code:
        return None
    load = start if section.load is None else section.load + start - section.extent.start
    return _Table(start, load, stack, reset - 1)


def _before_the_table(pools: Sequence[Evidence], image: Image, table: _Table) -> Iterator[Diagnostic]:
    """Find pools between the beginning of the table's memory and the table.

    Pools with an address were put there, and where the program is before its table, too, others know where that is.
    """
    for evidence in pools:
        section = evidence.section
        if section is None or evidence.pool.origin is not None:
            continue
        is_loaded = section.stored and section.load is not None
        start, at = (section.load or 0, table.load) if is_loaded else (section.extent.start, table.start)
        region = evidence.region(load=is_loaded)
        memories = image.segments if region is None else (region,)
        if _are_in_order(memories, start, at) and not _are_in_order(memories, table.reset, table.start):
            message = (
                f"{evidence.called} is at 0x{start:08x}, before the vector table at 0x{at:08x}: "
                "a processor that starts where this memory begins takes the pool for the table"
            )
            help_ = f"INCLUDE {evidence.plan.project}.ld below the vector table in SECTIONS of the linker script"
            yield Diagnostic("S632", message, image.file, help_)
            return


def _are_in_order(memories: Iterable[Extent], first: int, second: int) -> bool:
    return first < second and any(memory.holds(Extent(first, second - first)) for memory in memories)


def _under_the_stack(
    pools: Sequence[Evidence], image: Image, map_: MapFile | None, table: _Table | None
) -> Iterator[Diagnostic]:
    symbols = dict(map_.symbols) if map_ is not None and not image.symbols else {}
    symbols |= {symbol.name: symbol.extent.start for symbol in image.symbols}
    tops = {symbols[name]: name for name in reversed(_TOPS) if symbols.get(name)}
    if table is not None:
        tops = {table.stack: tops.get(table.stack, "word 0 of the vector table"), **tops}
    for top, name in tops.items():
        stack = Extent(limit := _limit(top, symbols, image, pools), top - limit)
        for evidence in pools:
            meets = [extent for extent in evidence.extents if extent.meets(stack)]
            if meets:
                space = max(0, top - meets[0].end)
                room = f"{count_bytes(space)} above it" if space else "in it"
                message = f"{evidence.called} is at {meets[0]}, and the stack begins {room}, at 0x{top:08x} ({name})"
                yield Diagnostic("S633", message, image.file, "give stack and pool addresses of their own")
                return


def _limit(top: int, symbols: Mapping[str, int], image: Image, pools: Sequence[Evidence]) -> int:
    """Return the lowest address of a stack, by the symbols of its project, or by what holds its first word.

    What nothing limits goes on to whatever lies below, and needs a least number of bytes.
    """
    first = Extent(top - 4, 4)
    limits = [symbols[name] for name in _LIMITS if 0 < symbols.get(name, 0) < top]
    limits += [top - symbols[name] for name in _SIZES if 0 < symbols.get(name, 0) < top]
    limits += [symbol.extent.start for symbol in image.symbols if symbol.has_bytes and symbol.extent.holds(first)]
    section = image.section_at(first.start)
    if section is not None and not any(extent.meets(section.extent) for each in pools for extent in each.extents):
        limits.append(section.extent.start)
    return max(limits, default=max(0, top - _LEAST_STACK))
