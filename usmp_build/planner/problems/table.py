"""Splits CSV into tables: each begins with its header, and ends at an empty line.

id,lower,upper,size       a table
a,0,3,100
                          an empty line: blanks, or commas as spreadsheets leave them
pool,limit                another table
# a comment
tcm,64 KiB
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

from usmp_build.document.faults import Faults, Place
from usmp_build.document.source import Source
from usmp_build.document.suggest import quoted
from usmp_build.errors import Span
from usmp_build.frozen import frozen


class Row(NamedTuple):
    """A line of a table."""

    place: Place
    """The number of its table, and its line."""
    cells: list[str]
    """In the order of the columns, without surrounding blanks."""


@frozen
class Table:
    """A table, whose rows are parsed while they are iterated."""

    source: Source
    number: int
    header: tuple[str, ...]
    first: int
    """The line of the header."""
    last: int
    """The line after its last row."""

    def rows(self, faults: Faults) -> Iterator[Row]:
        """Yield rows that have as many cells as the header; report the others as faults."""
        for line in range(self.first + 1, self.last):
            text = self.source.lines[line - 1]
            if text.startswith("#"):
                continue
            cells = _cells(text)
            if cells is None or len(cells) < len(self.header) or any(cells[len(self.header) :]):
                faults.add("Q103", _unfit(cells, self.header), self.source.span(line, 1, len(text)), _WIDTH)
            else:
                yield Row((self.number, line), cells)


@frozen
class Cells:
    """Locates cells by table, line and column."""

    source: Source
    tables: tuple[Table, ...]

    def span(self, place: Place, what: str = "") -> Span:
        """Return the place of a cell; of the row when there is no such column."""
        if len(place) < 2:
            return self.source.span(1, 1)
        table, line = self.tables[int(place[0])], int(place[1])
        text = self.source.lines[line - 1]
        if what not in table.header or '"' in text:
            return self.source.span(line, 1, len(text))
        parts = text.split(",")
        index = table.header.index(what)
        before = sum(len(part) + 1 for part in parts[:index])
        blanks = len(parts[index]) - len(parts[index].lstrip())
        return self.source.span(line, before + blanks + 1, len(parts[index].strip()))


_WIDTH = "a row has a cell for each column of the header; a cell may be empty"


def tables(source: Source) -> tuple[Table, ...]:
    """Split a text into tables."""
    tables_: list[Table] = []
    start = 0
    for line, text in enumerate([*source.lines, ""], 1):
        empty = not text.strip(" \t,")
        if start and empty:
            tables_.append(Table(source, len(tables_), _header(source.lines[start - 1]), start, line))
            start = 0
        elif not start and not empty and not text.startswith("#"):
            start = line
    return tuple(tables_)


def _header(text: str) -> tuple[str, ...]:
    cells = _cells(text) or [text]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return tuple(cells)


def _cells(text: str) -> list[str] | None:
    """Split a line; None when its quotes do not match."""
    if '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    try:
        return next(csv.reader([text], strict=True, skipinitialspace=True))
    except csv.Error:
        return None


def _unfit(cells: list[str] | None, header: tuple[str, ...]) -> str:
    if cells is None:
        return "the quotes of this row do not match"
    return f"this row has {len(cells)} cells for the {len(header)} columns {quoted(','.join(header))}"
