"""Selects the C of functions: the definitions that they need from the files in `c/`, each once.

A file is a list of *pieces*: a struct, a prototype or a function, with the comment on top of it.  A piece begins in
the first column, after an empty line.  Comments that stand alone describe the file, and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from usmp_build.interfaces.kernels import KernelSources

PREFIX = "usmp_"
_NAME = re.compile(rf"\b{PREFIX}\w+")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_DEFINED = re.compile(rf"(?:struct ({PREFIX}\w+) {{|[\w *]*\b({PREFIX}\w+)\()")
_INCLUDE = re.compile(r'^#include [<"](.+)[>"]\n', re.MULTILINE)
_GUARD = re.compile(r"^#(?:ifndef|define|endif)\b.*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A definition or a prototype."""

    name: str
    text: str
    is_prototype: bool
    uses: frozenset[str]
    headers: tuple[str, ...]
    """System headers of its file."""


def choose(calls: Iterable[str], prefix: str) -> KernelSources:
    """Return the C of functions as `KernelCall` names them, and of all that they use, with the requested prefix."""
    pieces = library()
    definitions = {piece.name: piece for piece in pieces if not piece.is_prototype}
    requested = {name for call in calls for name in _functions(call, definitions.keys())}
    public = {use for p in pieces if p.is_prototype and p.name in requested for use in p.uses & definitions.keys()}
    declared = [p for p in pieces if p.name in public or (p.is_prototype and p.name in requested)]
    wanted = _closure(requested, definitions) - public
    defined = [p for p in pieces if p.name in wanted and not p.is_prototype]
    includes = sorted({header for piece in defined for header in piece.headers})

    def renamed(match: re.Match[str]) -> str:
        return f"{prefix}_{match[0].removeprefix(PREFIX)}" if match[0] in definitions else match[0]

    def join(parts: Iterable[str]) -> str:
        return "".join(f"{_NAME.sub(renamed, part)}\n\n" for part in parts).rstrip("\n")

    top = ["\n".join(f"#include <{header}>" for header in includes)] if includes else []
    source = join([*top, *(p.text for p in defined)])
    return KernelSources(join(p.text for p in declared), source, needs_math="math.h" in includes)


def functions() -> tuple[str, ...]:
    """Return the names of all public functions, without a prefix."""
    return tuple(sorted(piece.name.removeprefix(PREFIX) for piece in library() if piece.is_prototype))


@cache
def library() -> tuple[Piece, ...]:
    """Return all pieces, each after those that it uses."""
    folder = files(__package__) / "c"
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name[-2:] in (".c", ".h")}
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        for header in _INCLUDE.findall(texts[name]):
            if header in texts:
                visit(header)
        order.setdefault(name)

    for name in sorted(texts):
        visit(name)
    return tuple(piece for name in order for piece in _pieces(texts[name], texts.keys()))


def _pieces(text: str, local: Iterable[str]) -> list[Piece]:
    headers = tuple(header for header in _INCLUDE.findall(text) if header not in {*local, "usmp.h"})
    body = _GUARD.sub("", _INCLUDE.sub("", text)).strip("\n")
    pieces = []
    for part in re.split(r"\n\n+(?=\S)", body):
        code = _COMMENT.sub("", part).strip()
        definition = _DEFINED.match(code)
        if definition:
            name = definition[1] or definition[2]
            pieces.append(Piece(name, part, code.endswith(");"), frozenset(_NAME.findall(code)) - {name}, headers))
    return pieces


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
