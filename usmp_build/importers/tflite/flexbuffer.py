"""Reads options of custom operators: a flexbuffer whose root is a map from names to numbers.

It is read from its end: the last byte is the width of the root, the byte before that its type, and before that is the
root itself, where a reference is the distance back to what it means.  A map has its values side by side, with one byte
for the type of each after them, and before them, in words of the same width, the distance back to its keys, the width
of these distances, and how many values there are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

Number = int | float | bool

_SIGNED, _UNSIGNED, _FLOAT, _MAP, _BOOL = 1, 2, 3, 9, 26
_INDIRECT = {6: _SIGNED, 7: _UNSIGNED, 8: _FLOAT}
"""Types of numbers that are elsewhere, at a distance back from where the value would be."""
_LETTERS = {_SIGNED: "?bh?i???q", _UNSIGNED: "?BH?I???Q", _FLOAT: "??e?f???d", _BOOL: "?BH?I???Q"}
"""For each type, `struct`'s letters by width in bytes."""
_MOST = 1 << 10
"""Most options of an operator."""


def numbers(data: bytes) -> dict[str, Number]:
    """Return the numbers and truth values of a map; values of other types are left out.

    Raises ValueError, with a clause that says why, for what is not such a map.
    """
    return dict(_Buffer(data).entries())


class _Buffer:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def entries(self) -> Iterator[tuple[str, Number]]:
        """Yield the names and numbers of the root, which must be a map."""
        width = self._unsigned(len(self._data) - 1, 1)
        kind = self._unsigned(len(self._data) - 2, 1)
        if width not in (1, 2, 4, 8) or kind >> 2 != _MAP:
            raise ValueError("they are no map from names to numbers")
        values = self._follow(len(self._data) - 2 - width, width)
        width = 1 << (kind & 3)
        count = self._unsigned(values - width, width)
        key_width = self._unsigned(values - 2 * width, width)
        if count > _MOST or key_width not in (1, 2, 4, 8):
            raise ValueError("they are damaged")
        keys = self._follow(values - 3 * width, width)
        for index in range(count):
            name = self._text(self._follow(keys + index * key_width, key_width))
            number = self._number(values + index * width, width, self._unsigned(values + count * width + index, 1))
            if number is not None:
                yield name, number

    def _number(self, at: int, width: int, packed: int) -> Number | None:
        kind = packed >> 2
        if kind in _INDIRECT:
            at, width, kind = self._follow(at, width), 1 << (packed & 3), _INDIRECT[kind]
        if kind not in _LETTERS:
            return None
        letter = _LETTERS[kind][width]
        if letter == "?":
            raise ValueError("they are damaged")
        number: int | float = struct.unpack(f"<{letter}", self._bytes(at, width))[0]
        return bool(number) if kind == _BOOL else number

    def _text(self, at: int) -> str:
        end = self._data.find(b"\0", at)
        return self._bytes(at, end - at).decode("utf-8", "replace")

    def _follow(self, at: int, width: int) -> int:
        """Return the place that a reference at `at` means."""
        return at - self._unsigned(at, width)

    def _unsigned(self, at: int, width: int) -> int:
        return int.from_bytes(self._bytes(at, width), "little")

    def _bytes(self, at: int, size: int) -> bytes:
        if at < 0 or size < 0 or at + size > len(self._data):
            raise ValueError("they are damaged")
        return self._data[at : at + size]
