"""The top of a plan over its sections, as a tree; `Tops` in core/first_fit.cpp is the same in C++."""

from __future__ import annotations

from collections.abc import Iterator


class Tops:
    """For each node the highest top of the sections below it, and one that each of them has; in bytes."""

    def __init__(self, sections: int) -> None:
        self._width = 1 << max(0, sections - 1).bit_length()
        self._highest = [0] * (2 * self._width)
        self._common = [0] * (2 * self._width)

    def highest(self, first: int, last: int) -> int:
        """Return the highest top of the sections `first` to `last`."""
        covering = max(self._highest[node] for node in self._cover(first, last))
        return max(covering, max((self._common[node] for node in self._above(first, last)), default=0))

    def raise_to(self, top: int, first: int, last: int) -> None:
        """Raise some sections to a top that is higher than any of theirs."""
        for node in self._cover(first, last):
            self._highest[node] = self._common[node] = top
        for node in self._above(first, last):
            self._highest[node] = max(self._highest[node], top)

    def _cover(self, first: int, last: int) -> Iterator[int]:
        """Yield nodes that cover a range of sections, each section once."""
        begin, end = self._width + first, self._width + last + 1
        while begin < end:
            if begin % 2:
                yield begin
                begin += 1
            if end % 2:
                end -= 1
                yield end
            begin, end = begin // 2, end // 2

    def _above(self, first: int, last: int) -> Iterator[int]:
        """Yield the nodes above two sections: among them are those above the nodes that cover the range."""
        for section in (first, last):
            node = (self._width + section) // 2
            while node:
                yield node
                node //= 2
