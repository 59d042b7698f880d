"""TFLM_DECODE: weights that are stored compressed.  Each is a tensor of codes, and one that says how to read them.

The second begins with 16 bytes: 0 is the method, 1 the version of these bytes, 4 that of the method, 5 and 6 are its
numbers.  Its tables come after that.  All codes are read bit after bit, from the highest of each byte.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from usmp_build.ir.graph import DType, Tensor
from usmp_build.operators.fold import Array
from usmp_build.operators.kind import AtOnce, pure
from usmp_build.operators.operands import Signature

DECODE = "CUSTOM:TFLM_DECODE"

_HEAD = 16
_TYPES = {DType.BOOL, DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64}
_BITS = 8
"""Of a byte; a code has one at least."""


def decoded(codes: Tensor, how: Tensor, output: Tensor) -> Array:
    """Return the elements of an output.  Raises ValueError if the codes are malformed; its text is a clause."""
    if not (codes.data and how.data and len(how.data) >= _HEAD):
        raise ValueError("its codes, or what says how to read them, are not constant")
    head = how.data[:_HEAD]
    if output.dtype not in _TYPES or output.elements > _BITS * len(codes.data):
        raise ValueError("its codes are too few, or it makes another type than TensorFlow Lite Micro does")
    if (head[1], head[4]) != (1, 1) or head[0] not in _METHODS:
        raise ValueError(f"its codes have method {head[0]} of version {head[4]}, which is not defined")
    try:
        return _METHODS[head[0]](codes.data, how.data, output)
    except IndexError:
        raise ValueError("its codes lead outside of their tables") from None


def _looked_up(codes: bytes, how: bytes, output: Tensor) -> Array:
    """Take an element of a table for each code; each channel has its own table."""
    width, stride = how[5] & 7, how[6]
    bits = np.unpackbits(np.frombuffer(codes, np.uint8))[: output.elements * width].reshape(-1, max(width, 1))
    if len(bits) < output.elements:
        raise IndexError
    indices = bits @ (1 << np.arange(width)[::-1])
    return np.asarray(_table(how, output)[_channels(output) * stride + indices])


def _pruned(codes: bytes, how: bytes, output: Tensor) -> Array:
    """Take the next element of a table for each bit that is set, and the zero point for others."""
    kept = np.unpackbits(np.frombuffer(codes, np.uint8))[: output.elements].astype(bool)
    points = output.quantization.zero_points if output.quantization else (0,)
    if any(points) and output.dtype is not DType.INT8:
        raise ValueError("it leaves out zeros of a zero point other than 0")
    table = _table(how, output)
    channels = _channels(output) if len(points) > 1 else np.zeros(output.elements, np.int64)
    values = np.array(points).astype(table.dtype)[channels]
    values[kept] = table[np.arange(np.count_nonzero(kept))]
    return np.asarray(values)


def _huffman(codes: bytes, how: bytes, output: Tensor) -> Array:
    """Walk from table to table, as far as a code says; entries that end it have the element, and how long it was."""
    if output.dtype not in ({DType.INT8, DType.INT16} if how[5] & 1 else {DType.INT8}):
        raise ValueError("it makes another type of Huffman codes than TensorFlow Lite Micro does")
    kind, end, shift = (np.dtype("<u4"), 1 << 31, 27) if how[5] & 1 else (np.dtype("<u2"), 1 << 15, 11)
    table = np.frombuffer(how[_HEAD : len(how) // kind.itemsize * kind.itemsize], kind).tolist()
    symbols = np.fromiter(_symbols(codes, table, (how[5] >> 4) + 1, end, shift, output.elements), np.int64)
    return np.asarray(symbols.astype(np.dtype(output.dtype.numpy)))


def _symbols(codes: bytes, table: list[int], first: int, end: int, shift: int, count: int) -> Iterator[int]:
    place = 0

    def following(width: int) -> int:
        nonlocal place
        if place + width > _BITS * len(codes):
            raise IndexError
        window = int.from_bytes(codes[place // _BITS :][:8].ljust(8, b"\0"), "big")
        place += width
        return window >> (64 - (place - width) % _BITS - width) & ((1 << width) - 1)

    for _ in range(count):
        width = first
        at = following(width)
        while not table[at] & end:
            width = (table[at] >> shift & 15) + 1
            at += (table[at] & ((1 << shift) - 1)) + following(width)
        yield table[at] & ((1 << shift) - 1)
        place -= max(0, width - (table[at] >> shift & 15))


def _table(how: bytes, output: Tensor) -> Array:
    kind = np.dtype("u1" if output.dtype is DType.BOOL else output.dtype.numpy).newbyteorder("<")
    return np.frombuffer(how[_HEAD : _HEAD + (len(how) - _HEAD) // kind.itemsize * kind.itemsize], kind)


def _channels(output: Tensor) -> Array:
    q, elements = output.quantization, np.arange(output.elements)
    channels = len(q.scales) if q else 1
    if q is None or channels == 1:
        return elements * 0
    if output.elements % channels or q.axis not in (0, len(output.shape) - 1):
        raise ValueError("its output has channels neither along the first axis nor along the last")
    return elements % channels if q.axis == len(output.shape) - 1 else elements // (output.elements // channels)


_METHODS = {0: _looked_up, 1: _huffman, 2: _pruned}

KINDS = (pure(DECODE, Signature("codes*", "outputs*"), whole=AtOnce.PLACES),)
