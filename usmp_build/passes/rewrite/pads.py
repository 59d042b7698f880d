"""Fuses PAD into the following convolutions and poolings, as explicit padding (a frame around their image).

    %3 = PAD(%1, [[0, 0], [1, 1], [1, 1], [0, 0]])
    %4 = CONV_2D(%3, ...) padding=VALID                →    %4 = CONV_2D(%1, ...) frame=[1, 1, 1, 1]

This is exact if a pixel of the frame affects the output exactly like a pixel outside the image:

- for a convolution, nothing: the value is the zero point of the input, so that it adds 0 to every sum;
- for MAX_POOL_2D, nothing: the value is not larger than any possible maximum;
- for AVERAGE_POOL_2D, `outside` states the value, and that it counts.

The frame is the sum of the PAD's and the operator's own padding.  All readers of the padded image must take it.
"""

from __future__ import annotations

from usmp_build.arithmetic.limits import int8_scale, is_symmetric_int16
from usmp_build.ir.graph import DType, Model, Operator, Tensor
from usmp_build.passes.rewrite.edit import Net, in_each_subgraph
from usmp_build.passes.rewrite.frames import Padded, framed
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_IMAGE = 4
"""Rank of an image: batch, row, column, channel."""


def pads(model: Model, pins: Pins = NO_PINS) -> Model:
    """Turn paddings into frames, from the last one on: of two in a row, the second one first."""
    return in_each_subgraph(model, pins, _step)


def _step(net: Net) -> None:
    for place, op in reversed([*enumerate(net.operators)]):
        padded = _padded(op, net) if op and op.kind in {"PAD", "PADV2"} else None
        if op is None or padded is None or not net.may_go(padded.output):
            continue
        readers = sorted(net.readers[padded.output])
        fused = [_fused(index, op, padded, net) for index in readers]
        if fused and None not in fused:
            net.put(place, None)
            for index, reader in zip(readers, fused, strict=True):
                net.put(index, reader)


def _fused(place: int, pad: Operator, padded: Padded, net: Net) -> Operator | None:
    """Return a reader of the padded image with a frame; None if it may not or cannot have one."""
    reader = net.operators[place]
    may_join = reader is not None and net.pins.may_join(net.index, pad, reader)
    return framed(reader, padded, net) if reader is not None and may_join else None


def _padded(op: Operator, net: Net) -> Padded | None:
    """Return a PAD as data; None unless it pads rows and columns by constants."""
    if len(op.outputs) != 1 or len(op.inputs) < 2 or op.inputs[0] is None:
        return None
    source, output = net.graph.tensors[op.inputs[0]], net.graph.tensors[op.outputs[0]]
    numbers = net.integers(op, 1)
    if numbers is None or len(source.shape) != _IMAGE or len(numbers) != 2 * _IMAGE or source.is_constant:
        return None
    if (source.dtype, source.quantization) != (output.dtype, output.quantization):
        return None
    value = _value(op, net, source)
    if any((*numbers[:2], *numbers[6:])) or min(numbers) < 0 or value is None:
        return None
    top, bottom, left, right = numbers[2:6]
    images, height, width, channels = source.shape
    if output.shape != (images, top + height + bottom, left + width + right, channels):
        return None
    return Padded(op.inputs[0], op.outputs[0], (top, bottom, left, right), value)


def _value(op: Operator, net: Net, source: Tensor) -> float | None:
    """Return the padding value: an operand of PADV2; else 0, which for int8 is the zero point."""
    quantized = int8_scale(source)
    if quantized is None and source.dtype is not DType.FLOAT32 and not is_symmetric_int16(source):
        return None
    if op.kind == "PAD":
        return 0.0 if quantized is None else quantized[1]
    value = net.tensor(op.inputs[2]) if len(op.inputs) > 2 else None
    if value is None or not value.is_constant or value.is_withheld:
        return None
    if value.elements != 1 or value.dtype is not source.dtype:
        return None
    return float(value.as_array().ravel()[0])
