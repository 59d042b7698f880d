"""Reads plain CSV fast: ids and whole numbers, one table, one interval for each buffer.

It reads a million rows in about a second, and reports no errors: all other files are left to `csv_form`, which reads
everything and has a message for every fault.  Where both can read a file, results are the same.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from usmp_build.frozen import frozen
from usmp_build.planner.problems.csv_form import ALIASES
from usmp_build.planner.problems.draft import LONGEST_NAME
from usmp_build.units import MAX_BYTES

_NEEDED = {"id", "lower", "upper", "size"}
_KNOWN = _NEEDED | {"alignment"}
_DIGITS = 15
"""Most digits of a number: these fit into 64 bits."""

Integers: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]


@frozen
class Plain:
    """The columns of a plain file."""

    names: tuple[str, ...]
    lower: Integers
    upper: Integers
    size: Integers
    alignment: Integers


def read_plain(data: bytes) -> Plain | None:
    """Read a plain file; return None when it is not one."""
    data = data.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"
    head, _, body = data.partition(b"\n")
    columns = _columns(head)
    if columns is None or not body:
        return None
    text = np.frombuffer(body, np.uint8)
    if not _is_simple(text):
        return None
    table = _table(text, len(columns))
    return _read(text, body, columns, *table) if table is not None else None


def _columns(head: bytes) -> list[str] | None:
    if not head.isascii():
        return None
    names = [name.strip() for name in head.decode().lower().split(",")]
    if "end" in names:
        return None  # it is not the step after the last
    columns = [ALIASES.get(name, name) for name in names]
    is_plain = len(set(columns)) == len(columns) and set(columns) >= _NEEDED and set(columns) <= _KNOWN
    return columns if is_plain else None


def _is_simple(text: Bytes) -> bool:
    """Whether there is nothing but printable ASCII without blanks, quotes and comments, and ends of lines."""
    allowed = np.zeros(256, bool)
    allowed[0x21:0x7F] = True
    allowed[list(b"\n")] = True
    allowed[list(b'"#')] = False
    return bool(allowed[text].all())


def _table(text: Bytes, width: int) -> tuple[Integers, Integers] | None:
    """Return where each cell starts and ends, as rows; None when rows have different lengths."""
    stops = np.flatnonzero((text == ord(",")) | (text == ord("\n")))
    if len(stops) % width:
        return None
    starts = np.concatenate(([0], stops[:-1] + 1)).reshape(-1, width)
    ends = stops.reshape(-1, width)
    lines = text[ends] == ord("\n")
    return (starts, ends) if lines[:, -1].all() and not lines[:, :-1].any() else None


def _read(text: Bytes, body: bytes, columns: list[str], starts: Integers, ends: Integers) -> Plain | None:
    values_by_column: dict[str, Integers] = {"alignment": np.ones(len(starts), np.int64)}
    for number, column in enumerate(columns):
        if column != "id":
            values = _integers(text, starts[:, number], ends[:, number])
            if values is None:
                return None
            values_by_column[column] = values
    if (values_by_column["lower"] >= values_by_column["upper"]).any() or (values_by_column["alignment"] < 1).any():
        return None
    number = columns.index("id")
    cells = zip(starts[:, number].tolist(), ends[:, number].tolist(), strict=True)
    if (ends[:, number] - starts[:, number]).max() > LONGEST_NAME:
        return None
    names = tuple(body[start:end].decode("ascii") for start, end in cells)
    if len(set(names)) < len(names) or "" in names:
        return None
    return Plain(names, **values_by_column)


def _integers(text: Bytes, starts: Integers, ends: Integers) -> Integers | None:
    """Read a column, digit by digit, all rows at once, shape (rows,); None if a cell is no number."""
    lengths = ends - starts
    if lengths.min() < 1 or lengths.max() > _DIGITS:
        return None
    values = np.zeros(len(starts), np.int64)
    for place in range(int(lengths.max())):
        inside = lengths > place
        digits = text[np.where(inside, starts + place, 0)] - np.uint8(ord("0"))
        if (digits[inside] > 9).any():
            return None
        values = np.where(inside, values * 10 + digits, values)
    return values if values.max() <= MAX_BYTES else None
