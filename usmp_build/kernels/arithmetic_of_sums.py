"""How sums of products become outputs, by types: the scalars, constants and operands that the C of a type has for it.

int8        sums of 32 bits, multiplied by 31 bits and shifted: rounded twice
int16       with weights of int8: sums of 64 bits, multiplied by 15 bits and shifted: rounded once
float32     no scales
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from usmp_build.arithmetic.fixed_point import Factor
from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Constant, Derived, Input, Operand, Value
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation, Limits
from usmp_build.kernels.activation import quantized_limits, real_limits
from usmp_build.kernels.nest import Span, aside
from usmp_build.kernels.node import LARGEST, Node, Unsupported, check_symmetric, unsupported_types
from usmp_build.kernels.requantization import factor_constants, output_fields, wide
from usmp_build.kernels.weights import bias_operand, channel_factors, check_sums

_WIDEST_INT16 = 1 << 15
_WIDEST_PRODUCT = _WIDEST_INT16 << 7
"""Of an int16 and an int8."""
_WIDEST_SUM = 1 << 47
"""TensorFlow Lite Micro multiplies sums below it."""


class Places(NamedTuple):
    """Positions of the inputs of an operator."""

    input: int = 0
    weights: int = 1
    bias: int = 2


PLACES = Places()


@frozen
class Arithmetic:
    """What the C of a type of elements gets for its sums, beside inputs and weights."""

    elements: DType
    """Their type, which names of C functions have."""
    fields: tuple[tuple[str, Value], ...]
    """Parameters, in the order of the struct."""
    operands: tuple[Operand, ...]
    """Between weights and output."""
    constants: tuple[Constant, ...]
    sums: DType
    """The type of a sum."""
    factors: tuple[Factor, ...] = ()
    """Of integers: how much sums of each channel are scaled by."""
    is_narrow: bool = False
    """Whether sums of int16 have only 32 bits, as their biases do, and are scaled as those of int8."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """What an element of the output needs of its operands."""
        return tuple(map(aside, self.operands))


def arithmetic(
    node: Node,
    products: int,
    axis: int,
    activation: Activation,
    limits: Limits | None = None,
    places: Places = PLACES,
    other_biases: frozenset[DType] = frozenset(),
) -> Arithmetic:
    """Return the arithmetic for sums of `products` with weights, whose scales and biases are along `axis`.

    `other_biases` are types of biases that int16 may have instead of int64.  With int32, sums are narrow.
    """
    source, weights, output = node.input(places.input), node.input(places.weights), node.output
    types = source.dtype, weights.dtype, output.dtype
    channels = weights.shape[axis]
    if types == (DType.INT8, DType.INT8, DType.INT8):
        check_sums(node, products, weights)
        bias, zeros = bias_operand(node, channels, DType.INT32, places.bias)
        factors = channel_factors(node, source, weights, axis)
        bounds = quantized_limits(node, activation, output, limits)
        fields = ("input_zero_point", node.zero_point(source)), *output_fields(node, bounds)
        constants = (*factor_constants(factors), *zeros)
        operands = (bias or Derived(2), Derived(0), Derived(1))
        return Arithmetic(DType.INT8, fields, operands, constants, DType.INT32, factors)
    if types == (DType.INT16, DType.INT8, DType.INT16):
        return _int16(node, products, axis, quantized_limits(node, activation, output, limits), places, other_biases)
    if types == (DType.FLOAT32, DType.FLOAT32, DType.FLOAT32):
        bias, zeros = bias_operand(node, channels, DType.FLOAT32, places.bias)
        smallest, largest = real_limits(activation, limits)
        reals = ("low", smallest), ("high", largest)
        return Arithmetic(DType.FLOAT32, reals, (bias or Derived(0),), zeros, DType.FLOAT32)
    raise unsupported_types(source, weights, output)


def _int16(
    node: Node,
    products: int,
    axis: int,
    limits: tuple[int, int],
    places: Places,
    other_biases: frozenset[DType],
) -> Arithmetic:
    source, weights = node.input(places.input), node.input(places.weights)
    check_symmetric(node, source, node.output)
    bias, biases = _wide_bias(node, weights.shape[axis], places.bias, other_biases)
    given = node.optional(places.bias)
    factors = channel_factors(node, source, weights, axis)
    narrow = given is not None and given.dtype is DType.INT32
    if narrow:
        _check_narrow_sums(node, weights, axis, given)
    else:
        check_wide_sums(products, given)
        factors = tuple(wide(node, each) for each in factors)
    return Arithmetic(
        DType.INT16,
        (("low", limits[0]), ("high", limits[1])),
        (bias or Derived(2), Derived(0), Derived(1)),
        (*factor_constants(factors), *biases),
        DType.INT64,
        factors,
        narrow,
    )


def _wide_bias(
    node: Node, channels: int, position: int, other_types: frozenset[DType]
) -> tuple[Input | None, tuple[Constant, ...]]:
    """Return the bias as an operand of int64; where it is not one, None and a derived constant."""
    given = node.optional(position)
    if given is None or given.dtype not in other_types:
        return bias_operand(node, channels, DType.INT64, position)
    bias_operand(node, channels, given.dtype, position)
    biases = node.array(position, "biases").astype("<i8")
    return None, (Constant("bias", DType.INT64, biases.tobytes()),)


def check_wide_sums(products: int, bias: Tensor | None) -> None:
    """Refuse sums of 48 bits or more; the bias is constant."""
    largest = 0 if bias is None else max(abs(int(each)) for each in bias.as_array().ravel())
    if products * _WIDEST_PRODUCT + largest >= _WIDEST_SUM:
        raise Unsupported("its sums may not fit 48 bits")


def check_depth(depth: int, dtype: DType) -> None:
    """Refuse sums of products of two tensors of a type: more than 31 bits for int8, more than 47 for int16."""
    if dtype is DType.INT8 and depth * 255 * 255 > LARGEST:
        raise Unsupported(f"it adds up {depth:,} products, which may not fit 32 bits")
    if dtype is DType.INT16 and depth * _WIDEST_INT16**2 >= _WIDEST_SUM:
        raise Unsupported("its sums may not fit 48 bits")


def _check_narrow_sums(node: Node, weights: Tensor, axis: int, bias: Tensor | None) -> None:
    """Refuse sums that do not fit 32 bits with these weights, or with any, where they come at run time."""
    if weights.is_constant:
        filters = np.moveaxis(node.array(1, "weights").astype(np.int64), axis, 0).reshape(weights.shape[axis], -1)
        sums = np.abs(filters).sum(axis=1) * _WIDEST_INT16
    else:
        sums = np.full(weights.shape[axis], weights.elements // weights.shape[axis] * _WIDEST_PRODUCT)
    if bias is not None:
        sums += np.abs(bias.as_array().astype(np.int64)).ravel()
    if int(sums.max()) > LARGEST:
        raise Unsupported("its sums are 32 bits wide, as its biases are, and may not fit")
