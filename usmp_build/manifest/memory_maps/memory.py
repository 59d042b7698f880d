"""A memory of a project, and the pools that `init` writes for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from usmp_build.document.faults import Codes
from usmp_build.document.source import Source
from usmp_build.document.suggest import plain, quoted
from usmp_build.errors import Diagnostic, Span, UsageError, UsmpError
from usmp_build.frozen import frozen
from usmp_build.manifest.defaults import IMPLICIT_POOLS
from usmp_build.manifest.starter import StarterMemory, fitting_labels
from usmp_build.naming import LINKER_KEYWORDS
from usmp_build.units import MAX_BYTES

CODES = Codes(UsageError, "U271", "U272", "U273", "usmp-build init --help")
MOST_MEMORIES = 256
"""Most memories of a file."""
_REGION = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,63}")


@frozen
class Memory:
    """A piece of memory."""

    name: str
    access: Literal["rw", "ro"]
    size: int
    """In bytes."""
    origin: int
    """Its address."""
    span: Span
    """Where the file says so."""
    has_region: bool = True
    """Whether the linker script has a region of this name; else pools are placed by address."""
    no_pool: str = ""
    """Why there is no pool for it; empty: there is one."""


def fault(source: Source, start: int, end: int, message: str, help_: str) -> UsmpError:
    """Return an error at `text[start:end]`: a value that is missing, or of a kind that is not read."""
    return CODES.error(Diagnostic(CODES.value, message, source.between(start, end), help_))


def starter_memory(memories: Sequence[Memory], source: Source) -> StarterMemory:
    """Return a pool for each memory, in the order of the file.

    A memory without bytes has none; one that overlaps an earlier one, such as an alias of it, has a pool in comments.
    Raises UsageError (U273) where there are no memories, or more than 256.
    """
    if not memories:
        message = f"{quoted(source.file)} has no memory for pools"
        raise CODES.error(Diagnostic(CODES.value, message, Span(source.file, 1, 1), "name the file that states it"))
    if len(memories) > MOST_MEMORIES:
        message = f"the file has {len(memories):,} memories; at most {MOST_MEMORIES} are read"
        raise CODES.error(Diagnostic(CODES.value, message, memories[MOST_MEMORIES].span, "remove those without pools"))
    reserved = [pool.name for pool in IMPLICIT_POOLS.values()]
    names = fitting_labels((memory.name.lower() for memory in memories), "pool", reserved)
    tables: list[str] = []
    for position, (name, memory) in enumerate(zip(names, memories, strict=True)):
        other = next((each for each in memories[:position] if _overlap(each, memory)), None)
        tables.append("\n".join(_table(name, memory, other)) + "\n")
    remarks = [
        f"Pools are the memories of {source.file}, in its order: put preferred ones first, and remove those that no "
        "model may use.",
        "Each may fill all of its memory: reserve what code, data, heap and stack need there.",
    ]
    return StarterMemory("\n".join(tables), remarks)


def _overlap(one: Memory, other: Memory) -> bool:
    return max(one.origin, other.origin) < min(one.origin + one.size, other.origin + other.size)


def _table(name: str, memory: Memory, other: Memory | None) -> Iterator[str]:
    address = f"0x{memory.origin:08x}"
    if memory.no_pool:
        yield f"# {plain(memory.name)} has no pool: {plain(memory.no_pool)}, so its address is not here."
        yield "# The linker script has its region and its size: add a pool for it if models may use it."
        return
    if not memory.size:
        yield f"# {plain(memory.name)} at {address} has no bytes"
        return
    is_region = memory.has_region and _REGION.fullmatch(memory.name) and memory.name not in LINKER_KEYWORDS
    out = "#" if other else ""
    if other:
        yield f"# The same memory as {plain(other.name)}, or a part of it: pools must not overlap."
    yield f"{out}[pools.{name}]  # at {address}"
    yield f'{out}access = "{memory.access}"'
    yield f"{out}size = {_size(memory.size)}"
    yield '#reserve = "4 KiB"'
    if is_region:
        yield f'{out}region = "{memory.name}"'
    elif memory.has_region:
        yield f"# A manifest cannot name region {quoted(memory.name)}: rename it, or place the section yourself."
    else:
        yield f"{out}origin = {address}  # no linker script was read: a pool begins where its memory does"


def _size(size: int) -> str:
    return f'"{size >> 10} KiB"' if size % 1024 == 0 else str(size)


def check_size(size: int, source: Source, start: int, end: int) -> int:
    """Return the size of a memory.  Raises UsageError (U273) where it is beyond all that is planned."""
    if size > MAX_BYTES:
        raise fault(source, start, end, f"{size:,} bytes are more than any memory has", "correct the size")
    return size
