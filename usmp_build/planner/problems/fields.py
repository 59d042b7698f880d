"""Parses the cells of CSV rows: names, bytes, steps, pools, intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter

from usmp_build.document.faults import Faults, Place
from usmp_build.document.suggest import quoted
from usmp_build.planner.problems.draft import LONGEST_NAME
from usmp_build.planner.problems.table import Cells, Row, Table
from usmp_build.units import MAX_BYTES, MAX_SUM, parse_size

_LONGEST_NUMBER = 18
"""Most digits of a number: three more than the largest one has."""
_WHOLE_HELP = f"write a whole number from 0 to {MAX_BYTES:,}"


class Fields:
    """Reads the cells of a table, row by row; cells without meaning are reported as faults, and read as 0."""

    def __init__(self, table: Table, places: Cells, faults: Faults, aliases: Mapping[str, str]) -> None:
        self._table = table
        self._places = places
        self._faults = faults
        names = [name.lower() for name in table.header]
        self._inclusive_end = 1 if "end" in names and aliases else 0
        self._columns = {aliases.get(name, name): index for index, name in enumerate(names)}
        self._row = Row((table.number, table.first), [""] * len(names))

    def rows(self) -> Iterator[None]:
        """Go from row to row; the other methods read cells of the current one."""
        for row in self._table.rows(self._faults):
            self._row = row
            yield

    @property
    def place(self) -> Place:
        """The place of the row."""
        return self._row.place

    def text(self, column: str) -> str:
        """Return a cell as it is; empty where there is no such column."""
        index = self._columns.get(column)
        return "" if index is None else self._row.cells[index]

    def fault(self, code: str, message: str, column: str, help_: str) -> None:
        """Report a fault of a cell."""
        index = self._columns.get(column)
        name = "" if index is None else self._table.header[index]
        self._faults.add(code, message, self._places.span(self.place, name), help_)

    def name(self, column: str) -> str:
        """Read a name."""
        name = self.text(column)
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            what = "empty" if not name else "not a name"
            help_ = f"names have 1 to {LONGEST_NAME:,} characters that can be printed"
            self.fault("Q106", f'"{column}" is {what}', column, help_)
        return name

    def optional(self, column: str, read: Callable[[str], int]) -> int | None:
        """Read a cell that may be empty or missing."""
        return read(column) if self.text(column) else None

    def bytes(self, column: str, most: int = MAX_BYTES) -> int:
        """Read a number of bytes, at most `most`."""
        text = self.text(column)
        if not text:
            self.fault("Q104", f'"{column}" is empty', column, 'write a number of bytes, or for example "64 KiB"')
            return 0
        try:
            size = int(text) if _is_number(text) else parse_size(text[:64])
        except ValueError as error:
            reason, _, help_ = str(error).rpartition("; ")
            self.fault("Q104", f'"{column}": {reason}', column, help_)
            return 0
        return size if self._is_small(size, column, most) else 0

    def sum(self, column: str) -> int:
        """Read a number of bytes that may be as large as a sum over many buffers."""
        return self.bytes(column, MAX_SUM)

    def place_in_pool(self, column: str) -> int:
        """Read an offset of a plan that may be wrong: negative ones are left for the audit to report."""
        text = self.text(column)
        if text.startswith("-") and _is_number(text[1:]):
            return -int(text[1:]) if self._is_small(int(text[1:]), column, MAX_SUM) else 0
        return self.sum(column)

    def positive(self, column: str) -> int:
        """Read an alignment."""
        size = self.bytes(column)
        if size == 0:
            self.fault("Q104", f'"{column}" must be at least 1', column, "leave it empty where any offset will do")
        return size or 1

    def step(self, column: str) -> int:
        """Read a step."""
        return self._whole(self.text(column), column, f'"{column}" must be a step')

    def _whole(self, text: str, column: str, wanted: str) -> int:
        if not _is_number(text):
            self.fault("Q104", f"{wanted}, not {quoted(text) if text else 'empty'}", column, _WHOLE_HELP)
            return 0
        return int(text) if self._is_small(int(text), column) else 0

    def distance(self, column: str) -> int:
        """Read a number of bytes that may be negative."""
        text = self.text(column)
        if not _is_number(text.removeprefix("-")):
            self.fault(
                "Q104", f'"{column}" must be a number of bytes, not {quoted(text)}', column, "it may be negative"
            )
            return 0
        return int(text) if self._is_small(abs(int(text)), column) else 0

    def _is_small(self, number: int, column: str, most: int = MAX_BYTES) -> bool:
        if number > most:
            self.fault("Q104", f'"{column}" is {number:,}, which is too large', column, f"at most {most:,}")
        return number <= most

    def pools(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Read pools, most preferred first, and what each costs: `tcm:0|sram:5`, or `tcm sram`."""
        text = self.text("pools")
        words = text.replace("|", " ").split()
        names, costs = [], []
        for word in words:
            name, colon, cost = word.partition(":")
            names.append(name)
            costs.append(self._whole(cost, "pools", "what a pool costs must be a number") if colon else 0)
            if not name or len(name) > LONGEST_NAME or not name.isprintable():
                self.fault("Q106", f'"pools" holds {quoted(word)}, which has no name', "pools", "write tcm:0|sram:5")
        return tuple(names), tuple(costs) if ":" in text else ()

    def intervals(self) -> list[tuple[int, int, Place]]:
        """Read the intervals of a buffer: half-open from `lower` to `upper`, without its gaps."""
        start, stop = self.step("lower"), self.step("upper") + self._inclusive_end
        intervals_ = []
        for low, high in sorted(self._gaps(), key=itemgetter(0)):
            if not start < low < high < stop:
                message = f"the gap from {low:,} to {high:,} is not inside the interval"
                self.fault("Q105", message, "gaps", "a gap begins after `lower` and ends before `upper`")
                break
            intervals_.append((start, low, self.place))
            start = high
        return [*intervals_, (start, stop, self.place)]

    def _gaps(self) -> Iterator[tuple[int, int]]:
        for word in self.text("gaps").split():
            if "@" in word:
                message = f"the gap {quoted(word)} keeps a part of the buffer alive"
                self.fault("Q104", message, "gaps", "a table cannot express that; list the part as a separate buffer")
                continue
            low, dash, high = word.partition("-")
            if dash and _is_number(low) and _is_number(high):
                yield int(low), int(high) + self._inclusive_end
            else:
                message = f"a gap must be two steps, not {quoted(word)}"
                self.fault("Q104", message, "gaps", "write 3-5 12-13: dead from step 3 until before step 5, and so on")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER
