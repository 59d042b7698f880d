"""C: a header and a source for each model, one header for the plan, one source each for pools and kernels.

Constant pools of the application are no C, but their files know the C that they belong to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from zlib import crc32

from usmp_build.emitters.render import render
from usmp_build.interfaces.kernels import LONGEST_RANK
from usmp_build.ir.c_types import value_lines
from usmp_build.ir.graph import DType
from usmp_build.ir.seal import FIRST_COVERED, SEAL, SEAL_BYTES
from usmp_build.layout import Summary
from usmp_build.layout.constants import PoolBytes
from usmp_build.layout.layout import Layout
from usmp_build.naming import pool_bytes_files
from usmp_build.output.bundle import OutputFile

ABI = 2
"""Of generated code and "usmp.h": one that does not know the other refuses to compile."""

_TEXT_OR_COMMENT = re.compile(
    r"""
    (?P<text> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | /\*.*?\*/
    | //(?:\\\n|[^\n])*
    """,
    re.DOTALL | re.VERBOSE,
)


def emit(layout: Layout) -> Iterator[OutputFile]:
    """Yield all C files of a plan, and the bytes of constant pools of the application."""
    code = [*_plan_code(layout), *_model_code(layout)]
    unsealed = _plan_header(layout, {each.pool.name: 0 for each in layout.pool_bytes})
    ids = _pool_ids(layout.pool_bytes, [*code, unsealed])
    yield from code
    yield _plan_header(layout, ids)
    yield from _pool_bytes_outputs(layout.summary, layout.pool_bytes, ids)


def _plan_header(layout: Layout, ids: Mapping[str, int]) -> OutputFile:
    """The header of the plan; it is the only file that says the ids of pools."""
    summary = layout.summary
    on_demand = any(function.on_demand for _, code in layout.models for function in code.functions)
    values = {"on_demand": on_demand, "ids": ids, "summary": summary, "abi": ABI}
    return OutputFile(f"{summary.project}.h", render("plan.h.j2", **values))


def _plan_code(layout: Layout) -> Iterator[OutputFile]:
    summary, project = layout.summary, layout.summary.project
    common = {"summary": summary, "abi": ABI}
    yield OutputFile("usmp.h", render("usmp.h.j2", abi=ABI, longest_rank=LONGEST_RANK, seal=SEAL))
    yield OutputFile("usmp_regions.h", render("usmp_regions.h.j2"))
    pools = {"groups": layout.constants, "excluded": layout.excluded, "first_covered": FIRST_COVERED, **common}
    yield OutputFile(f"{project}_pools.c", render("pools.c.j2", **pools))
    kernels = {"header": layout.kernel_header, "source": layout.kernel_source, "cached": layout.cached, **common}
    yield OutputFile(f"{project}_kernels.h", render("kernels.h.j2", **kernels))
    yield OutputFile(f"{project}_kernels.c", render("kernels.c.j2", **kernels))
    shared = tuple(group for group in layout.constants if len(group.models) > 1)
    name = f"{project}_shared"
    yield OutputFile(f"{name}_constants.h", render("constants.h.j2", owner=name, groups=shared, **common))
    yield OutputFile(f"{project}_guard.h", render("guard.h.j2", **common))


def _model_code(layout: Layout) -> Iterator[OutputFile]:
    common = {"summary": layout.summary, "abi": ABI}
    for index, (row, code) in enumerate(layout.models):
        groups = tuple(group for group in layout.constants if group.models == (index,))
        shared = tuple(group for group in layout.constants if len(group.models) > 1 and index in group.models)
        values = {"model": row, "index": index, "code": code, "shared": shared, **common}
        yield OutputFile(f"{row.name}.h", render("model.h.j2", **values))
        constants = {"owner": row.name, "groups": groups, **common}
        yield OutputFile(f"{row.name}_constants.h", render("constants.h.j2", **constants))
        yield OutputFile(f"{row.name}.c", render("model.c.j2", **values))


def _pool_ids(pools: Iterable[PoolBytes], code: Iterable[OutputFile]) -> Mapping[str, int]:
    """Return what each pool is known by, from all C that reads it: other constants and comments change no id."""
    total = hashlib.sha256()
    for file in code:
        data = _without_comments(file.data.decode("utf-8")).encode()
        total.update(f"{file.path}\0{len(data)}\0".encode())
        total.update(data)
    names = (each.pool.name for each in pools)
    digests = {name: hashlib.sha256(total.digest() + name.encode()).digest() for name in names}
    return {name: int.from_bytes(digest[:8], "little") for name, digest in digests.items()}


def _without_comments(code: str) -> str:
    """Return C with a space for each comment, as compilers see it.

    >>> _without_comments('puts("/* no */"); /* one " more */ return; // "and')
    'puts("/* no */");   return;  '
    """
    return _TEXT_OR_COMMENT.sub(lambda match: match["text"] or " ", code)


def _pool_bytes_outputs(summary: Summary, pools: Iterable[PoolBytes], ids: Mapping[str, int]) -> Iterator[OutputFile]:
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
