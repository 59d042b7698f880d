"""Computes uint8, as TensorFlow 1 quantized it, in int8: each value and each zero point is 128 less.

    %0 "x" uint8[4]                      %0 "x" uint8[4]
    %1 "y" uint8[4]                      %1 "y" uint8[4]
                                         %2 = QUANTIZE(%0)
    %1 = ADD(%0, %0)            →        %3 = ADD(%2, %2)
                                         %1 = QUANTIZE(%3)

Inputs and outputs of a subgraph, and what operators without such an equal read or write, keep their type; a QUANTIZE
that only subtracts or adds 128 is between them and the rest.  All other tensors become int8 where they are.

Convolutions take no weights with a zero point: theirs become what they are from it.  LiteRT multiplies the scales of
their input and weights in float32, other than for int8; the scale of the weights becomes one for which the product is
that one.  An AVERAGE_POOL_2D of uint8 rounds halves up, of int8 away from 0: where there are halves it runs in int16,
on what is from the least value on and so never below 0.  CONCATENATION brings inputs to the scale of its output, by
tables; boxes and scores of a detection become floats before it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from usmp_build.arithmetic.fixed_point import single
from usmp_build.arithmetic.limits import LARGEST_FLOAT, LEAST, MOST, clamp
from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.ir.options import Activation, Padding
from usmp_build.operators.detection import DETECTION
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.uint8 import CONVOLUTIONS, SHIFT, difference, is_computed, is_quantized, signed_weights
from usmp_build.operators.unary import Lookup
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_INT8_VALUES = range(LEAST, MOST + 1)


def uint8(model: Model, pins: Pins = NO_PINS) -> Model:
    """Return the model with int8 in place of uint8 wherever some operator computes with it."""
    subgraphs = tuple(_converted(graph, index, pins) for index, graph in enumerate(model.subgraphs))
    return model if subgraphs == model.subgraphs else replace(model, subgraphs=subgraphs)


def _converted(graph: Subgraph, index: int, pins: Pins) -> Subgraph:
    kept = pins.stateful | pins.as_stored
    places = {
        place
        for place, op in enumerate(graph.operators)
        if (index, op.position) not in kept and _has_uint8(op, graph) and not difference(op, graph)
    }
    if not any(is_computed(graph.operators[place], graph) for place in places):
        return graph
    others = (op for place, op in enumerate(graph.operators) if place not in places)
    stored = {*graph.inputs, *graph.outputs}.union(*((*op.inputs, *op.outputs) for op in others))
    net = _Net(graph, frozenset(t for t in stored if t is not None))
    for place, op in enumerate(graph.operators):
        if place in places:
            net.convert(op)
        else:
            net.operators.append(op)
    return replace(graph, tensors=tuple(net.tensors), operators=tuple(net.operators))


def _has_uint8(op: Operator, graph: Subgraph) -> bool:
    return any(t is not None and is_quantized(graph.tensors[t]) for t in (*op.inputs, *op.outputs))


@dataclass
class _Net:
    """A subgraph while its operators are converted, one after the other."""

    graph: Subgraph
    stored: frozenset[int]
    """Tensors that keep their type."""
    tensors: list[Tensor] = field(init=False)
    operators: list[Operator] = field(default_factory=list)
    _int8: dict[int, int] = field(default_factory=dict)
    """Tensor of uint8 → the one of int8 that has its values, less 128."""

    def __post_init__(self) -> None:
        self.tensors = list(self.graph.tensors)
        self._uses = Counter(t for op in self.graph.operators for t in op.inputs)
        self._positions = 1 + max((op.position for op in self.graph.operators), default=-1)

    def convert(self, op: Operator) -> None:
        """Add the operator that computes in int8 what `op` does in uint8, with what it needs before and after it."""
        special = {DETECTION: self._detection, "CONCATENATION": self._concatenation, "AVERAGE_POOL_2D": self._average}
        inputs = tuple(self._input(op, position) for position in range(len(op.inputs)))
        outputs = tuple(map(self._written, op.outputs))
        changed = replace(op, inputs=inputs, outputs=outputs)
        special.get(op.kind, self.operators.append)(changed)
        for before, after in zip(op.outputs, outputs, strict=True):
            if before != after:
                self._add("QUANTIZE", after, before)

    def _input(self, op: Operator, position: int) -> int | None:
        """Return what an operator reads in place of an input."""
        index = op.inputs[position]
        if index is None or not is_quantized(self.graph.tensors[index]):
            return index
        if op.kind in CONVOLUTIONS and position == 1:
            source = self.graph.tensors[op.inputs[2 if op.kind == "TRANSPOSE_CONV" else 0] or 0]
            return self._constant(index, _of_convolution(self.graph.tensors[index], source))
        if index not in self._int8:
            tensor = self.graph.tensors[index]
            if tensor.is_constant:
                return self._constant(index, _shifted(tensor))
            self._int8[index] = self._new(_shifted(tensor))
            self._add("QUANTIZE", index, self._int8[index])
        return self._int8[index]

    def _written(self, index: int) -> int:
        tensor = self.graph.tensors[index]
        if not is_quantized(tensor):
            return index
        self._int8[index] = self._new(_shifted(tensor)) if index in self.stored else index
        self.tensors[self._int8[index]] = _shifted(tensor)
        return self._int8[index]

    def _constant(self, index: int, tensor: Tensor) -> int:
        """Return where a constant is after its change: where it was, unless others read it as well."""
        if self._uses[index] > 1 or index in self.stored:
            return self._new(tensor)
        self.tensors[index] = tensor
        return index

    def _new(self, tensor: Tensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def _add(self, kind: str, source: int, output: int, options: Lookup | None = None) -> None:
        self.operators.append(Operator(kind, (source,), (output,), options, self._positions))
        self._positions += 1

    def _detection(self, op: Operator) -> None:
        """Boxes, scores and anchors of int8 become floats."""
        inputs: list[int | None] = []
        for index in op.inputs:
            if index is not None and self.tensors[index].dtype is DType.INT8:
                real = replace(self.tensors[index], dtype=DType.FLOAT32, quantization=None, data=None)
                inputs.append(self._new(real))
                self._add("DEQUANTIZE", index, len(self.tensors) - 1)
            else:
                inputs.append(index)
        self.operators.append(replace(op, inputs=tuple(inputs)))

    def _concatenation(self, op: Operator) -> None:
        output = self.tensors[op.outputs[0]]
        inputs: list[int | None] = []
        for index in op.inputs:
            source = self.tensors[index or 0]
            if index is None or source.dtype is not output.dtype or source.quantization == output.quantization:
                inputs.append(index)
                continue
            rescaled = self._new(replace(source, quantization=output.quantization, data=None))
            self._add("LOOKUP", index, rescaled, Lookup(_rescaled(source, output)))
            inputs.append(rescaled)
        self.operators.append(replace(op, inputs=tuple(inputs)))

    def _average(self, op: Operator) -> None:
        """In int16 where halves occur: with zero points of 0, it averages what int8 is from its least value on."""
        source, output, options = self.tensors[op.inputs[0] or 0], self.tensors[op.outputs[0]], op.options
        bounds = clamp(options.activation, None, output) if isinstance(options, Pool2D) else None
        is_alike = source.dtype is output.dtype and _zero_points(source) == _zero_points(output)
        if not isinstance(options, Pool2D) or bounds is None or not is_alike or not _has_halves(options):
            self.operators.append(op)
            return
        wide = tuple(self._new(_wide(tensor)) for tensor in (source, output))
        narrow = tuple(self._new(_above_least(tensor)) for tensor in (source, output))
        self._add("RESHAPE", op.inputs[0] or 0, narrow[0])
        self._add("QUANTIZE", narrow[0], wide[0])
        pool = replace(options, activation=Activation.NONE)
        self.operators.append(replace(op, inputs=wide[:1], outputs=wide[1:], options=pool))
        self._add("QUANTIZE", wide[1], narrow[1])
        limited = tuple(min(max(value, bounds[0]), bounds[1]) for value in _INT8_VALUES)
        if limited == tuple(_INT8_VALUES):
            self._add("RESHAPE", narrow[1], op.outputs[0])
        else:
            self._add("LOOKUP", narrow[1], op.outputs[0], Lookup(limited))


def _zero_points(tensor: Tensor) -> tuple[int, ...]:
    return tensor.quantization.zero_points if tensor.quantization else ()


def _shifted(tensor: Tensor) -> Tensor:
    assert tensor.quantization is not None
    points = tuple(point - SHIFT for point in tensor.quantization.zero_points)
    data = tensor.data
    if data is not None and not tensor.is_withheld:
        data = (np.frombuffer(data, np.uint8) ^ SHIFT).tobytes()
    return replace(tensor, dtype=DType.INT8, quantization=replace(tensor.quantization, zero_points=points), data=data)


def _of_convolution(weights: Tensor, source: Tensor) -> Tensor:
    """Return weights of uint8 as int8, with a scale whose product with that of the input is LiteRT's, in float32."""
    assert weights.quantization is not None
    (scale,), given = weights.quantization.scales, source.quantization.scales[0] if source.quantization else 0.0
    product = given * scale
    exact = single(product) / given if 0 < product <= LARGEST_FLOAT else scale
    return replace(weights, dtype=DType.INT8, quantization=Quantization((exact,), (0,)), data=signed_weights(weights))


def _has_halves(options: Pool2D) -> bool:
    """Tell whether some window may have an even number of pixels: by itself, or at a border."""
    return options.padding is Padding.SAME or options.filter_h * options.filter_w % 2 == 0


def _above_least(tensor: Tensor) -> Tensor:
    """Return the same int8 with its least value as zero point."""
    assert tensor.quantization is not None
    return replace(tensor, quantization=Quantization(tensor.quantization.scales, (LEAST,)))


def _wide(tensor: Tensor) -> Tensor:
    assert tensor.quantization is not None
    return replace(tensor, dtype=DType.INT16, quantization=Quantization(tensor.quantization.scales, (0,)))


def _rescaled(source: Tensor, output: Tensor) -> tuple[int, ...]:
    """Return for each int8 what has its real value, about, at the scale of the output: in float32, as LiteRT does."""
    assert source.quantization is not None
    assert output.quantization is not None
    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.float32(source.quantization.scales[0]) * (np.float32(1) / np.float32(output.quantization.scales[0]))
        from_zero = np.float32(source.quantization.zero_points[0] + SHIFT) * -scale
        reals = np.arange(MOST - LEAST + 1).astype(np.float32) * scale + from_zero
    steps = np.nan_to_num(np.copysign(np.floor(np.abs(reals.astype(np.float64)) + 0.5), reals))
    values = np.clip(steps + output.quantization.zero_points[0], LEAST, MOST).astype(np.int64)
    return tuple(values.tolist())
