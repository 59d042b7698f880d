"""UNIDIRECTIONAL_SEQUENCE_LSTM, with all four gates and nothing else: no peepholes, projection or normalization."""

from __future__ import annotations

from math import frexp, isfinite

import numpy as np

from usmp_build.arithmetic import logistic
from usmp_build.arithmetic.fixed_point import Factor, single
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    Operand,
    Output,
    Scratch,
    ScratchRequest,
    Traffic,
)
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import LARGEST_FLOAT
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields, Moved, Nest, kernel, reads, writes
from usmp_build.kernels.nests_of_sums import dynamic
from usmp_build.kernels.node import Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.requantization import factor, wide
from usmp_build.kernels.weights import check_sums
from usmp_build.operators.lstm import SequenceLstm

_WEIGHTS, _RECURRENT, _BIASES = range(1, 5), range(5, 9), range(12, 16)
"""Positions among the inputs; each has one for each gate."""
_HIDDEN, _CELL = 18, 19
_LEFT_OUT = {
    "peepholes": range(9, 12),
    "a projection": range(16, 18),
    "layer normalization": range(20, 24),
}
"""What other LSTMs have, and the positions of its operands."""
_GATE_BITS = 12
"""After the point of what a gate adds up, which has 16 bits, and of what comes into tanh."""
_OUTPUT_BITS = 15
"""After the point of what the logistic function and tanh make."""
_LARGEST_CELL_POWER = 2
"""Cell states of a larger scale, as a power of two, do not fit what comes into tanh."""
_WIDEST_BIAS = 1 << 46
_TABLE_READS = 5 * 4
"""Bytes of the table that a unit reads: two values for each of its five functions."""


def lstm(node: Node) -> Kernel:
    """A step after the other, of one batch after the other or of all batches."""
    _check_form(node)
    source, hidden, cell, output = node.input(0), node.input(_HIDDEN), node.input(_CELL), node.output
    sizes = _sizes(node)
    weights = [node.input(position).dtype for position in (*_WEIGHTS, *_RECURRENT)]
    biases = [node.input(position).dtype for position in _BIASES]
    for position in (*_WEIGHTS, *_RECURRENT):
        node.array(position, "weights")
    types = {source.dtype, hidden.dtype, output.dtype}
    if types == {cell.dtype, *weights, *biases} == {DType.FLOAT32}:
        return _kernel(node, "lstm_f32", "lstm_f32_parameters", (*sizes.items(), ("clip", _real_clip(node))), sizes)
    if types == {cell.dtype, *biases} == {DType.FLOAT32} and {*weights} == {DType.INT8}:
        return _dynamic(node, sizes)
    for dtype, bias in ((DType.INT8, DType.INT32), (DType.INT16, DType.INT64)):
        if types == {dtype} and cell.dtype is DType.INT16 and {*weights} == {DType.INT8} and {*biases} == {bias}:
            fields = (*sizes.items(), *_integer_fields(node, sizes["inputs"]))
            return _kernel(node, c_name("lstm", dtype), "lstm_parameters", fields, sizes)
    raise unsupported_types(source, node.input(_WEIGHTS[1]), node.input(_BIASES[1]), cell, output)


def _check_form(node: Node) -> None:
    for name, positions in _LEFT_OUT.items():
        if any(node.optional(position) is not None for position in positions):
            raise Unsupported(f"it has {name}")
    if node.optional(_WEIGHTS[0]) is None:
        raise Unsupported("it has no input gate")
    if not (node.input(_HIDDEN).is_variable and node.input(_CELL).is_variable):
        raise Unsupported("its states are not variables")
    options = node.options(SequenceLstm)
    if options.activation is not Activation.TANH:
        raise Unsupported(f"it has no kernel with the activation {options.activation.name}")
    if not (isfinite(options.cell_clip) and options.cell_clip >= 0):
        raise Unsupported(f"it limits its cell state to {options.cell_clip:g}")


def _sizes(node: Node) -> dict[str, int]:
    source, units = node.input(0), node.input(_WEIGHTS[1]).shape[0]
    node.expect(len(source.shape) == 3, "works on a tensor without three dimensions")
    outer, inner, inputs = source.shape
    batches, run = (inner, 1) if node.options(SequenceLstm).time_major else (outer, inner)
    for position in _WEIGHTS:
        node.expect(node.input(position).shape == (units, inputs), f"has weights that do not take {inputs} inputs")
    for position in _RECURRENT:
        node.expect(node.input(position).shape == (units, units), f"has weights that do not take {units} units")
    for position in _BIASES:
        node.expect(node.input(position).elements == units, f"does not have {units} biases for each gate")
    for position in (_HIDDEN, _CELL):
        node.expect(node.input(position).elements == batches * units, "has a state of another size than its units")
    node.expect(node.output.elements == outer * inner * units, "has an output of another size than its units")
    return {"rows": outer * inner, "run": run, "batches": batches, "inputs": inputs, "units": units}


def _real_clip(node: Node) -> float:
    return single(node.options(SequenceLstm).cell_clip) or LARGEST_FLOAT


def _integer_fields(node: Node, inputs: int) -> Fields:
    source, hidden, cell = node.input(0), node.input(_HIDDEN), node.input(_CELL)
    if source.dtype is DType.INT16 and (node.zero_point(source) or node.zero_point(hidden)):
        raise Unsupported("its activations are int16 with a zero point other than 0")
    for position in (*_WEIGHTS, *_RECURRENT):
        if node.zero_point(node.input(position)):
            raise Unsupported("its weights have a zero point other than 0")
    power = _power_of_cell(node, cell)
    one = 2.0**_OUTPUT_BITS
    kept, fresh = factor(node, 1 / one), factor(node, 1 / (one * one * node.scale(cell)))
    output = factor(node, 1 / (one * one * node.scale(hidden)))
    left = power + _GATE_BITS
    low, high = integer_range(source.dtype)
    return (
        ("input_zero_point", node.zero_point(source)),
        ("hidden_zero_point", node.zero_point(hidden)),
        ("input_factors", _gate_factors(node, source, _WEIGHTS, inputs)),
        ("hidden_factors", _gate_factors(node, hidden, _RECURRENT, hidden.shape[-1])),
        ("cell_factors", (*kept, *fresh)),
        ("output_factor", (*output,)),
        ("clip", _clip(node, cell)),
        ("tanh", (3 << max(left, 0), max(-left, 0))),
        ("low", low),
        ("high", high),
    )


def _power_of_cell(node: Node, cell: Tensor) -> int:
    """Return the power of two that is the scale of the cell state."""
    fraction, power = frexp(node.scale(cell))
    if fraction != 0.5 or node.zero_point(cell):
        raise Unsupported("the scale of its cell state is not a power of two, or its zero point not 0")
    if power - 1 > _LARGEST_CELL_POWER:
        raise Unsupported(f"the scale of its cell state is more than {1 << _LARGEST_CELL_POWER}")
    return power - 1


def _clip(node: Node, cell: Tensor) -> int:
    """Return the limit of the cell state, one that is none if there is no other."""
    clip = single(node.options(SequenceLstm).cell_clip)
    most = integer_range(DType.INT16)[1]
    return min(int(clip / node.scale(cell)), most) if clip > 0 else most + 1


def _gate_factors(node: Node, source: Tensor, positions: range, products: int) -> tuple[int, ...]:
    """Return what brings the sums of each gate, of products with `source`, to their bits after the point."""
    factors: list[Factor] = []
    for position, bias in zip(positions, _BIASES, strict=True):
        weights = node.input(position)
        scale = factor(node, node.scale(source) * node.scale(weights) * 2.0**_GATE_BITS)
        if source.dtype is DType.INT8:
            check_sums(node, products, weights)
        elif np.abs(node.array(bias, "biases").astype(float)).max() > _WIDEST_BIAS:
            raise Unsupported("its biases have more than 47 bits")
        factors.append(scale if source.dtype is DType.INT8 else wide(node, scale))
    return tuple(number for scale in factors for number in scale)


def _dynamic(node: Node, sizes: dict[str, int]) -> Kernel:
    """Return the kernel of float32 with weights of int8."""
    scales = [
        tuple(_scale_of_weights(node, position) for position in positions) for positions in (_WEIGHTS, _RECURRENT)
    ]
    check_sums(node, max(sizes["inputs"], sizes["units"]), node.input(_WEIGHTS[0]))
    fields: Fields = (
        *sizes.items(),
        ("symmetric", int(not node.options(SequenceLstm).asymmetric_quantize_inputs)),
        ("input_scales", scales[0]),
        ("hidden_scales", scales[1]),
        ("clip", _real_clip(node)),
    )
    return _kernel(node, "lstm_dynamic", "lstm_dynamic_parameters", fields, sizes)


def _scale_of_weights(node: Node, position: int) -> float:
    weights = node.input(position)
    if node.zero_point(weights):
        raise Unsupported("its weights have a zero point other than 0")
    return node.scale(weights)


def _kernel(node: Node, function: str, struct: str, fields: Fields, sizes: dict[str, int]) -> Kernel:
    for position in _BIASES:
        node.array(position, "biases")
    is_dynamic, rows, units = function == "lstm_dynamic", sizes["rows"], sizes["units"]
    is_real = is_dynamic or function == "lstm_f32"
    constants = () if is_real else (Constant("logistic", DType.UINT16, logistic.table()),)
    quantized = (sizes["inputs"] + units,) * is_dynamic
    weights = tuple(map(Input, (*_WEIGHTS, *_RECURRENT, *_BIASES)))
    tables, kept = tuple(map(Derived, range(len(constants)))), tuple(map(Scratch, range(len(quantized))))
    operands: tuple[Operand, ...] = (Input(0), *weights, *tables, *kept, Input(_HIDDEN), Input(_CELL), Output(0))
    source, hidden, cell, output = node.input(0), node.input(_HIDDEN), node.input(_CELL), node.output
    cells = rows * units * cell.dtype.bits // 8
    states = 2 * output.size if is_dynamic else rows * units * units * hidden.dtype.bits // 8
    moved: Moved = {
        Input(0): Traffic(source.size * (2 if is_dynamic else units)),
        **{each: Traffic(node.tensor(each).size * rows) for each in weights},
        **{each: Traffic(_TABLE_READS * rows * units) for each in tables},
        **{each: Traffic(rows * units * size, rows * size) for each, size in zip(kept, quantized, strict=True)},
        Input(_HIDDEN): Traffic(states, output.size),
        Input(_CELL): Traffic(cells, cells),
        Output(0): Traffic(output.size, output.size),
    }
    nest = Nest(
        {"rows": rows, "units": units}, (reads(Input(0), sizes["inputs"], {"rows": sizes["inputs"]}), writes(Output(0)))
    )
    return kernel(
        node,
        function,
        dynamic(nest, sizes["inputs"], units) if is_dynamic else nest,
        fields,
        struct=struct,
        operands=operands,
        constants=constants,
        scratch=tuple(ScratchRequest("quantized", size, DType.INT8) for size in quantized),
        moved=moved,
        updates=frozenset({_HIDDEN, _CELL}),
    )
