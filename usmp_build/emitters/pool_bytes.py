"""The bytes of constant pools of the application: as they are, and as a list to include in an array of C."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from zlib import crc32

from usmp_build.emitters.render import render
from usmp_build.ir.c_types import value_lines
from usmp_build.ir.graph import DType
from usmp_build.ir.seal import SEAL, SEAL_BYTES
from usmp_build.layout import Summary
from usmp_build.layout.constants import PoolBytes
from usmp_build.naming import pool_bytes_files
from usmp_build.output.bundle import OutputFile

_TEXT_OR_COMMENT = re.compile(
    r"""
    (?P<text> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | /\*.*?\*/
    | //(?:\\\n|[^\n])*
    """,
    re.DOTALL | re.VERBOSE,
)


def pool_ids(pools: Iterable[PoolBytes], code: Iterable[OutputFile]) -> Mapping[str, int]:
    """Return what each pool is known by, from all C that reads it: other constants and comments change no id."""
    total = hashlib.sha256()
    for file in code:
        data = without_comments(file.data.decode("utf-8")).encode()
        total.update(f"{file.path}\0{len(data)}\0".encode())
        total.update(data)
    names = (each.pool.name for each in pools)
    digests = {name: hashlib.sha256(total.digest() + name.encode()).digest() for name in names}
    return {name: int.from_bytes(digest[:8], "little") for name, digest in digests.items()}


def without_comments(code: str) -> str:
    """Return C with a space for each comment, as compilers see it.

    >>> without_comments('puts("/* no */"); /* one " more */ return; // "and')
    'puts("/* no */");   return;  '
    """
    return _TEXT_OR_COMMENT.sub(lambda match: match["text"] or " ", code)


def pool_bytes_outputs(summary: Summary, pools: Iterable[PoolBytes], ids: Mapping[str, int]) -> Iterator[OutputFile]:
    """Yield the files of each pool, sealed."""
    for each in pools:
        data = sealed(each.data, ids[each.pool.name]) if each.data else b""
        binary, included = pool_bytes_files(summary.project, each.pool.name)
        yield OutputFile(binary, data)
        lines = value_lines(data, DType.UINT8)
        yield OutputFile(included, render("bytes.inc.j2", summary=summary, pool=each.pool, lines=lines))


def sealed(data: bytes, number: int) -> bytes:
    """Return the bytes of a pool with a seal instead of the zeros that they begin with.

    >>> sealed(bytes(20), 1).hex()
    '0100000000000000b8e0d39d1400000000000000'
    """
    covered = _members(True, size=len(data)) + data[SEAL_BYTES:]
    return _members(False, id=number, crc=crc32(covered)) + covered


def _members(are_covered: bool, **values: int) -> bytes:
    """Return the members of a seal that the CRC-32 covers, or those that it does not."""
    return b"".join(member.packed(values[member.name]) for member in SEAL if member.is_covered is are_covered)
