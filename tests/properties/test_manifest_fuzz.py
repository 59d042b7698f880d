"""Manifests that nobody would write: only `ManifestError` escapes, and places agree with what tomli reads.

`USMP_FUZZ=2000` makes more of them.
"""

import math
import os
from pathlib import Path

import numpy as np
import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

from usmp_build.document.source import Source
from usmp_build.errors import ManifestError, Span
from usmp_build.manifest import load, resolve
from usmp_build.manifest.explain import fields_of
from usmp_build.manifest.locate import Node, locate
from usmp_build.manifest.model import TABLES
from usmp_build.manifest.page import EXAMPLE

ROOT = Path(__file__).parents[2]
ROUNDS = int(os.environ.get("USMP_FUZZ", "200"))
SEEDS = [EXAMPLE.encode(), *(path.read_bytes() for path in sorted((ROOT / "tests/errors").glob("*/usmp.toml")))]


def pieces(text: str) -> list[str]:
    """Split at newlines and bars."""
    return text.strip().replace("\n", "|").split("|")


BYTES = [
    *(b"[ ] [[ ]] { } = , . # \" ' \"\"\" ''' \\ \\u \\x \n \r \r\n \t \0 \xff \xc3 \xef\xbb\xbf".split(b" ")),
    *(b"0 -1 1e400 nan inf 0x 0xFFFFFFFFFFFFFFFFFF 99999999999999999999 true 1979-05-27 07:32:00 \xe6\x97\xa5".split()),
]
VALUES = pieces(r"""
0|-1|4096|1e3|true|nan|0xFFFFFFFFFFFFFFFFFF|2024-01-01
"kws"|"sram"|"flash"|"64 KiB"|"rw"|"ro"|"cpu"|"a.b"|""|"\n"|'''a'''
"application"|"pool"|"reserved"|"hill_climb"|"reference"
[]|[[]]|[{}]|[1]|["kws", "kws"]|["sram"]|["flash", "dtcm"]|[["kws", "vad"]]|["a", ["b"]]
{}|{ a = 1 }|{ cpu = "rw" }|{ a = { b = [1, { c = 2 }] } }
""")
KEYS_OF_ALL = [key for table in TABLES for key in fields_of(table)]
HEADERS = pieces("[pools.sram]|[models.kws]|[models.x]|[[connections]]|[[models.kws.place]]|[a.b]")


def mutated(seed: int) -> bytes:
    """A manifest with a few changes, most of which leave it TOML."""
    draw = np.random.default_rng(seed)
    text = SEEDS[int(draw.integers(len(SEEDS)))]
    for _ in range(int(draw.integers(1, 6))):
        text = (by_line if draw.random() < 0.9 else by_byte)(text, draw)
    return text


def by_byte(text: bytes, draw: np.random.Generator) -> bytes:
    """Cut a piece out, put one in, or double it."""
    start, length = int(draw.integers(len(text) + 1)), int(draw.geometric(0.1))
    pieces = [b"", BYTES[int(draw.integers(len(BYTES)))], text[start : start + length] * int(draw.integers(2, 40))]
    return text[:start] + pieces[int(draw.integers(3))] + text[start + length * int(draw.integers(2)) :]


def by_line(text: bytes, draw: np.random.Generator) -> bytes:
    """Take a line away or add one; give a key another value, or a value another key."""

    def any_of(choices: list[str]) -> bytes:
        return choices[int(draw.integers(len(choices)))].encode()

    lines = text.split(b"\n")
    at = int(draw.integers(len(lines)))
    key, equals, value = lines[at].partition(b" = ")
    kind = int(draw.integers(7))
    if kind == 0:
        lines[at] = b""
    elif kind == 1:
        lines.insert(at, any_of(HEADERS))
    elif kind == 2:
        lines.insert(at, any_of(KEYS_OF_ALL) + b" = " + any_of(VALUES))
    elif kind == 3 and equals:
        lines[at] = any_of(KEYS_OF_ALL) + b" = " + value
    elif equals:
        lines[at] = key + b" = " + any_of(VALUES)
    return b"\n".join(lines)


@pytest.mark.parametrize("part", range(10))
def test_only_manifest_errors_escape(part: int) -> None:
    for seed in range(part, ROUNDS, 10):
        text = mutated(seed)
        try:
            resolve(load(text, "usmp.toml"))
        except ManifestError as error:
            assert_presentable(error, text)
        assert_places_agree_if_toml(text)


@given(st.binary(max_size=200))
@settings(max_examples=ROUNDS, derandomize=True)
def test_any_bytes(text: bytes) -> None:
    try:
        resolve(load(text, "usmp.toml"))
    except ManifestError as error:
        assert_presentable(error, text)


def assert_presentable(error: ManifestError, text: bytes) -> None:
    assert error.diagnostics
    lines = text.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    for diagnostic in error.diagnostics:
        assert diagnostic.help
        assert diagnostic.code.startswith("M1")
        assert "\n" not in diagnostic.message + diagnostic.help
        place = diagnostic.place
        assert isinstance(place, Span)
        assert 1 <= place.line <= len(lines)
        assert place.length >= 1
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1
        assert len(str(diagnostic)) < 3000
        assert str(diagnostic).count("\n") <= 3


def assert_places_agree_if_toml(text: bytes) -> None:
    try:
        source = Source("usmp.toml", text.decode().replace("\r\n", "\n"))
        document = tomli.loads(source.text)
    except (ValueError, RecursionError):
        return
    assert_places_agree(source, document)


def assert_places_agree(source: Source, document: dict[str, object]) -> None:
    def visit(node: Node, value: object) -> None:
        if isinstance(value, (dict, list)):
            assert list(node.children) == list(value if isinstance(value, dict) else range(len(value)))
        for key, child in node.children.items():
            assert isinstance(value, (dict, list))
            inner = value[key]  # type: ignore[index]
            if isinstance(key, str):
                assert reads(source.text[slice(*child.key)] + " = 0", {key: 0})
            start, end = child.value
            shown = source.text[start:end]
            is_header = isinstance(inner, (dict, list)) and shown.startswith("[")
            is_dotted = isinstance(inner, dict) and child.key == child.value
            assert is_header or is_dotted or reads(f"value = {shown}", {"value": inner})
            visit(child, inner)

    visit(locate(source).root, document)


def reads(text: str, expected: dict[str, object]) -> bool:
    return same(tomli.loads(text), expected)


def same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


SCALARS = st.sampled_from(
    [
        *pieces(r"""
1|-17|0xFF|1_000|3.14|-0.0|1e5|inf|nan|true|false
1979-05-27|07:32:00|1979-05-27T07:32:00.5Z|1979-05-27 07:32:00|1979-05-27 07:32:00-07:00
"text"|""|"a\"b"|"\\"|"\u00e9#"|"a = [1]"|"日本"|"]"|"# }"|"a, b"|"\\\""
''|'C:\x'|'"'|'#'|'a b'|'\'|'''a'b'''|''''a''b'''''
"""),
        *('"""a"""', '"""\n[x]\ny = 1 # """', '"""a""b"""', '"""a"""""', '"""\\"""\\\n  b"""', '""""""', "'''\n\\'''"),
    ]
)
BLANKS = st.sampled_from(["", " ", "\t", "  "])
GAPS = st.sampled_from(["", " ", "\n", ' # comment ] } "\n', "\n\n\t", "\n# ''' \n"])
KEYS = st.one_of(
    st.sampled_from(["a", "b", "key", "1", "true", "1979-05-27", "-", "_x"]),
    st.sampled_from(['"a.b"', '"x y"', "'c'", '""', "''", '"\\u00e9"', '"\\n"', '"]"', "'['", '"="', '"#"', "'日本'"]),
)


@st.composite
def inline(draw: st.DrawFn, depth: int = 0) -> str:
    """A value as it stands after an equals sign."""
    kind = draw(st.integers(0, 3 if depth < 3 else 1))
    if kind < 2:
        return draw(SCALARS)
    if kind == 2:
        items = [draw(GAPS) + draw(inline(depth + 1)) + draw(GAPS) for _ in range(draw(st.integers(0, 3)))]
        trailing: bool = draw(st.booleans())
        comma = draw(GAPS) + "," + draw(GAPS) if items and trailing else ""
        return "[" + (",".join(items) or draw(GAPS)) + comma + "]"
    keys = draw(st.lists(KEYS, max_size=3, unique_by=decoded))
    pairs = [f"{draw(BLANKS)}{draw(dotted(key))}{draw(BLANKS)}={draw(BLANKS)}{draw(inline(depth + 1))}" for key in keys]
    return "{" + ",".join(pair + draw(BLANKS) for pair in pairs) + "}"


def decoded(key: str) -> str:
    (name,) = tomli.loads(f"{key} = 0")
    return name


@st.composite
def dotted(draw: st.DrawFn, key: str) -> str:
    """A key, perhaps with more keys below it."""
    parts = [key, *draw(st.lists(KEYS, max_size=2))]
    return (draw(BLANKS) + "." + draw(BLANKS)).join(parts)


@st.composite
def table(draw: st.DrawFn, path: tuple[str, ...] = ()) -> str:
    """The lines of a table: its own keys, then its tables and arrays of tables."""
    keys = draw(st.lists(KEYS, max_size=5, unique_by=decoded))
    own = draw(st.integers(0, len(keys))) if len(path) < 3 else len(keys)
    text = draw(GAPS)
    for key in keys[:own]:
        text += f"{draw(BLANKS)}{draw(dotted(key))}{draw(BLANKS)}={draw(BLANKS)}{draw(inline())}{draw(BLANKS)}\n"
    for key in keys[own:]:
        below = (*path, key)
        name = draw(BLANKS) + (draw(BLANKS) + "." + draw(BLANKS)).join(below) + draw(BLANKS)
        kind = draw(st.integers(0, 3))
        if kind == 0:  # a table that is there only for the one in it, and is declared afterwards
            text += f"[{name}. sub]\n" + draw(GAPS) + "\n" + draw(st.sampled_from(["", f"[{name}] # later\nown = 1\n"]))
        elif kind == 1:
            text += f"[{name}]{draw(BLANKS)}# header\n" + draw(table(below))
        else:
            for _ in range(draw(st.integers(1, 3))):
                text += f"[[{name}]]\n" + draw(table(below))
    return text


@pytest.mark.long
@given(table())
@settings(max_examples=ROUNDS, derandomize=True)
def test_places_agree_with_tomli(text: str) -> None:
    assert_places_agree(Source("usmp.toml", text), tomli.loads(text))
