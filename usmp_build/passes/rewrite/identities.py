"""Removes operators that return one of their inputs unchanged.

    %3 = TRANSPOSE(%1, [0, 2, 1])                      %1 has the shape [1, 8, 1]: nothing moves
    %4 = TANH(%3)                →    %4 = TANH(%1)

Readers of the output then read the input.  If the output has another shape or quantization than the input, is an output
of the subgraph, or is named by a rule, a RESHAPE replaces the operator instead: the same bytes as another tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from usmp_build.arithmetic.limits import clamp, float_clamp, int8_scale
from usmp_build.ir.graph import DType, Model, Operator, Tensor
from usmp_build.ir.options import Activation
from usmp_build.operators.joining import Concatenation
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.edit import Net, in_each_subgraph, renamed
from usmp_build.passes.rewrite.elements import changes_nothing, elements_read, table
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.rewrite.ranges import activation_of, value_range
from usmp_build.passes.rewrite.unchanged import unchanged

_QUANTIZED = {DType.INT8, DType.INT16}
_LARGEST = 3.4e38 / 65536
"""Scales below this keep every 16-bit value within the range of float32."""


def identities(model: Model, pins: Pins = NO_PINS) -> Model:
    """Remove operators that change nothing, in the order in which they run."""
    return in_each_subgraph(model, pins, _step)


def _step(net: Net) -> None:
    moved: dict[int, int] = {}
    passed: list[int | None] = []
    for place, op in enumerate(net.graph.operators):
        op = renamed(op, moved)
        net.put(place, op)
        source = _source(op, net)
        if source is None:
            continue
        output = op.outputs[0]
        if net.may_rename(output) and _look_alike(net.graph.tensors[source], net.graph.tensors[output]):
            moved[output] = source
            net.put(place, None)
        elif not traits(op.kind).only_shape:
            net.put(place, replace(op, kind="RESHAPE", inputs=(source,), options=None))
        passed.append(op.inputs[0])
    for tensor in passed:  # now that all read what they will read
        _remove_unread(tensor, net)


def _remove_unread(tensor: int | None, net: Net) -> None:
    """Remove the DEQUANTIZE that wrote a tensor, if the tensor has no reader any more."""
    producer = net.producer(tensor) if tensor is not None else None
    if tensor is None or producer is None or producer.kind != "DEQUANTIZE" or not net.may_change(producer):
        return
    if not net.readers[tensor] and net.may_go(tensor):
        net.put(net.writers[tensor], None)


def _look_alike(one: Tensor, other: Tensor) -> bool:
    looks = [(tensor.shape, tensor.quantization, tensor.axis_separators) for tensor in (one, other)]
    return looks[0] == looks[1]


def _source(op: Operator, net: Net) -> int | None:
    """Return the input that an operator returns unchanged; None if it is not an identity."""
    if op.kind not in _SOURCES or len(op.outputs) != 1 or not net.may_change(op):
        return None
    source, output = _SOURCES[op.kind](op, net), net.tensor(op.outputs[0])
    given = net.tensor(source)
    if source is None or given is None or output is None or given.is_constant or given.is_variable:
        return None
    if given.dtype is not output.dtype or given.elements != output.elements or not output.elements:
        return None
    if unchanged(op, source, net) != output.shape:
        return None
    return source if net.pins.may_view(net.index, op, net.producer(source)) else None


def _first(op: Operator, _: Net) -> int | None:
    return op.inputs[0] if op.inputs else None


def _second(op: Operator, _: Net) -> int | None:
    """Return the second input: SPLIT has the axis first."""
    return op.inputs[1] if len(op.inputs) > 1 else None


def _with_equal_parameters(op: Operator, net: Net) -> int | None:
    """Return the first input if it has the output's quantization, so that the same bytes are the same numbers."""
    source, output = net.tensor(_first(op, net)), net.graph.tensors[op.outputs[0]]
    return op.inputs[0] if source is not None and source.quantization == output.quantization else None


def _joined(op: Operator, net: Net) -> int | None:
    is_plain = not isinstance(op.options, Concatenation) or op.options.activation is Activation.NONE
    return _with_equal_parameters(op, net) if is_plain and len(op.inputs) == 1 else None


def _in_effect(op: Operator, net: Net) -> int | None:
    """Return the only tensor read if no byte changes for any value that it may hold, whatever the scales."""
    read = elements_read(op, net)
    values = table([op], min(read), net) if len(read) == 1 else None
    return min(read) if values is not None and changes_nothing(values, min(read), net) else None


def _quantized(op: Operator, net: Net) -> int | None:
    there_and_back = _there_and_back(op, net)
    return _in_effect(op, net) if there_and_back is None else there_and_back


def _there_and_back(op: Operator, net: Net) -> int | None:
    """Return the source of a QUANTIZE to the same parameters, or of a DEQUANTIZE and QUANTIZE back to them.

    Between equal scales the factor is 1, and (q - zero) * 1 + zero = q.  Through float32, (q - zero) * scale / scale is
    off by less than 2^-22 of at most 65 535: it rounds to q - zero.
    """
    source, output = _first(op, net), net.graph.tensors[op.outputs[0]]
    if source is None or output.dtype not in _QUANTIZED or output.quantization is None:
        return None
    producer = net.producer(source)
    if producer and producer.kind == "DEQUANTIZE" and net.pins.may_join(net.index, op, producer):
        source = _first(producer, net)
    given, q = net.tensor(source), output.quantization
    is_same = given is not None and (given.dtype, given.quantization) == (output.dtype, q)
    return source if is_same and not q.per_channel and 0 < q.scales[0] < _LARGEST else None


def _pooled(op: Operator, net: Net) -> int | None:
    """Return the input of a one-pixel window whose activation clamps nothing."""
    options = op.options
    if not isinstance(options, Pool2D) or (options.filter_h, options.filter_w) != (1, 1):
        return None
    is_plain = options.frame is None and options.limits is None
    return _of_integers(_activated(op, net, options.activation), net) if is_plain else None


def _with_equal_integers(op: Operator, net: Net) -> int | None:
    return _of_integers(_with_equal_parameters(op, net), net)


def _transposed(op: Operator, net: Net) -> int | None:
    """Return the first input, or the input of a preceding TRANSPOSE if the two cancel."""
    source = _first(op, net)
    before = net.producer(source) if source is not None else None
    if before is None or before.kind != "TRANSPOSE" or not net.pins.may_join(net.index, op, before):
        return source
    given = _first(before, net)
    return source if given is None or unchanged(op, given, net) is None else given


def _of_integers(source: int | None, net: Net) -> int | None:
    """Exclude floats: a sum that starts with 0 turns -0 into 0, a maximum turns -inf into the least float."""
    return None if source is None or net.graph.tensors[source].dtype.is_float else source


def _relu(op: Operator, net: Net) -> int | None:
    activation = activation_of(op)
    within = _activated(op, net, activation) if activation is not None else None
    return _in_effect(op, net) if within is None else within


def _activated(op: Operator, net: Net, activation: Activation) -> int | None:
    """Return the first input if it has the output's quantization and its range is within the activation's limits."""
    source = _with_equal_parameters(op, net)
    tensor = net.tensor(source)
    if source is None or tensor is None:
        return None
    is_float = tensor.dtype is DType.FLOAT32
    limits = float_clamp(activation) if is_float else clamp(activation, None, tensor) if int8_scale(tensor) else None
    low, high = value_range(source, net)
    return source if limits is not None and limits[0] <= low and high <= limits[1] else None


_SOURCES: dict[str, Callable[[Operator, Net], int | None]] = {
    "ADD": _in_effect,
    "AVERAGE_POOL_2D": _pooled,
    "BROADCAST_TO": _first,
    "CAST": _first,
    "CONCATENATION": _joined,
    "EXPAND_DIMS": _first,
    "MAXIMUM": _in_effect,
    "MAX_POOL_2D": _pooled,
    "MEAN": _with_equal_integers,
    "MINIMUM": _in_effect,
    "MUL": _in_effect,
    "PACK": _joined,
    "PAD": _first,
    "PADV2": _first,
    "QUANTIZE": _quantized,
    "RELU": _relu,
    "RELU6": _relu,
    "RELU_N1_TO_1": _relu,
    "RESHAPE": _first,
    "RESIZE_BILINEAR": _with_equal_integers,
    "SLICE": _first,
    "SPLIT": _second,
    "SPLIT_V": _first,
    "SQUEEZE": _first,
    "STRIDED_SLICE": _first,
    "SUB": _in_effect,
    "TILE": _first,
    "TRANSPOSE": _transposed,
    "UNPACK": _first,
}
"""Operator kind → finds the input that it may return; `unchanged.py` then checks shape and elements."""
