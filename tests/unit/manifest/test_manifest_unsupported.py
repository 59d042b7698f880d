"""Words without effect are refused, not ignored; without them, or with their defaults, all is well."""

import re
from typing import Any

import pytest
import tomli

from usmp_build.errors import ManifestError
from usmp_build.manifest import load, resolve
from usmp_build.manifest.explain import fields_of, table_at
from usmp_build.manifest.model import TABLES
from usmp_build.manifest.page import EXAMPLE
from usmp_build.manifest.unsupported import NOT_YET

BASE = '[project]\nname = "doorbell"\n[models.kws]\npath = "kws.tflite"\n'
DEFAULTS = """
concurrent = []
connections = []
[pools.sram]
access = "rw"
owner = "generated"
dims = 1
attributes = []
target_burst_bytes = {}
[targets.cpu]
kernels = "reference"
isa = "portable"
copies = "memcpy"
rules = []
[models.vad]
path = "vad.tflite"
inputs = "consumed"
outputs = "run"
goal = "ram"
rewrites = {}
order = "free"

[[models.vad.place]]
operators = "*"
kernels = "reference"
[plan]
algorithm = "auto"
layout_copies = false
goal = "ram"
rewrites = {}
overlap = true
options = {}
"""


def places(text: str) -> list[tuple[int, str]]:
    """The lines that are refused, and what is under the carets."""
    try:
        resolve(load(text.encode(), "usmp.toml"))
    except ManifestError as error:
        diagnostics = error.diagnostics
    else:
        return []
    lines_and_texts = []
    for diagnostic in diagnostics:
        assert diagnostic.code == "M120"
        assert diagnostic.message.endswith("not supported yet")
        assert diagnostic.help
        span = diagnostic.place
        assert not isinstance(span, str)
        lines_and_texts.append((span.line, span.source[span.column - 1 :][: span.length]))
    return lines_and_texts


def test_the_example_has_every_word() -> None:
    keys: dict[type, set[str]] = {table: set() for table in TABLES}

    def visit(value: object, path: tuple[str | int, ...]) -> None:
        table = table_at(path)
        if isinstance(value, dict):
            if table:
                keys[table] |= set(value)
            for key, inner in value.items():
                visit(inner, (*path, key))
        elif isinstance(value, list):
            for position, inner in enumerate(value):
                visit(inner, (*path, position))

    visit(tomli.loads(EXAMPLE), ())
    assert keys == {table: set(fields_of(table)) for table in TABLES}


def test_the_example_marks_what_is_refused() -> None:
    marked = {number for number, line in enumerate(EXAMPLE.splitlines(), 1) if line.endswith("(later)")}
    assert {line for line, _ in places(EXAMPLE)} == marked


def test_the_example_has_every_word_of_which_something_is_refused() -> None:
    written = tomli.loads(EXAMPLE)
    assert [pattern for pattern in NOT_YET if not is_in(written, pattern)] == []


def is_in(value: Any, pattern: tuple[str, ...]) -> bool:
    """Tell whether there is something at a path with wildcards."""
    if not pattern:
        return True
    tables = value.values() if isinstance(value, dict) else value
    inner = tables if pattern[0] == "*" else [value[pattern[0]]] if pattern[0] in value else []
    return any(is_in(each, pattern[1:]) for each in inner)


@pytest.mark.parametrize(
    ("pattern", "value"), [(pattern, value) for pattern, word in NOT_YET.items() for value in word.values]
)
def test_every_refused_value(pattern: tuple[str, ...], value: object) -> None:
    names = {"pools": "sram", "targets": "cpu", "models": "vad"}
    table = ".".join(part if part != "*" else names[pattern[0]] for part in pattern[:3] if part != pattern[-1])
    text = re.sub(rf"(\[{table}\]\]?(?:\n[^\[]*)?\n{pattern[-1]} = ).*", rf"\g<1>{value!r}", DEFAULTS)
    assert text != DEFAULTS
    assert [caret.strip("'") for _, caret in places(text + BASE)] == [str(value)]


def test_defaults_may_be_written() -> None:
    resolve(load((DEFAULTS + BASE).encode(), "usmp.toml"))


def test_names_of_plug_ins_pass() -> None:
    request = resolve(load((BASE + '[plan]\nalgorithm = "mine"\n[targets.cpu]\nkernels = "ours"\n').encode(), "m.toml"))
    assert (request.algorithm, request.targets[0].kernels) == ("mine", "ours")
