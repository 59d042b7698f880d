"""The jinja2 environment that all emitters share."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from usmp_build import naming


@cache
def environment() -> Environment:
    """Strict: an unknown name in a template is an error, and every kind of output has its escaping filter."""
    result = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # C is not HTML: each value goes through the filter of its place
    )
    result.filters |= {
        "c_comment": naming.c_comment,
        "c_string": naming.c_string,
        "cmake": naming.cmake_string,
        "linker": naming.linker_name,
    }
    return result


def render(template: str, **values: object) -> str:
    """Fill in a template."""
    return environment().get_template(template).render(**values)
