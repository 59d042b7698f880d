"""Random models of TFLM_DECODE; see `cases`."""

from math import prod

import numpy as np

from tests.support.kernels.drawing import FLOAT, INT8, INT16, Array, Case, Random, case, constant, pick, single, span
from usmp_build.ir.graph import DType, Quantization, Tensor
from usmp_build.operators.decoding import DECODE


def decode(r: Random) -> Case:
    """One output or two, of look-up tables, Huffman codes, or pruned."""
    parts = [pick(r, [_looked_up, _huffman, _pruned])(r, f"y{number}") for number in range(span(r, 1, 2))]
    inputs = [operand for codes, how, _ in parts for operand in (codes, how)]
    return case(r, DECODE, inputs, [output for _, _, output in parts])


def _looked_up(r: Random, name: str) -> tuple[Tensor, Tensor, Tensor]:
    output, channels = _output(r, name, pick(r, [INT8, INT8, INT16, DType.INT32, DType.INT64, FLOAT, DType.BOOL]))
    width = span(r, 1, 7)
    table = _elements(r, output, channels << width)
    return _given(r, name, output, width, (0, width, 1 << width), table)


def _pruned(r: Random, name: str) -> tuple[Tensor, Tensor, Tensor]:
    output, _ = _output(r, name, pick(r, [INT8, INT8, INT16, DType.INT32, DType.INT64, FLOAT, DType.BOOL]))
    return _given(r, name, output, 1, (2, 0, 0), _elements(r, output, output.elements))


def _huffman(r: Random, name: str) -> tuple[Tensor, Tensor, Tensor]:
    """A table whose entries end a code, or lead to one of four entries that do."""
    output, _ = _output(r, name, pick(r, [INT8, INT16]))
    is_wide, first = output.dtype is INT16 or bool(r.integers(2)), span(r, 1, 4)
    shift, end = (27, 1 << 31) if is_wide else (11, 1 << 15)
    table: list[int] = []
    for at in range(1 << first):
        leads = r.integers(3) == 0
        more = (1 << first) - at + 4 * sum(not entry & end for entry in table)
        table.append(1 << shift | more if leads else end | span(r, 1, first) << shift | span(r, 0, (1 << shift) - 1))
    for _ in range(4 * sum(not entry & end for entry in table)):
        table.append(end | span(r, 1, 2) << shift | span(r, 0, (1 << shift) - 1))
    values = np.array(table, np.uint32 if is_wide else np.uint16)
    return _given(r, name, output, first + 2, (1, (first - 1) << 4 | is_wide, 0), values)


def _output(r: Random, name: str, dtype: DType) -> tuple[Tensor, int]:
    """Return a tensor and how many channels it has, along its first or last axis."""
    shape = tuple(span(r, 1, 5) for _ in range(span(r, 1, 4)))
    axis = pick(r, [0, len(shape) - 1])
    channels = pick(r, [1, shape[axis]]) if dtype in {INT8, INT16} else 1
    points = r.integers(-128, 127, channels, endpoint=True) if dtype is INT8 else np.zeros(channels, np.int64)
    scales = tuple(single(scale) for scale in r.uniform(0.01, 0.1, channels))
    q = Quantization(scales, tuple(map(int, points)), axis if channels > 1 else 0)
    return Tensor(name, shape, dtype, q if dtype in {INT8, INT16} else None), channels


def _elements(r: Random, output: Tensor, count: int) -> Array:
    if output.dtype is FLOAT:
        return r.normal(0, 4, count).astype(np.float32)
    if output.dtype is DType.BOOL:
        return r.integers(2, size=count).astype(np.uint8)
    limits = np.iinfo(output.dtype.numpy)
    return r.integers(limits.min, limits.max, count, limits.dtype, endpoint=True)


def _given(
    r: Random, name: str, output: Tensor, bits: int, numbers: tuple[int, int, int], table: Array
) -> tuple[Tensor, Tensor, Tensor]:
    """Return codes that suffice for `bits` for each element, what says how to read them, and the output."""
    words = prod(output.shape) * bits // 32 + 4
    codes = constant(f"{name}_codes", r.integers(0, 255, 4 * words, np.uint8, endpoint=True))
    method, five, six = numbers
    head = bytes([method, 1, 0, 0, 1, five, six, *bytes(9)])
    return codes, constant(f"{name}_how", np.frombuffer(head + table.tobytes(), np.uint8)), output
