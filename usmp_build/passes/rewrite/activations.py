"""Fuses activations and requantizations into the preceding operator, if that clamps its result.

    %3 = CONV_2D(%1, ...)        %4 = CONV_2D(%1, ...) activation=RELU
    %4 = RELU(%3)           →

This is done only if it is exact.  With equal scales, RELU and QUANTIZE shift int8 by the difference of the zero points
and clamp: the preceding operator computes `scaled + zero point`, clamped, so that it computes the same with the other
zero point, and its own clamp shifted and intersected with the other one.  RELU6 clamps without shifting, and so do
MINIMUM and MAXIMUM with a constant of one element.  If no activation has these limits, the option `limits` states them.
The tensor between the operators disappears, so it must have no other reader.
"""

from __future__ import annotations

from dataclasses import replace

from usmp_build.arithmetic.limits import LEAST, MOST, clamp, int8_scale, within
from usmp_build.ir.graph import DType, Model, Operator, Tensor
from usmp_build.ir.options import Activation, Limits
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net, in_each_subgraph
from usmp_build.passes.rewrite.elements import elements_read, table
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.ranges import Clamped, activation_of

_NARROWER = {
    (Activation.NONE, Activation.RELU),
    (Activation.NONE, Activation.RELU6),
    (Activation.NONE, Activation.RELU_N1_TO_1),
    (Activation.RELU, Activation.RELU6),
}
"""For floats: pairs where clamping by the first and then by the second equals clamping by the second only."""


def activations(model: Model, pins: Pins = NO_PINS) -> Model:
    """Fuse operators with the clamps after them, in the order in which they run."""
    return in_each_subgraph(model, pins, _step)


def _step(net: Net) -> None:
    for place, op in enumerate(net.graph.operators):
        source = _clamped(op, net)
        before = net.producer(source) if source is not None else None
        joined = _joined(before, op, net) if before and _may_join(before, op, net) else None
        if source is not None and joined is not None:
            earlier = net.writers[source]
            net.put(place, None)
            net.put(earlier, joined)


def _clamped(op: Operator, net: Net) -> int | None:
    """Return the tensor that an operator clamps; None if it does something else."""
    if len(op.outputs) != 1:
        return None
    if _bounds_another(op):
        read = elements_read(op, net)
        return min(read) if len(read) == 1 else None
    is_clamp = activation_of(op) is not None or op.kind == "QUANTIZE"
    return op.inputs[0] if is_clamp and op.inputs else None


def _bounds_another(op: Operator) -> bool:
    elementwise = traits(op.kind).elementwise
    return elementwise is not None and elementwise.bounds


def _may_join(before: Operator, op: Operator, net: Net) -> bool:
    """Tell whether two operators may be fused, and the tensor between them has no other use."""
    between, output = before.outputs[0], op.outputs[0]
    same_shape = net.graph.tensors[between].shape == net.graph.tensors[output].shape
    alone = len(before.outputs) == 1 and len(net.readers[between]) == 1 and net.may_go(between)
    return traits(before.kind).extended and same_shape and alone and net.pins.may_join(net.index, before, op)


def _joined(before: Operator, op: Operator, net: Net) -> Operator | None:
    """Return the fused operator; None if that would not be exact."""
    between, output = net.graph.tensors[before.outputs[0]], net.graph.tensors[op.outputs[0]]
    first, activation = net.tensor(before.inputs[0] if before.inputs else None), activation_of(op) or Activation.NONE
    if not isinstance(before.options, Clamped) or first is None or first.dtype is not between.dtype:
        return None
    if between.dtype is DType.FLOAT32 and output.dtype is DType.FLOAT32:
        if before.options.limits or (before.options.activation, activation) not in _NARROWER:
            return None
        return replace(before, outputs=op.outputs, options=replace(before.options, activation=activation))
    if _bounds_another(op):
        then = _bounds(op, net) if between.quantization == output.quantization else None
    else:
        then = clamp(activation, None, output)
    options = None if then is None else _int8(before.options, activation, then, between, output)
    return None if options is None else replace(before, outputs=op.outputs, options=options)


def _bounds(op: Operator, net: Net) -> Limits | None:
    """Return the limits of MAXIMUM or MINIMUM: their results for the least and the largest int8."""
    values = table([op], min(elements_read(op, net)), net)
    return None if values is None else (int(values[0]), int(values[-1]))


def _int8(options: Clamped, activation: Activation, then: Limits, between: Tensor, output: Tensor) -> Clamped | None:
    one, other = int8_scale(between), int8_scale(output)
    if one is None or other is None or one[0] != other[0]:
        return None
    shift = other[1] - one[1]
    if shift and (activation is Activation.RELU6 or isinstance(options, Pool2D)):
        return None  # RELU6 keeps the values of its input; pooling has one zero point for both sides
    now = clamp(options.activation, options.limits, between)
    if now is None:
        return None
    moved = within((now[0] + shift, now[1] + shift), (LEAST, MOST))
    limits = within(moved, then)
    for alone in (options.activation, activation):
        if clamp(alone, None, output) == limits:
            return replace(options, activation=alone, limits=None)
    return replace(options, limits=limits)
