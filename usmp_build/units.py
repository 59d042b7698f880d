"""Bytes: rounding, reading and showing them."""

from __future__ import annotations

import re

_FACTORS = {"": 1, "b": 1, "kib": 1 << 10, "k": 1 << 10, "mib": 1 << 20, "m": 1 << 20, "gib": 1 << 30, "g": 1 << 30}
_SIZE = re.compile(r"\s*(0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)\s*([A-Za-z]*)\s*")

MAX_BYTES = (1 << 48) - 1
"""No memory that we plan is larger: sizes stay exact in every language they are written to."""
MAX_SUM = (1 << 62) - 1
"""Sums of bytes stay at or below this: one more size can be added without overflow in 64 bits."""


def align_up(offset: int, alignment: int) -> int:
    """Return the least multiple of `alignment` that is not below `offset`.

    >>> align_up(10, 16), align_up(-3, 4), align_up(32, 16)
    (16, 0, 32)
    """
    return -(-offset // alignment) * alignment


def is_power_of_two(value: int) -> bool:
    """Tell whether `value` is 1, 2, 4, 8 ..."""
    return value > 0 and value & (value - 1) == 0


def parse_size(text: str) -> int:
    """Read a number of bytes.

    >>> parse_size("64 KiB"), parse_size("0x1000"), parse_size("2M")
    (65536, 4096, 2097152)

    Raises ValueError for anything else; "KB" is refused because it is read as 1000 by some and as 1024 by others.
    """
    match = _SIZE.fullmatch(text)
    if not match:
        raise ValueError(f'"{text}" is not a size; write a number of bytes, or for example "64 KiB"')
    digits, unit = match.groups()
    if unit.lower() in {"kb", "mb", "gb"}:
        raise ValueError(f'"{unit}" may mean 1000 or 1024; write "{unit[0].upper()}iB" for 1024')
    if unit.lower() not in _FACTORS:
        raise ValueError(f'unknown unit "{unit}"; use KiB, MiB or GiB')
    try:
        return int(digits, 0 if digits[:2] in {"0x", "0X"} else 10) * _FACTORS[unit.lower()]
    except ValueError:
        raise ValueError(f'"{text}" is not a size; write a number of bytes, or for example "64 KiB"') from None


def show_bytes(size: int) -> str:
    """Write a number of bytes for people.

    >>> show_bytes(55296)
    '55,296'
    """
    return f"{size:,}"


def show_range(begin: int, end: int) -> str:
    """Write the bytes from `begin` up to the one before `end` for people; commas are inside of the numbers.

    >>> show_range(2201, 4161)
    '[2,201; 4,161)'
    """
    return f"[{show_bytes(begin)}; {show_bytes(end)})"


def count_bytes(size: int) -> str:
    """Write a number of bytes as part of a sentence.

    >>> count_bytes(1), count_bytes(5632)
    ('1 byte', '5,632 bytes')
    """
    return f"{show_bytes(size)} {'byte' if size == 1 else 'bytes'}"
