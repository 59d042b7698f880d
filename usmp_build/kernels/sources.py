"""Selects the C of functions: the definitions that they need from the files of packages, each once.

A file is a list of *pieces*: a struct, a function or macros, with the comment on top of it.  A piece begins in the
first column, after an empty line.  Comments that stand alone describe the file, and are left out.  Macros of a piece
are found by the name of its first one, and keep their names: they are in no header.  A function that is not static is
public: its prototype is made of it, and takes its comment along.

A file is written for one type of elements.  Where `_ELEMENT_TYPES` names more, each piece with `_s8` in its names is
there for the others, too: with `_s16` and `usmp_i16` in place of `_s8` and `int8_t`.  Values that are computed in a
wider type (`int32_t sum`) stay what they are, but for the names of `_OTHER_TYPES`.  Lines for some of the types are
between `#if USMP_S8 || USMP_S16`, `#elif`, `#else` and `#endif`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import cache, partial
from importlib.resources import files

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import KernelSources

PREFIX = "usmp_"
REFERENCE = tuple(f"usmp_build.kernels.{folder}" for folder in ("portable", "scalar", "dsp", "mve"))
"""The packages of the library "reference"."""
_NAME = re.compile(rf"\b{PREFIX}\w+|\b{PREFIX.upper()}\w+")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_DEFINED = re.compile(
    rf"struct (?P<struct>{PREFIX}\w+) {{"
    rf"|(?:#(?:if|elif|error)[^\n]*\n)*#define (?P<macro>{PREFIX.upper()}\w+)"
    rf"|[\w *]*\b(?P<function>{PREFIX}\w+)\("
)
_TYPES = r"USMP_[SUF]\d+\b.*"
_CHOICE = re.compile(rf"^#if (?P<types>{_TYPES})\n(?P<branches>(?:.*\n)*?)#endif\n", re.MULTILINE)
_BETWEEN_PIECES = re.compile(rf"\n\n+(?!\s|#if {_TYPES})")
_INCLUDE = re.compile(r'^#include [<"](.+)[>"]\n', re.MULTILINE)
_GUARD = re.compile(r"^#ifndef (USMP_\w+_H)\n#define \1\n(.*)^#endif\n\Z", re.MULTILINE | re.DOTALL)

_C_TYPES = {
    "s8": "int8_t",
    "s16": "usmp_i16",
    "s32": "usmp_i32",
    "s64": "usmp_i64",
    "u8": "uint8_t",
    "u32": "usmp_u32",
    "f32": "usmp_f32",
}
"""Suffix of a name → the C type of its elements."""
_OTHER_TYPES = {
    "usmp_element": {"s8": "int8_t", "s16": "int16_t"},
    "usmp_number": {"s8": "int32_t", "s16": "int32_t", "s32": "int32_t", "f32": "float"},
    "usmp_pool_sum": {"s8": "usmp_i32", "s16": "usmp_i32", "f32": "usmp_f32"},
    "usmp_shift": {"s8": "int8_t", "s16": "int8_t"},
    "usmp_stored_sum": {"s8": "usmp_i32", "s16": "usmp_i64", "f32": "usmp_f32"},
    "usmp_sum": {"s8": "int32_t", "s16": "int64_t", "f32": "float"},
    "usmp_weight": {"s8": "int8_t", "s16": "int8_t", "f32": "float"},
}
"""Name of a type → what it is where elements are of a type."""
_TYPE_NAME = re.compile(rf"\b(?:{'|'.join(_OTHER_TYPES)})\b")
_ELEMENT_TYPES = {
    "add.h": "s8 s16",
    "add_plain.c": "s32 f32",
    "add_s8.c": "s8 s16",
    "average_pool_2d_s8.c": "s8 s16",
    "average_pool_2d_sums.c": "s8 s16 f32",
    "batch_matmul.c": "s8 s16 f32",
    "blocks_dsp.h": "s8 s16",
    "broadcast_args.c": "s32 s64",
    "cast.c": "u32 s8 u8 s16 s32 f32",
    "cast_f32.c": "s8 u8 s16 s32",
    "cast_u32.c": "s8 u8 s16 s32 f32",
    "cast_u8.c": "s8 u8 s16 s32 u32 f32",
    "channels_dsp.h": "s8 s16",
    "clamp.c": "s8 s16",
    "conv_2d.h": "s8 s16 f32",
    "conv_2d_dsp.h": "s8 s16",
    "conv_2d_s16.c": "s16 f32",
    "conv_2d_s8_dsp.c": "s8 s16",
    "conv_2d_sums.c": "s8 s16 f32",
    "depthwise_conv_2d.h": "s8 s16 f32",
    "depthwise_conv_2d_s16.c": "s16 f32",
    "depthwise_conv_2d_s8_dsp.c": "s8 s16",
    "depthwise_conv_2d_sums.c": "s8 s16 f32",
    "dequantize.c": "s8 s16 u8",
    "dynamic_update_slice.c": "s32 s64",
    "equal.c": "f32 s32 s64 u8",
    "fft.h": "s16 s32 f32",
    "fully_connected.c": "s8 s16 f32",
    "fully_connected.h": "s8 s16 f32",
    "greater.c": "f32 s32 s64",
    "grouped_conv_2d.c": "s8 s16 f32",
    "leaky_relu.c": "s8 s16",
    "lstm_integers.c": "s8 s16",
    "max_pool_2d.c": "s8 s16 f32",
    "max_pool_2d_s8_dsp.c": "s8 s16",
    "maximum.c": "s8 s16 s32 s64 f32",
    "mean.h": "s8 s16",
    "mean_s8.c": "s8 s16",
    "mul.h": "s8 s16",
    "mul_plain.c": "s32 f32",
    "mul_s8.c": "s8 s16",
    "part.h": "s32 s64",
    "pixel_fours.h": "s8 s16",
    "pixel_sums.h": "s8 s16",
    "pool_2d.h": "s8 s16 f32",
    "prelu.c": "s16 s8",
    "reduce.h": "s8 s16 u8",
    "reduce_max.c": "s8 s16 u8",
    "reduce_max_rows.c": "s8 s16",
    "reduce_sum.c": "s8 s16",
    "requantize_s16.c": "s32 s8 s16",
    "requantize_s32.c": "s16 s8",
    "requantize_s8.c": "u8 s8 s16 s32",
    "resize_bilinear_s8.c": "s8 s16",
    "select.c": "s8 s16 s32 f32",
    "signal_irfft.c": "s16 s32 f32",
    "signal_overlap_add.c": "s16 f32",
    "signal_rfft.c": "s16 s32 f32",
    "slice.c": "s32 s64",
    "squared_difference.c": "s8 s16",
    "svdf.h": "s8 f32",
    "svdf_s8.c": "s16 s8",
    "taps.h": "s8 s16",
    "transpose_conv.c": "s8 s16 f32",
    "transpose_conv.h": "s8 s16 f32",
    "truth.c": "s8 u8 s16 s32 u32 f32",
}
"""File → the types that its pieces are there for; the first is the one that it is written for."""


@frozen
class Piece:
    """A definition."""

    name: str
    text: str
    prototype: str
    """That of a public function, with its comment; else empty."""
    uses: frozenset[str]
    headers: tuple[str, ...]
    """System headers of its file."""

    @property
    def interface(self) -> frozenset[str]:
        """Return the names in the prototype, but for its own."""
        return frozenset(_NAME.findall(_COMMENT.sub("", self.prototype))) - {self.name}


def choose(calls: Iterable[str], prefix: str, packages: tuple[str, ...] = REFERENCE) -> KernelSources:
    """Return the C of functions as `KernelCall` names them, and of all that they use, with the requested prefix.

    The files are in the folders `c` of `packages`.
    """
    definitions = {piece.name: piece for piece in library(packages)}
    requested = {name for call in calls for name in _functions(call, definitions.keys())}
    structs = {use for name in requested for use in definitions[name].interface & definitions.keys()}
    wanted = _closure(requested, definitions) - structs
    defined = [piece for piece in definitions.values() if piece.name in wanted]
    includes = sorted({header for piece in defined for header in piece.headers})

    def renamed(match: re.Match[str]) -> str:
        has_prefix = match[0] in definitions and match[0].startswith(PREFIX)
        return f"{prefix}_{match[0].removeprefix(PREFIX)}" if has_prefix else match[0]

    def join(parts: Iterable[str]) -> str:
        return "".join(f"{_NAME.sub(renamed, part)}\n\n" for part in parts).rstrip("\n")

    top = ["\n".join(f"#include <{header}>" for header in includes)] if includes else []
    source = join([*top, *(piece.text for piece in defined)])
    return KernelSources(join(_declarations(requested, structs, definitions)), source, "math.h" in includes)


def _declarations(requested: Set[str], structs: Set[str], definitions: dict[str, Piece]) -> list[str]:
    """Return the structs, each with the prototypes of the functions that take it below."""
    positions = {name: position for position, name in enumerate(definitions)}

    def place(name: str) -> int:
        return max((positions[use] for use in definitions[name].interface & structs), default=positions[name])

    names = sorted(requested | structs, key=lambda name: (place(name), positions[name]))
    return [definitions[name].prototype if name in requested else definitions[name].text for name in names]


def functions() -> tuple[str, ...]:
    """Return the names of all public functions, without a prefix."""
    return tuple(sorted(piece.name.removeprefix(PREFIX) for piece in library() if piece.prototype))


@cache
def library(packages: tuple[str, ...] = REFERENCE) -> tuple[Piece, ...]:
    """Return all pieces of packages, each after those that it uses."""
    folders = [files(package) / "c" for package in packages]
    texts = {
        file.name: file.read_text(encoding="utf-8")
        for folder in folders
        for file in folder.iterdir()
        if file.name[-2:] in (".c", ".h")
    }
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        for header in _INCLUDE.findall(texts[name]):
            if header in texts:
                visit(header)
        order.setdefault(name)

    for name in sorted(texts):
        visit(name)
    return tuple(piece for name in order for piece in _pieces(name, texts[name], texts.keys()))


def _pieces(file: str, text: str, local: Iterable[str]) -> list[Piece]:
    headers = tuple(header for header in _INCLUDE.findall(text) if header not in {*local, "usmp.h"})
    body = _GUARD.sub(r"\2", _INCLUDE.sub("", text)).strip("\n")
    parts = _BETWEEN_PIECES.split(body)
    types = _ELEMENT_TYPES.get(file, "").split()
    return [
        _piece(variant, definition, headers)
        for part in parts
        for variant in _of_each_type(part, types)
        if (definition := _DEFINED.match(_COMMENT.sub("", variant).strip()))
    ]


def _piece(text: str, definition: re.Match[str], headers: tuple[str, ...]) -> Piece:
    name = definition[definition.lastgroup or 0]
    code = definition.string
    uses = frozenset(_NAME.findall(code)) - {name}
    if not definition["function"] or code.startswith("static "):
        return Piece(name, text, "", uses, headers)
    start = text.index(definition[0])
    signature, brace, body = text[start:].partition("\n{\n")
    return Piece(name, signature + brace + body, f"{text[:start]}{signature};", uses, headers)


def _of_each_type(part: str, types: Sequence[str]) -> Iterator[str]:
    """Yield the piece as it is written, and for each further type, if its names say that it is of the first."""
    if not types or not re.search(rf"\b{PREFIX}\w*_{types[0]}(?![a-z0-9])", _COMMENT.sub("", part)):
        yield part
        return
    for suffix in types:
        lines = _CHOICE.sub(partial(_lines_for, suffix), part)
        renamed = re.sub(rf"(\b{PREFIX}\w*)_{types[0]}(?![a-z0-9])", rf"\1_{suffix}", lines)
        of_type = re.sub(rf"\b{_C_TYPES[types[0]]}\b", _C_TYPES[suffix], renamed)
        yield _TYPE_NAME.sub(partial(_other_type, suffix), of_type)


def _other_type(suffix: str, name: re.Match[str]) -> str:
    return _OTHER_TYPES[name[0]][suffix]


def _lines_for(suffix: str, choice: re.Match[str]) -> str:
    """Return the lines of the first branch that is there for a type."""
    first, *others = re.split(r"^#el(?:if (.+)|se)\n", choice["branches"], flags=re.MULTILINE)
    for condition, lines in [(choice["types"], first), *zip(others[::2], others[1::2], strict=True)]:
        if condition is None or f"USMP_{suffix.upper()}" in condition.split(" || "):
            return lines
    return ""


def _functions(call: str, defined: Collection[str]) -> list[str]:
    """Return the function of a call, or the three of a reduction."""
    names = [f"{PREFIX}{call}{suffix}" for suffix in ("", "_begin", "_row", "_finish")]
    functions_of_call = [name for name in names if name in defined]
    if not functions_of_call:
        raise KeyError(f"no C function is called {call}")
    return functions_of_call


def _closure(requested: set[str], definitions: dict[str, Piece]) -> set[str]:
    """Return the names of all definitions that the requested ones need, themselves included."""
    closure: set[str] = set()
    rest = set(requested)
    while rest:
        name = rest.pop()
        closure.add(name)
        rest |= (definitions[name].uses & definitions.keys()) - closure
    return closure
