"""Elementwise operators of one operand: activations, other scales and types, look-ups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial

import numpy as np

from usmp_build.arithmetic import functions, tables
from usmp_build.arithmetic.fixed_point import single
from usmp_build.arithmetic.hard_swish import hard_swish
from usmp_build.arithmetic.limits import LEAST, Quantized, is_table
from usmp_build.frozen import frozen
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.ir.options import Activation, Options, slot
from usmp_build.operators.fold import dequantized, same_elements
from usmp_build.operators.general_rules import as_many
from usmp_build.operators.kind import Effect, Fold, Int8, Int8Kernel, Known, OperatorKind, StoredOptions, elementwise
from usmp_build.operators.operands import Signature
from usmp_build.operators.values.interval import Interval
from usmp_build.operators.values.quantized import Opaque, factor, limits, operand, quantized
from usmp_build.operators.values.transfer import Transfer, looked_up, rescaled, scaled


@frozen
class Gelu(Options):
    """GELU."""

    approximate: bool = field(default=False, metadata=slot(0, "?"))
    """Whether it is defined by a hyperbolic tangent in place of the error function."""


@frozen
class LeakyRelu(Options):
    """LEAKY_RELU."""

    alpha: float = field(default=0.0, metadata=slot(0, "f"))
    """What values below 0 are multiplied with."""


@frozen
class Lookup(Options):
    """LOOKUP, which is ours: any function of one int8."""

    table: tuple[int, ...] = ()
    """What becomes of -128, of -127, ... and of 127."""


def _requantized(activation: Activation) -> Callable[[Operator, Subgraph], Transfer]:
    """Return how values come to another scale and zero point, and are limited there."""

    def read(op: Operator, graph: Subgraph) -> Transfer:
        return rescaled(_source(op, graph), graph.tensors[op.outputs[0]], activation)

    return read


def _relu_0_to_1(op: Operator, graph: Subgraph) -> Transfer:
    """No fused activation has both limits."""
    source, output = _source(op, graph), graph.tensors[op.outputs[0]]
    zero, _ = limits(Activation.RELU, output)
    _, one = limits(Activation.RELU_N1_TO_1, output)
    unlimited = rescaled(source, output, Activation.NONE)
    return lambda operands: unlimited(operands).clipped(zero, one)


def _relu6(op: Operator, graph: Subgraph) -> Transfer:
    """The input's scale counts, whatever the output's is."""
    limited = limits(Activation.RELU6, _source(op, graph))
    return lambda operands: operands[0].clipped(*limited)


def _logistic(op: Operator, graph: Subgraph) -> Transfer:
    if quantized(graph.tensors[op.outputs[0]]).zero_point != LEAST:
        raise Opaque
    before = quantized(_source(op, graph))
    return _from_table(tables.of_scale(tables.logistic, before.scale, before.zero_point))


def _tanh(op: Operator, graph: Subgraph) -> Transfer:
    before = quantized(_source(op, graph))
    return _from_table(tables.of_scale(tables.tanh, before.scale, before.zero_point))


def _hard_swish(op: Operator, graph: Subgraph) -> Transfer:
    return _from_table(hard_swish(quantized(_source(op, graph)), quantized(graph.tensors[op.outputs[0]])))


def _of_scales(function: Callable[[Quantized, Quantized], bytes]) -> Callable[[Operator, Subgraph], Transfer]:
    """Return what a table says that follows from the scales of input and output."""

    def read(op: Operator, graph: Subgraph) -> Transfer:
        return _from_table(function(quantized(_source(op, graph)), quantized(graph.tensors[op.outputs[0]])))

    return read


def _gelu(op: Operator, graph: Subgraph) -> Transfer:
    if not isinstance(op.options, Gelu):
        raise Opaque
    function = functions.gelu_tanh if op.options.approximate else functions.gelu
    return _of_scales(partial(functions.table, function))(op, graph)


def _from_table(data: bytes | None) -> Transfer:
    if data is None:
        raise Opaque
    return looked_up(np.frombuffer(data, np.int8).astype(np.int64))


def leaky_factors(alpha: float, source: float, output: float) -> tuple[float, float]:
    """Return what LEAKY_RELU multiplies integers with, those from 0 on and those below, between two scales."""
    return source / output, source * single(alpha) / output


def _leaky_relu(op: Operator, graph: Subgraph) -> Transfer:
    """Both halves rise, or are level, for factors from 0 on."""
    if not isinstance(op.options, LeakyRelu) or op.options.alpha < 0:
        raise Opaque
    before, after = quantized(_source(op, graph)), quantized(graph.tensors[op.outputs[0]])
    above, below = map(factor, leaky_factors(op.options.alpha, before.scale, after.scale))
    limited = limits(Activation.NONE, graph.tensors[op.outputs[0]])

    def transfer(operands: Sequence[Interval]) -> Interval:
        ends = Interval(operands[0].low - before.zero_point, operands[0].high - before.zero_point)
        positive, negative = (scaled(ends, by, after.zero_point, limited) for by in (above, below))
        low = np.where(ends.low < 0, negative.low, positive.low)
        return Interval(low, np.where(ends.high < 0, negative.high, positive.high))

    return transfer


def _lookup(op: Operator, _: Subgraph) -> Transfer:
    table = op.options.table if isinstance(op.options, Lookup) else ()
    if not is_table(table):
        raise Opaque
    return looked_up(np.array(table, np.int64))


def _source(op: Operator, graph: Subgraph) -> Tensor:
    source = operand(op, graph, 0)
    if source is None:
        raise Opaque
    return source


def _unary(
    name: str,
    *,
    effect: Effect = Effect.FUNCTION,
    activation: Activation | None = None,
    int8: Int8 | None = None,
    fold: Fold | None = None,
    options: StoredOptions | None = None,
) -> OperatorKind:
    return elementwise(
        name,
        Signature("input", rules=(as_many,)),
        operands=1,
        effect=effect,
        activation=activation,
        int8=int8,
        fold=fold,
        options=options,
    )


def _table(transfer: Callable[[Operator, Subgraph], Transfer]) -> Int8:
    return Int8(transfer, Int8Kernel.TABLE)


def _arithmetic(transfer: Callable[[Operator, Subgraph], Transfer]) -> Int8:
    return Int8(transfer, Int8Kernel.ARITHMETIC)


KINDS = (
    _unary("ABS", int8=_table(_of_scales(functions.absolute))),
    _unary("CAST", effect=Effect.PURE, fold=Fold(Known.INTEGERS, same_elements)),
    _unary("CEIL"),
    _unary("COS"),
    _unary("DEQUANTIZE", fold=Fold(Known.VALUES, dequantized)),
    _unary("ELU", int8=_table(_of_scales(partial(functions.table, functions.elu)))),
    _unary("EXP", int8=_table(_of_scales(partial(functions.table, functions.exp)))),
    _unary("FLOOR"),
    _unary("GELU", int8=_table(_gelu), options=StoredOptions(Gelu, "GeluOptions")),
    _unary("HARD_SWISH", int8=_table(_hard_swish)),
    _unary("LEAKY_RELU", int8=_arithmetic(_leaky_relu), options=StoredOptions(LeakyRelu, "LeakyReluOptions")),
    _unary("LOG", int8=_table(_of_scales(partial(functions.table, functions.log)))),
    _unary("LOGISTIC", int8=_table(_logistic)),
    _unary("LOOKUP", int8=_table(_lookup), options=StoredOptions(Lookup, None)),
    _unary("NEG"),
    _unary("QUANTIZE", int8=_arithmetic(_requantized(Activation.NONE))),
    _unary("RELU", activation=Activation.RELU, int8=_arithmetic(_requantized(Activation.RELU))),
    _unary("RELU6", activation=Activation.RELU6, int8=_arithmetic(_relu6)),
    _unary("RELU_0_TO_1", int8=_arithmetic(_relu_0_to_1)),
    _unary(
        "RELU_N1_TO_1",
        activation=Activation.RELU_N1_TO_1,
        int8=Int8(_requantized(Activation.RELU_N1_TO_1), Int8Kernel.NONE),
    ),
    _unary("ROUND"),
    _unary("RSQRT", int8=_table(_of_scales(functions.rsqrt))),
    _unary("SIN"),
    _unary("SQRT", int8=_table(_of_scales(functions.sqrt))),
    _unary("SQUARE"),
    _unary("TANH", int8=_table(_tanh)),
)
