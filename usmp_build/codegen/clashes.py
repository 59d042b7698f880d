"""Finds clashes of composed names: `a_b` of pool `c` and `a` of pool `b_c` have the same name in C."""

from __future__ import annotations

from collections.abc import Iterator

from usmp_build.codegen.function_names import OF_MODELS
from usmp_build.errors import Diagnostic, ManifestError
from usmp_build.layout import ModelRow, PoolRow, Summary
from usmp_build.layout.code import ModelCode, PortRow
from usmp_build.layout.constants import ConstantGroup
from usmp_build.layout.functions import FunctionCode

_OF_GUARD = ("enter", "leave", "running", "excluded", "mark", "replace_mark")
_OF_CANARIES = ("canary", "set_canary", "is_canary", "set_canaries", "check_canaries")
_OF_SEALS = ("crc", "check")
_OF_PORTS = ("SIZE", "ELEMENTS", "RANK", "DIMS", "SCALE", "ZERO_POINT", "ROWS", "ROW_SIZE")
_OF_ROWS = ("sink", "progress", "begin", "next_row", "push_row", "end", "run_jobs")
_CACHED = ("CACHE_BYTES",)


def refuse_clashes(
    summary: Summary, groups: tuple[ConstantGroup, ...], models: tuple[tuple[ModelRow, ModelCode], ...], manifest: str
) -> None:
    """Raise ManifestError, placed at the manifest, when two entities of the generated C would have one name."""
    taken: dict[str, str] = {}
    for owner, name in _names(summary, groups, models):
        other = taken.setdefault(name, owner)
        if other != owner:
            message = f"{other} and {owner} both make the name {name} in C"
            where = "the program" if "function " in owner else "the manifest"
            raise ManifestError(Diagnostic("P306", message, manifest, f"rename one of the two in {where}"))


def _names(
    summary: Summary, groups: tuple[ConstantGroup, ...], models: tuple[tuple[ModelRow, ModelCode], ...]
) -> Iterator[tuple[str, str]]:
    """Yield (whose, name) of every macro, object, function and guard that others could see."""
    yield "the project", f"{summary.macro}_H"
    yield from (("the project", f"{summary.project}_{part}") for part in _OF_GUARD)
    if any(pool.is_sealed for pool in summary.pools):
        yield from (("the project", f"{summary.project}_{part}") for part in _OF_SEALS)
    for pool in summary.pools:
        yield from _of_pool(summary.project, f'pool "{pool.name}"', pool)
    for group in groups:
        readers = " and ".join(summary.models[index].name for index in group.models)
        yield f'the constants of {readers} in pool "{group.pool.name}"', group.symbol
        yield f'the constants of {readers} in pool "{group.pool.name}"', f"{group.symbol.upper()}_OFFSET"
    yield from (("the project", f"{summary.macro}_{part}") for part in ("MODELS", "SLOTS"))
    for row, code in models:
        owner = f'model "{row.name}"'
        yield owner, f"{summary.macro}_GUARD_{row.macro}"
        yield from _of_model(summary.project, owner, row, code)


def _of_model(project: str, owner: str, row: ModelRow, code: ModelCode) -> Iterator[tuple[str, str]]:
    yield owner, f"{row.macro}_H"
    row_parts = _OF_ROWS if row.inputs_by_rows or row.outputs_by_rows else ()
    yield from ((owner, f"{row.name}_{part}") for part in (*OF_MODELS, *row_parts))
    yield from ((owner, step.function) for step in code.steps)
    yield from ((owner, symbol) for symbol in code.table_symbols)
    yield from _of_functions(project, owner, code.functions)
    for pool, _ in row.pools:
        kind = "WORKSPACE" if pool.is_workspace else "CONSTANT"
        yield f'{owner} in pool "{pool.name}"', f"{row.macro}_{pool.name.upper()}_{kind}_POOL_SIZE"
    for side, ports in (("input", code.inputs), ("output", code.outputs)):
        for port in ports:
            yield from _of_port(f'{side} "{port.name}" of {owner}', owner, port)
    for buffer in code.buffers:
        yield from ((f"{owner}, {buffer.variable}", f"{buffer.macro}_{part}") for part in ("OFFSET", "BYTES"))


def _of_port(whose: str, owner: str, port: PortRow) -> Iterator[tuple[str, str]]:
    parts = (*_OF_PORTS, *_CACHED) if port.cache_line else _OF_PORTS
    yield from ((whose, f"{port.macro}_{part}") for part in parts)
    if port.name.isupper():  # a member of a struct, which must not be one of our macros
        yield f"the name {port.name} of {owner}", port.name


def _of_pool(project: str, owner: str, pool: PoolRow) -> Iterator[tuple[str, str]]:
    yield owner, pool.symbol
    yield from ((owner, f"{pool.macro}_{part}") for part in ("SIZE", "ALIGNMENT", "SECTION"))
    if any(pool.canaries):
        yield owner, f"{pool.symbol}_between"
        yield from (("the project", f"{project}_{part}") for part in _OF_CANARIES)
    if pool.is_sealed:
        yield owner, f"{project}_check_{pool.name}"
        yield owner, f"{pool.macro}_ID"
    if pool.is_passed and pool.name.isupper():  # a member of a struct, which must not be one of our macros
        yield owner, pool.name


def _of_functions(project: str, owner: str, functions: tuple[FunctionCode, ...]) -> Iterator[tuple[str, str]]:
    for function in functions:
        yield from ((f"function {function.name} of {owner}", name) for name in function.names)
        if function.on_demand:
            yield from (("the project", f"{project}_{hook}") for hook in ("allocate", "release"))
