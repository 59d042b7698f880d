"""Reads and writes strings, numbers and bytes in the textual form: pairs of inverse functions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from usmp_build.ir.graph import DType

_UNSAFE = re.compile(r'[^ -~]|["\\]')
_ESCAPE = re.compile(r'\\(?:(["\\])|u\{([0-9a-fA-F]{1,6})\}|.?)')
_WORTH_COUNTING = 4
_DIGEST_DIGITS = 12
_FLOATS = {"FLOAT16": "<f2", "FLOAT32": "<f4", "FLOAT64": "<f8"}
_INTEGERS = {"BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"}


def quote(text: str) -> str:
    r"""Spell any text in printable ASCII, between quotes.

    >>> print(quote('größe "x"'))
    "gr\u{f6}\u{df}e \"x\""
    """
    return '"' + _UNSAFE.sub(lambda m: "\\" + m[0] if m[0] in '"\\' else f"\\u{{{ord(m[0]):x}}}", text) + '"'


def unquote(quoted: str) -> str:
    """Read what `quote` wrote; characters beyond ASCII may also stand for themselves.  Raises ValueError."""

    def plain(escape: re.Match[str]) -> str:
        if escape[2]:
            return chr(int(escape[2], 16))  # raises ValueError beyond the last character
        if not escape[1]:
            raise ValueError(f"{escape[0]} is not an escape")
        return escape[1]

    return _ESCAPE.sub(plain, quoted[1:-1])


def spell_references(tensors: Iterable[int | None]) -> str:
    """Spell tensors of one subgraph.

    >>> spell_references([3, None, 0])
    '%3, _, %0'
    """
    return ", ".join("_" if tensor is None else f"%{tensor}" for tensor in tensors)


def spell_float(value: float, dtype: DType = DType.FLOAT32) -> str:
    """Spell a float with the fewest digits from which `read_float` restores it.

    >>> spell_float(0.10000000149011612), spell_float(0.1, DType.FLOAT64)
    ('0.1', '0.1')
    """
    candidates = (f"{value:.{digits}g}" for digits in range(1, 17))
    return next((text for text in candidates if read_float(text, dtype) == value), repr(value))


def read_float(text: str, dtype: DType = DType.FLOAT32) -> float:
    """Read a number, and round it to a type.  Raises ValueError if it is not one."""
    with np.errstate(over="ignore"):
        return float(np.dtype(_FLOATS[dtype.name]).type(float(text)))


def spell_runs(items: Iterable[str]) -> str:
    """Spell a list; repeated items are counted.

    >>> spell_runs(["1", "0", "0", "0", "0", "0"])
    '[1, 0*5]'
    """
    spelled: list[str] = []
    for item, run in groupby(items):
        count = len(list(run))
        spelled += [f"{item}*{count}"] if count >= _WORTH_COUNTING else [item] * count
    return f"[{', '.join(spelled)}]"


def spell_numbers(data: bytes, dtype: DType) -> list[str] | None:
    """Spell the elements of a constant; None if its type has no numbers, or they would lose information."""
    width = dtype.bits // 8
    if dtype.name not in {*_INTEGERS, *_FLOATS} or len(data) % width:
        return None
    spelled = [_number(data[start : start + width], dtype) for start in range(0, len(data), width)]
    try:
        return spelled if read_numbers(spelled, dtype) == data else None  # NaN has many forms
    except ValueError:  # a boolean that is neither 0 nor 1
        return None


def read_numbers(spelled: Sequence[str], dtype: DType) -> bytes:
    """Return the bytes of elements.  Raises ValueError if the type cannot hold one of them, or has no numbers."""
    if dtype.name in _FLOATS:
        return np.array([read_float(text, dtype) for text in spelled], _FLOATS[dtype.name]).tobytes()
    if dtype.name not in _INTEGERS:
        raise ValueError(f"numbers do not spell {dtype.name.lower()}")
    signed = dtype.name.startswith("INT")
    return b"".join(_integer(text, dtype).to_bytes(dtype.bits // 8, "little", signed=signed) for text in spelled)


def digest(data: bytes) -> str:
    """Return a digest that distinguishes constants without disclosing them."""
    return hashlib.sha256(data).hexdigest()[:_DIGEST_DIGITS]


def from_digest(hexadecimal: str, size: int) -> bytes:
    """Return a placeholder of `size` bytes for a constant: its digest, repeated."""
    once = bytes.fromhex(hexadecimal)
    return (once * (size // len(once) + 1))[:size]


def _number(element: bytes, dtype: DType) -> str:
    if dtype.name in _FLOATS:
        return spell_float(float(np.frombuffer(element, _FLOATS[dtype.name])[0]), dtype)
    return str(int.from_bytes(element, "little", signed=dtype.name.startswith("INT")))


def _integer(text: str, dtype: DType) -> int:
    low = -(1 << (dtype.bits - 1)) if dtype.name.startswith("INT") else 0
    high = 1 if dtype is DType.BOOL else low + (1 << dtype.bits) - 1
    value = int(text)
    if not low <= value <= high:
        raise ValueError(f"{dtype.name.lower()} cannot hold {text}")
    return value
