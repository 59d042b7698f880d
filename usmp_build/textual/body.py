"""Reads and writes statements of programs in the textual form, which `text` describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from usmp_build.ir.statements import (
    LOOPS,
    MAX_NESTING,
    Access,
    Allocate,
    For,
    If,
    Invoke,
    Provider,
    Statement,
    too_deep,
)
from usmp_build.textual.lines import Line
from usmp_build.textual.values import quote, spell_references

WORDS = frozenset({"allocate", "for", "if", "store", "access", "call", "}"})
"""First words of lines with statements."""
_PROVIDERS = {provider.value: provider for provider in Provider}

Lines: TypeAlias = Callable[[], Line]
"""Ends the current line, and returns the next one."""


def spell_body(body: tuple[Statement, ...]) -> Iterator[str]:
    """Yield the lines that spell statements."""
    for statement in body:
        match statement:
            case Allocate(tensor, inner, provider):
                by = "" if provider is Provider.PLAN else f" by {provider.value}"
                yield f"allocate %{tensor}{by} {{"
            case For(kind, extent, inner, workers):
                many = "" if workers is None else f" workers={workers}"
                yield f"for {kind.value} {'_' if extent is None else extent}{many} {{"
            case If(condition, then, other):
                yield f"if %{condition} {{"
                yield from (f"  {line}" for line in spell_body(then))
                yield "} else {"
                inner = other
            case Access():
                yield _access(statement)
                continue
            case Invoke(function, arguments):
                yield f"call {function}({spell_references(arguments)})"
                continue
        yield from (f"  {line}" for line in spell_body(inner))
        yield "}"


def _access(access: Access) -> str:
    head = "store" if access.name == "store" else f"access {quote(access.name)}"
    written, read = spell_references(access.writes) or "_", spell_references(access.reads) or "_"
    near = f" elementwise {spell_references(access.elementwise)}" if access.elementwise else ""
    return f"{head} {written} {'=' if access.whole else '+='} {read}{near}"


def read_statement(line: Line, tensors: int, following: Lines, depth: int = 1) -> tuple[Statement, Line]:
    """Read a statement of a function that has `tensors` tensors; return it, and the line after it."""
    word = line.take("word", "a statement")
    if depth > MAX_NESTING:
        deep = too_deep()
        raise line.error(deep.code, deep.message, deep.help, word)
    match word.text:
        case "allocate":
            tensor = line.tensor(tensors)
            provider = line.choice("provider", _PROVIDERS) if line.accept("by") else Provider.PLAN
            inner, line = _read_block(line, tensors, following, depth)
            return Allocate(tensor, inner, provider), following()
        case "for":
            kind = line.choice("kind of loop", LOOPS)
            extent = None if line.accept("_") else line.integer("an extent")
            workers = line.integer("a number of workers") if line.accept_key("workers") else None
            inner, line = _read_block(line, tensors, following, depth)
            return For(kind, extent, inner, workers), following()
        case "if":
            condition = line.tensor(tensors)
            then, line = _read_block(line, tensors, following, depth)
            line.expect("else")
            other, line = _read_block(line, tensors, following, depth)
            return If(condition, then, other), following()
        case "call":
            return _read_call(line, tensors), following()
        case _:
            name = "store" if word.text == "store" else line.string("what it is")
            return _read_access(line, tensors, name), following()


def _read_block(line: Line, tensors: int, following: Lines, depth: int) -> tuple[tuple[Statement, ...], Line]:
    """Read `{`, statements, and `}`; return them, and the line after that mark."""
    line.expect("{")
    line = following()
    inner = []
    while line.peek().text != "}":
        if line.peek().text not in WORDS:
            line.expect("}")
        statement, line = read_statement(line, tensors, following, depth + 1)
        inner.append(statement)
    line.expect("}")
    return tuple(inner), line


def _read_call(line: Line, tensors: int) -> Invoke:
    function = line.integer("the number of a subgraph")
    line.expect("(")
    arguments: list[int | None] = []
    while line.peek().text != ")":
        arguments.append(None if line.accept("_") else line.tensor(tensors))
        if line.peek().text != ")":
            line.expect(",")
    line.expect(")")
    return Invoke(function, tuple(arguments))


def _read_access(line: Line, tensors: int, name: str) -> Access:
    writes = _read_references(line, tensors)
    whole = line.accept("=")
    if not whole:
        line.expect("+=")
    reads = _read_references(line, tensors)
    near = _read_references(line, tensors) if line.accept("elementwise") else ()
    return Access(reads, writes, whole, name, near)


def _read_references(line: Line, tensors: int) -> tuple[int, ...]:
    """Read one or more tensors, or `_` for none."""
    if line.accept("_"):
        return ()
    references = [line.tensor(tensors)]
    while line.accept(","):
        references.append(line.tensor(tensors))
    return tuple(references)
