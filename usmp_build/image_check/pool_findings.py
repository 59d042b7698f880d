"""One pool: is it where the plan wants it, of the planned size, and alone?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from usmp_build.errors import Diagnostic
from usmp_build.image_check.evidence import Evidence
from usmp_build.image_check.image import Extent, Section, Symbol
from usmp_build.units import count_bytes

_SHOWN = 3
"""Most foreign symbols named in a message."""
_ANEW = "rebuild it from this plan, and put nothing else into its section"
_STRANGER = "put it into another section; or the image is of another plan: build it again from this one"
_ARRAYS = "make arrays as large as the header of the plan says, and put everything else into other sections"


def pool_findings(evidence: Evidence) -> Iterator[Diagnostic]:
    """Yield what is wrong with a pool."""
    if not evidence.pool.size:
        return
    section = evidence.section
    if section is None:
        yield from _without_section(evidence)
        return
    for check in _CHECKS:
        yield from check(evidence, section)


def _without_section(evidence: Evidence) -> Iterator[Diagnostic]:
    """What is wrong when a pool has no section: nothing, if it is not linked, or in a section of the program."""
    fragment = f"INCLUDE {evidence.plan.project}.ld in SECTIONS of the linker script"
    objects = evidence.objects()
    if evidence.is_passed:
        return
    if evidence.joins_program and objects:
        yield from _in_the_program(evidence, objects)
    elif objects:
        for symbol in objects:
            there = f"is {_where(evidence, symbol)}, not in section {evidence.section_name}"
            yield _finding(evidence, "S619", f"{evidence.called}: its object {symbol.name} {there}", fragment)
    elif evidence.in_part and not evidence.shown and not evidence.joins_program:
        message = (
            f"{evidence.called} has no section {evidence.section_name} in the image, "
            "whose symbols were stripped: it may be anywhere"
        )
        yield _finding(evidence, "S612", message, f"check the image before it is stripped, or {fragment}")


def _in_the_program(evidence: Evidence, objects: Sequence[Symbol]) -> Iterator[Diagnostic]:
    """What is wrong with objects that linker scripts have put into a section of the program, such as .bss."""
    pool, what = evidence.pool, "array has" if evidence.pool.is_workspace else "constants have"
    size = sum(symbol.extent.size for symbol in objects)
    if size not in (pool.size, pool.size + sum(pool.canaries)):
        yield _size(evidence, f"its {what} {count_bytes(size)}", size)
    for symbol in objects:
        name, section = symbol.name, evidence.image.section_at(symbol.extent.start)
        if section is None or not section.extent.holds(symbol.extent):
            message = f"{evidence.called}: its object {name} begins {_where(evidence, symbol)}, and ends elsewhere"
            yield _finding(evidence, "S619", message, "keep it in one output section of the linker script")
            continue
        if pool.is_workspace and symbol.extent.start % pool.alignment:
            yield _misaligned(evidence, symbol.extent.start, f"keep the alignment of {name} in the linker script")
        if pool.is_workspace and section.stored and not pool.section.startswith((".data.", ".sdata.")):
            yield _stored(evidence, symbol.extent.size, f"keep {pool.section} out of {section.name}")
        if not pool.is_workspace and not section.stored:
            yield _not_stored(evidence, section, symbol.extent.size)


def _where(evidence: Evidence, symbol: Symbol) -> str:
    section = evidence.image.section_at(symbol.extent.start)
    return f"in {section.name if section else 'no section'} at 0x{symbol.extent.start:08x}"


def _is_one(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    count = len(evidence.image.sections_called[section.name])
    if count > 1:
        message = f"{evidence.called} has {count:,} sections {section.name} in the image"
        yield _finding(evidence, "S613", message, "let the linker script collect it in one output section")


def _has_planned_size(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    """The application may have several arrays: the section has room for all of them, but each must be large enough."""
    size, planned = section.extent.size, evidence.pool.size
    small = evidence.too_small()
    for symbol in small:
        what = f"{symbol.name} in section {section.name} has {count_bytes(symbol.extent.size)}"
        yield _size(evidence, what, symbol.extent.size, _ARRAYS)
    if small:
        return
    if size < planned or (size > planned and not evidence.is_passed and not evidence.has_canaries):
        yield _size(evidence, f"section {section.name} at 0x{section.extent.start:08x} has {count_bytes(size)}", size)


def _is_aligned(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    """Constants that may be anywhere are aligned as the compiler aligns each object."""
    by_compiler = evidence.pool.access == "ro" and evidence.joins_program and evidence.start_symbol() is None
    if section.extent.start % evidence.pool.alignment and not by_compiler:
        help_ = f"align the output section {section.name} to {evidence.pool.alignment:,}"
        yield _misaligned(evidence, section.extent.start, help_)


def _misaligned(evidence: Evidence, start: int, help_: str) -> Diagnostic:
    alignment = evidence.pool.alignment
    past = f"{count_bytes(start % alignment)} past a multiple of {alignment:,}"
    return _finding(evidence, "S614", f"{evidence.called} is at 0x{start:08x}, {past}", help_)


def _is_at_origin(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    origin = evidence.pool.origin
    if origin is not None and section.extent.start != origin:
        away = count_bytes(abs(section.extent.start - origin))
        side = "past" if section.extent.start > origin else "before"
        message = f"{evidence.called} is at 0x{section.extent.start:08x}, {away} {side} its origin, 0x{origin:08x}"
        yield _finding(evidence, "S615", message, "correct the linker script, or `origin` in the manifest")


def _is_in_region(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    region = evidence.region()
    if region is not None and not region.holds(section.extent):
        message = (
            f"{evidence.called} is at {section.extent}, "
            f"and region {evidence.pool.region} at {region}: {_outside(section.extent, region)}"
        )
        help_ = f"place section {section.name} > {evidence.pool.region}, or name another region in the manifest"
        yield _finding(evidence, "S616", message, help_)


def _is_loaded_from_region(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    if evidence.pool.is_workspace or section.load is None or not section.stored:
        return
    stored, region = Extent(section.load, section.extent.size), evidence.region(load=True)
    if not evidence.pool.load_region:
        if section.load != section.extent.start:
            message = (
                f"{evidence.called} is stored at 0x{section.load:08x} and used at 0x{section.extent.start:08x}: "
                "nothing copies it"
            )
            yield _finding(
                evidence, "S617", message, "name in `load_region` where it is stored, or load it where it is used"
            )
    elif region is not None and not region.holds(stored):
        message = (
            f"{evidence.called} is stored at {stored}, "
            f"and region {evidence.pool.load_region} at {region}: {_outside(stored, region)}"
        )
        yield _finding(evidence, "S617", message, f"place section {section.name} AT> {evidence.pool.load_region}")


def _is_alone(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    strangers = evidence.strangers()
    if strangers:
        more = f", and {len(strangers) - _SHOWN:,} more" if len(strangers) > _SHOWN else ""
        named = ", ".join(strangers[:_SHOWN]) + more
        message = f"{evidence.called}: section {section.name} holds what does not belong to the pool: {named}"
        yield _finding(evidence, "S618", message, _STRANGER)


def _has_its_objects(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    for symbol in evidence.objects():
        if not evidence.is_passed and not section.extent.holds(symbol.extent):
            where = f"at {symbol.extent}, and section {section.name} at {section.extent}"
            message = f"{evidence.called}: its object {symbol.name} is {where}"
            yield _finding(evidence, "S619", message, f"keep {symbol.name} in its section: see USMP_SECTION in usmp.h")


def _is_placed_by_fragment(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    start, fragment = evidence.start_symbol(), f"{evidence.plan.project}.ld"
    if evidence.is_passed or (start is None and not evidence.objects()):
        return
    help_ = f"INCLUDE {fragment} in SECTIONS, and let nothing else place section {section.name}"
    if start is None and evidence.pool.access == "ro" and evidence.joins_program:
        return  # linkers place what no script mentions beside what is like it: here, beside constants
    if start is None:
        where = f"at 0x{section.extent.start:08x} by chance"
        message = f"{evidence.called}: section {section.name} is {where}: the linker placed it on its own"
        yield _finding(evidence, "S621", message, help_)
    elif start.extent.start == section.extent.end:
        message = f"{evidence.called}: {start.name} is where section {section.name} ends: {fragment} is included twice"
        yield _finding(evidence, "S621", message, f"INCLUDE {fragment} once")
    elif start.extent.start != section.extent.start:
        message = (
            f"{evidence.called}: {start.name} is 0x{start.extent.start:08x}, "
            f"and section {section.name} at 0x{section.extent.start:08x}"
        )
        yield _finding(evidence, "S621", message, help_)


def _takes_what_it_should_of_the_image(evidence: Evidence, section: Section) -> Iterator[Diagnostic]:
    if evidence.pool.is_workspace and section.stored:
        yield _stored(evidence, section.extent.size, f"mark output section {section.name} (NOLOAD)")
    elif evidence.pool.access == "ro" and not section.stored and not evidence.is_passed:
        yield _not_stored(evidence, section, section.extent.size)


def _stored(evidence: Evidence, size: int, help_: str) -> Diagnostic:
    message = f"{evidence.called} is a workspace, but takes {count_bytes(size)} of the image"
    return _finding(evidence, "S624", message, help_)


def _not_stored(evidence: Evidence, section: Section, size: int) -> Diagnostic:
    message = f"{evidence.called} holds constants, but the image has none of their {count_bytes(size)}"
    return _finding(evidence, "S625", message, f"output section {section.name} must not be (NOLOAD)")


_CHECKS: tuple[Callable[[Evidence, Section], Iterator[Diagnostic]], ...] = (
    _is_one,
    _has_planned_size,
    _is_aligned,
    _is_at_origin,
    _is_in_region,
    _is_loaded_from_region,
    _is_alone,
    _has_its_objects,
    _is_placed_by_fragment,
    _takes_what_it_should_of_the_image,
)


def _outside(extent: Extent, region: Extent) -> str:
    """Say how many bytes are outside of a region."""
    inside = max(0, min(extent.end, region.end) - max(extent.start, region.start))
    return f"{count_bytes(extent.size - inside)} outside"


def _size(evidence: Evidence, what: str, size: int, help_: str = _ANEW) -> Diagnostic:
    planned = evidence.pool.size
    difference = f"{count_bytes(abs(planned - size))} {'missing' if size < planned else 'too many'}"
    message = f"{evidence.called}: {what}, planned are {planned:,}: {difference}"
    return _finding(evidence, "S613", message, help_)


def _finding(evidence: Evidence, code: str, message: str, help_: str) -> Diagnostic:
    return Diagnostic(code, message, evidence.image.file, help_)
