"""The jinja2 environment that all emitters share."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from textwrap import fill

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from usmp_build import naming
from usmp_build.output.bundle import GENERATED_BY

_WIDTH = 120
"""Columns of generated C, where names allow it."""


class _CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates beside the compiled modules, where Python keeps these: most commands compile none."""

    def __init__(self) -> None:
        super().__init__(str(Path(cache_from_source(__file__)).parent), f"%s.{sys.implementation.cache_tag}.template")

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)


@cache
def environment() -> Environment:
    """Strict: an unknown name in a template is an error, and every kind of output has its escaping filter."""
    result = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
        bytecode_cache=_CompiledTemplates(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        optimized=False,  # a template is filled in a few times: folding its constants takes longer than it saves
        autoescape=False,  # C is not HTML: each value goes through the filter of its place
    )
    result.globals["generated_by"] = GENERATED_BY
    result.filters |= {
        "arguments": arguments,
        "c_comment": naming.c_comment,
        "c_string": naming.c_string,
        "cmake": naming.cmake_string,
        "hash_comment": naming.hash_comment,
        "included": naming.included_symbol,
        "linker": naming.linker_name,
        "make": naming.make_value,
        "starlark": naming.starlark_string,
        "symbol": naming.pool_symbol,
        "wrapped": wrapped,
    }
    return result


def render(template: str, **values: object) -> str:
    """Fill in a template."""
    return environment().get_template(template).render(**values)


def wrapped(values: Iterable[object]) -> str:
    """Set the elements of an array in C, on lines that are indented."""
    text = ", ".join(map(str, values))
    return fill(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")


def arguments(values: list[str], column: int) -> str:
    """Set the arguments of a C call that begins at `column`: on one line, or wrapped under the first one."""
    lines = [""]
    for value in values:
        joined = f"{lines[-1]}, {value}" if lines[-1] else value
        if lines[-1] and column + len(joined) + len(");") > _WIDTH:
            lines[-1] += ","
            lines.append(value)
        else:
            lines[-1] = joined
    return f"\n{' ' * column}".join(lines)
