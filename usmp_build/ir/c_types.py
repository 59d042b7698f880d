"""Element types and literals in C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from usmp_build.ir.graph import DType

PLAIN = {
    DType.BOOL: "uint8_t",
    DType.FLOAT32: "float",
    DType.FLOAT64: "double",
    DType.INT8: "int8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.INT64: "int64_t",
    DType.UINT8: "uint8_t",
    DType.UINT16: "uint16_t",
    DType.UINT32: "uint32_t",
    DType.UINT64: "uint64_t",
}
"""DType → C type of an element; types that C lacks are bytes."""

_MAY_ALIAS = {
    DType.FLOAT32: "usmp_f32",
    DType.FLOAT64: "usmp_f64",
    DType.INT16: "usmp_i16",
    DType.INT32: "usmp_i32",
    DType.INT64: "usmp_i64",
    DType.UINT16: "usmp_u16",
    DType.UINT32: "usmp_u32",
    DType.UINT64: "usmp_u64",
}


_WIDTH = 112
"""Most columns of values: 120 less the indentation of a member of a struct."""


def plain_type(dtype: DType) -> str:
    """Return the C type of an element in a constant or in the caller's array."""
    return PLAIN.get(dtype, "uint8_t")


def pool_type(dtype: DType) -> str:
    """Return the C type of an element in a pool, whose bytes change their type while the model runs."""
    return _MAY_ALIAS.get(dtype, plain_type(dtype))


def float_literal(value: float) -> str:
    """Write a float32 so that C reads the same bits.

    >>> float_literal(0.1), float_literal(2.0), float_literal(float("-inf"))
    ('0.1f', '2.0f', '-INFINITY')
    """
    single = np.float32(value)
    if np.isnan(single):
        return "NAN"
    if np.isinf(single):
        return "INFINITY" if single > 0 else "-INFINITY"
    digits = str(single)
    return digits + ("f" if "." in digits or "e" in digits else ".0f")


def int_literal(value: int) -> str:
    """Write an int32 so that C reads it as one.

    >>> int_literal(-128), int_literal(-(1 << 31))
    ('-128', 'INT32_MIN')
    """
    return "INT32_MIN" if value == -(1 << 31) else str(value)


def value_lines(data: bytes, dtype: DType) -> Iterator[str]:
    """Write elements as the lines of an initializer, each filled up to the width of generated C.

    Weights are most of what a firmware compiles, so bytes stand as close as they can.

    >>> list(value_lines(bytes([1, 255]), DType.INT8)), list(value_lines(bytes([1, 0, 255, 255]), DType.INT16))
    (['1,-1,'], ['1, -1,'])
    """
    values = _values(data, dtype)
    text = ("," if len(values) == len(data) else ", ").join(values) + "," * bool(values)
    start = 0
    while start < len(text):
        end = text.rfind(",", start, start + _WIDTH) + 1 or len(text)
        yield text[start:end].lstrip()
        start = end


def _values(data: bytes, dtype: DType) -> list[str]:
    if dtype not in PLAIN or dtype is DType.BOOL:
        return [str(byte) for byte in data]
    array = np.frombuffer(data, np.dtype(dtype.numpy).newbyteorder("<"))
    return list(map(_LITERALS.get(dtype, str), array if dtype is DType.FLOAT32 else array.tolist()))


def _long_literal(value: int) -> str:
    return f"INT64_C({value})" if value > -(1 << 63) else "INT64_MIN"


def _double_literal(value: float) -> str:
    if np.isnan(value):
        return "NAN"
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


_LITERALS: Mapping[DType, Callable[[Any], str]] = {
    DType.FLOAT32: float_literal,
    DType.FLOAT64: _double_literal,
    DType.INT32: int_literal,
    DType.INT64: _long_literal,
    DType.UINT64: "UINT64_C({})".format,
}
