"""Reads the regions of MEMORY in a linker script of GNU ld."""

from __future__ import annotations

from typing import Literal

from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted
from usmp_build.manifest.memory_maps.expression import Names, number
from usmp_build.manifest.memory_maps.memory import Memory, check_size
from usmp_build.manifest.memory_maps.tokens import LINKER_SCRIPT, Token, Tokens

_ORIGIN = ("ORIGIN", "org", "o")
_LENGTH = ("LENGTH", "len", "l")
_READ_ONLY = ("flash", "rom")
"""Parts of the names of regions that, without attributes, are not written."""


def read_linker_script(source: Source) -> tuple[Memory, ...]:
    """Return the regions of all MEMORY blocks, in their order.

    Raises UsageError (U272, U273) for text that is not a linker script, values that the file does not state, and
    regions in an included file.
    """
    tokens = Tokens(source, LINKER_SCRIPT)
    names = Names()
    memories: dict[str, Memory] = {}
    included: Token | None = None
    while tokens.next.text:
        token = tokens.take()
        if token.text == "MEMORY" and tokens.accept("{"):
            _read_block(tokens, names, memories)
        elif token.text == "{":
            tokens.skip_block()
        elif token.text == "INCLUDE":
            included = included or token
        elif tokens.next.text == "=" and token.text not in names.symbols:
            names.symbols[token.text] = tokens.at + 1
            tokens.skip_statement()
    if included and not memories:
        help_ = "give the included file instead, or one in which MEMORY stands itself"
        raise tokens.refused(included, "there is no MEMORY here, and included files are not read", help_)
    return tuple(memories.values())


def _read_block(tokens: Tokens, names: Names, memories: dict[str, Memory]) -> None:
    while not tokens.accept("}"):
        name = tokens.take()
        if name.text == "INCLUDE":
            help_ = "put the regions of that file here"
            raise tokens.refused(name, "regions of an included file are not read", help_)
        if not name.text or not (name.text[0].isalpha() or name.text[0] in '_.$"'):
            raise tokens.malformed(name, "expected the name of a region, or }")
        region = name.text.strip('"')
        if region in memories:
            raise tokens.refused(name, f"region {quoted(region)} is there twice", "remove one")
        access = _read_access(tokens, region)
        tokens.expect(":")
        tokens.expect(*_ORIGIN)
        tokens.expect("=")
        origin = number(tokens, names)
        tokens.accept(",")
        tokens.expect(*_LENGTH)
        tokens.expect("=")
        start = tokens.next.start
        length = check_size(number(tokens, names), tokens.source, start, start + 1)
        names.regions[region] = (origin, length)
        span = tokens.source.between(name.start, name.start + len(name.text))
        memories[region] = Memory(region, access, length, origin, span)


def _read_access(tokens: Tokens, region: str) -> Literal["rw", "ro"]:
    """Take attributes, such as (rx) or (!w); without any, a memory is written unless its name says otherwise."""
    if not tokens.accept("("):
        return "ro" if any(word in region.lower() for word in _READ_ONLY) else "rw"
    is_negated, is_written = False, False
    while not tokens.accept(")"):
        token = tokens.take()
        if not token.text or token.text.lower().strip("rwxail!"):
            raise tokens.malformed(token, "expected attributes of a region, such as (rx)")
        for letter in token.text.lower():
            is_negated ^= letter == "!"
            is_written |= letter == "w" and not is_negated
    return "rw" if is_written else "ro"
