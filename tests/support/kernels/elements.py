"""Random models of functions of one number; see `cases`."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.support.kernels.drawing import (
    FLOAT,
    INT8,
    INT16,
    Array,
    Case,
    Random,
    activation,
    case,
    pick,
    plain,
    single,
    span,
)
from usmp_build.arithmetic import fixed_point
from usmp_build.ir.graph import DType, Tensor
from usmp_build.operators.unary import Gelu, LeakyRelu

INT32, UINT8, BOOL = DType.INT32, DType.UINT8, DType.BOOL


def shape(r: Random) -> tuple[int, ...]:
    return tuple(span(r, 1, 7) for _ in range(span(r, 1, 4)))


def same_scale_or_other(r: Random, source: Tensor) -> Tensor:
    """Draw the output of a function."""
    assert source.quantization is not None
    (scale,) = source.quantization.scales
    zero = 0 if source.dtype is INT16 else None
    if r.integers(2):
        return Tensor("y", source.shape, source.dtype, source.quantization)
    return activation("y", source.shape, source.dtype, scale * r.uniform(0.1, 3), zero, r)


def rectifier(kind: str) -> Callable[[Random], Case]:
    types = [INT8, INT8, FLOAT] if kind == "RELU_0_TO_1" else [INT8, INT8, INT16, FLOAT]

    def make(r: Random) -> Case:
        dtype = pick(r, types)
        scale = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)]) / (200 if dtype is INT16 else 1)
        zero = 0 if dtype is INT16 and kind == "RELU" else None
        source = activation("x", shape(r), dtype, scale, zero, r)
        output = plain("y", source.shape, FLOAT) if dtype is FLOAT else same_scale_or_other(r, source)
        return case(r, kind, (source,), output)

    return make


def sigmoid(kind: str, int8_scale: float, int8_zero_point: int) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        dtype = pick(r, [INT8, INT8, INT16, INT16, FLOAT])
        small = pick(r, [r.uniform(1e-5, 0.01), 2.0 ** span(r, -15, -9), r.uniform(0.01, 2.6), 10 ** r.uniform(-8, 0)])
        scale = small if dtype is INT16 else pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)])
        target = (1 / 32768, 0) if dtype is INT16 else (int8_scale, int8_zero_point)
        source = activation("x", shape(r), dtype, scale, 0 if dtype is INT16 else None, r)
        return case(r, kind, (source,), activation("y", source.shape, dtype, *target))

    return make


def every_int8(r: Random, kind: str, source_zero: int | None = None, low: float = 0.05, high: float = 3) -> Case:
    """All values go in, at scales for which values are near the bends, far from them, or do not fit the output."""
    scale = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)])
    source = activation("x", (2, 128), INT8, scale, source_zero, r)
    output = activation("y", (2, 128), INT8, scale * r.uniform(low, high), r=r)
    example = case(r, kind, (source,), output)
    return Case(example.graph, (r.permutation(np.arange(-128, 128)).astype(np.int8).reshape(2, 128),))


def of_floats(kind: str, low: float = -9, high: float = 9) -> Callable[[Random], Case]:
    def make(r: Random) -> Case:
        size = (2, 3, span(r, 1, 60))
        source, output = plain("x", size, FLOAT), plain("y", size, FLOAT)
        example = case(r, kind, (source,), output)
        values = pick(
            r, [r.uniform(low, high, source.shape), np.clip(r.integers(-30, 30, source.shape) / 2, low, high)]
        )
        return Case(example.graph, (values.astype(np.float32),))

    return make


def hard_swish(r: Random) -> Case:
    return pick(r, [lambda r: every_int8(r, "HARD_SWISH"), of_floats("HARD_SWISH")])(r)


def tied_hard_swish(r: Random) -> Case:
    """Draw scales whose ratio, in float32, is halfway between two factors of 16 bits: in float64 it is near one."""
    while True:
        scale, output_scale = single(r.uniform(0.005, 0.05)), single(r.uniform(0.01, 0.1))
        if fixed_point.quantize(single(scale / 128 / output_scale)).multiplier % (1 << 16) == 1 << 15:
            break
    source, output = activation("x", (256,), INT8, scale, -85), activation("y", (256,), INT8, output_scale, -93)
    return Case(case(r, "HARD_SWISH", (source,), output).graph, (np.arange(-128, 128).astype(np.int8),))


def elu(r: Random) -> Case:
    return pick(r, [lambda r: every_int8(r, "ELU"), of_floats("ELU")])(r)


def gelu(r: Random) -> Case:
    example, options = pick(r, [lambda r: every_int8(r, "GELU"), of_floats("GELU")])(r), Gelu(bool(r.integers(2)))
    (operator,) = example.graph.operators
    return Case(replace(example.graph, operators=(replace(operator, options=options),)), example.inputs)


def absolute(r: Random) -> Case:
    example = rectifier("ABS")(r)
    if example.graph.tensors[0].dtype is INT16:  # whose zero points are 0
        source = activation("x", example.graph.tensors[0].shape, INT16, r.uniform(0.0001, 0.01), 0)
        example = case(r, "ABS", (source,), same_scale_or_other(r, source))
    return example


def rsqrt(r: Random) -> Case:
    """Only what has a root goes in."""
    dtype = pick(r, [INT8, INT16, FLOAT])
    if dtype is FLOAT:
        return of_floats("RSQRT", 0.001, 90)(r)
    scale, zero = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)]), pick(r, [-128, span(r, -128, 127)])
    zero = 0 if dtype is INT16 else zero
    source = activation("x", (200,), dtype, scale, zero)
    output = activation("y", (200,), dtype, 10 ** r.uniform(-3, 0), 0 if dtype is INT16 else None, r)
    example = case(r, "RSQRT", (source,), output)
    most = int(np.iinfo(dtype.numpy).max) >> pick(r, [0, 0, 4])
    return Case(example.graph, (r.integers(zero, max(zero, most) + 1, 200).astype(dtype.numpy),))


def leaky_relu(r: Random) -> Case:
    dtype = pick(r, [INT8, INT8, INT16, FLOAT])
    scale = pick(r, [r.uniform(0.001, 0.2), r.uniform(0.2, 20)])
    alpha = single(pick(r, [r.uniform(0, 1), r.uniform(0, 1), r.uniform(1, 4), 0.0]))
    source = activation("x", shape(r), dtype, scale, r=r)
    output = activation("y", source.shape, dtype, scale * pick(r, [1.0, r.uniform(0.1, 3)]), r=r)
    return case(r, "LEAKY_RELU", (source,), output, LeakyRelu(alpha))


def quantize(r: Random) -> Case:
    pairs = [(FLOAT, INT8), (FLOAT, INT16), (INT8, INT8), (INT8, UINT8), (UINT8, INT8), (INT8, INT16), (INT16, INT8)]
    pairs += [(INT16, INT16), (INT16, INT32), (INT32, INT16), (INT8, INT32), (INT32, INT8)]
    source_type, output_type = pick(r, pairs)
    scale = r.uniform(0.001, 0.2)
    ratio = {INT16: 1 / 200}.get(output_type, 1.0) / {INT16: 1 / 200}.get(source_type, 1.0)
    scales = scale, scale * ratio * r.uniform(0.3, 3)
    if source_type is INT32:  # all values of which only fit a factor below 1
        scales = scale, scale * r.uniform(1, 1 << (25 if output_type is INT8 else 17))
    size = (span(r, 1, 200),)
    source, output = (
        activation(name, size, dtype, each, 0 if dtype is INT32 else None, r)
        for name, dtype, each in zip("xy", (source_type, output_type), scales, strict=True)
    )
    return case(r, "QUANTIZE", (source,), output)


def dequantize(r: Random) -> Case:
    source = activation("x", (span(r, 1, 200),), pick(r, [INT8, UINT8, INT16]), r.uniform(0.001, 0.2), r=r)
    return case(r, "DEQUANTIZE", (source,), activation("y", source.shape, FLOAT))


def below_zero(r: Random) -> Case:
    """LEAKY_RELU that turns what is below 0 upwards: of integers, also by -1, whose last bit is that of the sign."""
    example = leaky_relu(r)
    while example.graph.tensors[0].dtype is FLOAT:
        example = leaky_relu(r)
    source, output = (each.quantization.scales[0] for each in example.graph.tensors if each.quantization)
    alpha = single(pick(r, [-r.uniform(0, 1), -r.uniform(1, 4), -output / source, -1.0]))
    op = replace(example.graph.operators[0], options=LeakyRelu(alpha))
    return Case(replace(example.graph, operators=(op,)), example.inputs)


def casts_of_uint8(r: Random) -> list[Case]:
    """CASTs that TensorFlow Lite Micro refuses: from uint8 and to it."""
    types = [BOOL, INT8, UINT8, INT16, INT32, DType.UINT32, FLOAT]
    examples = []
    for before, after in [(a, b) for a in types for b in types if UINT8 in (a, b)]:
        drawn = case(r, "CAST", (plain("x", (300,), before),), plain("y", (300,), after))
        examples.append(
            drawn if before is not FLOAT else Case(drawn.graph, (r.uniform(-0.9, 255.9, 300).astype("f4"),))
        )
    return examples


def cast(r: Random) -> Case:
    """Floats are in the range of what they become: beyond it, C++ says nothing."""
    size = shape(r)
    types = [BOOL, INT8, INT16, INT32, DType.UINT32, FLOAT]
    unchanged = {(same, same) for same in (FLOAT, DType.UINT32, BOOL)}
    before, after = pick(r, [(a, b) for a in types for b in types if (a, b) not in unchanged])
    example = case(r, "CAST", (plain("x", size, before),), plain("y", size, after))
    if before is not FLOAT:
        return example
    reach = 2.0 ** (after.bits - 1) - 1 if after.is_integer else 2.0
    values = r.uniform(-reach, reach, size) * pick(r, [1.0, 1.0, 0.01])
    return Case(example.graph, (_kept(values, after),))


def _kept(values: Array, after: DType) -> Array:
    """Round to float32, but not beyond the range."""
    kept = values.astype(np.float32)
    return np.where(np.abs(kept) >= 2.0 ** (after.bits - 1), np.float32(1), kept) if after.is_integer else kept


def logical_not(r: Random) -> Case:
    source = plain("x", shape(r), BOOL)
    return case(r, "LOGICAL_NOT", (source,), plain("y", source.shape, BOOL))


CASES: dict[str, Callable[[Random], Case]] = {
    "ABS": absolute,
    "CAST": cast,
    "CEIL": of_floats("CEIL"),
    "COS": of_floats("COS"),
    "DEQUANTIZE": dequantize,
    "ELU": elu,
    "EXP": of_floats("EXP"),
    "FLOOR": of_floats("FLOOR"),
    "GELU": gelu,
    "HARD_SWISH": hard_swish,
    "LEAKY_RELU": leaky_relu,
    "LOG": of_floats("LOG", 0.001),
    "LOGICAL_NOT": logical_not,
    "LOGISTIC": sigmoid("LOGISTIC", 1 / 256, -128),
    "NEG": of_floats("NEG"),
    "QUANTIZE": quantize,
    "RELU": rectifier("RELU"),
    "RELU6": rectifier("RELU6"),
    "RELU_0_TO_1": rectifier("RELU_0_TO_1"),
    "ROUND": of_floats("ROUND"),
    "RSQRT": rsqrt,
    "SIN": of_floats("SIN"),
    "SQRT": of_floats("SQRT", 0),
    "SQUARE": of_floats("SQUARE"),
    "TANH": sigmoid("TANH", 1 / 128, 0),
}
