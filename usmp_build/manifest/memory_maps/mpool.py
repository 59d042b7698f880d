"""Reads the memory pools of ST's tools: `.mpool`, which is JSON."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, Field

from usmp_build.document.json_text import Paths, parse, validate
from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted
from usmp_build.errors import Diagnostic
from usmp_build.manifest.memory_maps.memory import CODES, MOST_MEMORIES, Memory
from usmp_build.units import MAX_BYTES

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,12}|[0-9]{1,15}")
_UNITS = {"BYTES": 1, "KBYTES": 1 << 10, "MBYTES": 1 << 20, "GBYTES": 1 << 30}


class Amount(BaseModel):
    """A number of bytes."""

    value: str
    magnitude: Literal["BYTES", "KBYTES", "MBYTES", "GBYTES"] = "BYTES"


class Rights(BaseModel):
    """What is read of the properties of a pool."""

    rights: Literal["ACC_WRITE", "ACC_READ"] = "ACC_WRITE"


class Mempool(BaseModel):
    """A pool of ST's."""

    name: str = Field(min_length=1)
    prop: Rights = Rights()
    offset: Amount
    """Its address."""
    size: Amount


class MemoryTable(BaseModel):
    """What is read of `memory`."""

    mempools: list[Mempool] = Field(max_length=MOST_MEMORIES)


class MpoolFile(BaseModel):
    """What is read of the file."""

    memory: MemoryTable


def read_mpool(source: Source) -> tuple[Memory, ...]:
    """Return the pools, in their order.

    Raises UsageError (U272, U273) for what is not JSON, and for values that are missing or wrong.
    """
    document = validate(MpoolFile, parse(source), source)
    paths = Paths(source)
    memories = []
    for index, pool in enumerate(document.memory.mempools):
        at = ("memory", "mempools", index)
        size = _bytes(pool.size, paths, (*at, "size"))
        origin = _bytes(pool.offset, paths, (*at, "offset"))
        access: Literal["rw", "ro"] = "rw" if pool.prop.rights == "ACC_WRITE" else "ro"
        memories.append(Memory(pool.name, access, size, origin, paths.span(at), has_region=False))
    return tuple(memories)


def _bytes(amount: Amount, paths: Paths, at: tuple[str | int, ...]) -> int:
    match = _NUMBER.fullmatch(amount.value)
    size = int(amount.value, 16 if amount.value[1:2] in ("x", "X") else 10) * _UNITS[amount.magnitude] if match else -1
    if not 0 <= size <= MAX_BYTES:
        message = f"{quoted(amount.value)} is not a number of bytes"
        help_ = 'write it as "1024" or "0x400"'
        raise CODES.error(Diagnostic(CODES.value, message, paths.span((*at, "value")), help_))
    return size
