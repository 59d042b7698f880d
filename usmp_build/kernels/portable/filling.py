"""FILL, ZEROS_LIKE, BROADCAST_ARGS, SHAPE and TFLM_DECODE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Operand, Output, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.copies import check_types, copy
from usmp_build.kernels.window import Slide
from usmp_build.operators.decoding import decoded

_TYPES = {DType.INT32, DType.INT64}


def fill(node: Node) -> Kernel:
    """FILL: an element, everywhere."""
    check_types(node.input(1), node.output)
    node.expect(node.input(1).elements == 1, "fills with something else than one element")
    return _filled(node, Input(1))


def zeros_like(node: Node) -> Kernel:
    """ZEROS_LIKE: zeros, whatever the zero point is."""
    check_types(node.input(0), node.output)
    node.expect(node.input(0).shape == node.output.shape, "has an output of another shape than its input")
    zero = Constant("zero", node.output.dtype, bytes(node.output.dtype.bits // 8))
    return _filled(node, Derived(0), zero)


def shape(node: Node) -> Kernel:
    """SHAPE: it is folded, except where it is an output of the model."""
    output, sizes = node.output, node.input(0).shape
    if output.dtype not in _TYPES:
        raise unsupported_types(output)
    node.expect(output.elements == len(sizes), f"has {output.elements} places for the sizes of {len(sizes)} dimensions")
    return _known(node, [np.array(sizes)])


def decode(node: Node) -> Kernel:
    """TFLM_DECODE: it is folded, except where one of its outputs is one of the model."""
    node.expect(len(node.inputs) == 2 * len(node.outputs), "does not have two inputs for each output")
    try:
        pairs = zip(node.inputs[::2], node.inputs[1::2], node.outputs, strict=True)
        return _known(node, [decoded(*each) for each in pairs])
    except ValueError as reason:
        raise Unsupported(str(reason)) from None


def _known(node: Node, values: Sequence[NDArray[Any]]) -> Kernel:
    """Copy what is known at build time to the outputs."""
    calls, constants = [], []
    for position, (output, value) in enumerate(zip(node.outputs, values, strict=True)):
        little = value.astype(np.dtype(output.dtype.numpy).newbyteorder("<"))
        calls.append(copy(Derived(position), Output(position), 1, output.size))
        constants.append(Constant(f"known_{position}" if position else "known", output.dtype, little.tobytes()))
    return Kernel(tuple(calls), tuple(constants))


def _filled(node: Node, value: Operand, *constants: Constant) -> Kernel:
    output = node.output
    width = output.dtype.bits // 8
    runs, run = (1, output.elements) if width == 1 else (output.elements, 1)  # bytes are set all at once
    nest = Nest({"runs": runs}, (reads(value, 1, {"runs": 0}), writes(Output(0), run)), forward=True)
    fields = ("count", output.elements), ("width", width)
    return kernel(node, "fill", nest, fields, constants=constants, moved={value: Traffic(runs * width)})


def broadcast_args(node: Node) -> Kernel:
    """BROADCAST_ARGS: the shape to which tensors of two shapes are broadcast."""
    first, second, output = node.input(0), node.input(1), node.output
    if {first.dtype, second.dtype, output.dtype} not in ({DType.INT32}, {DType.INT64}):
        raise unsupported_types(first, second, output)
    count = max(first.elements, second.elements)
    node.expect(output.elements == count, "has an output of another length than the longer of its inputs")
    fields = (("first_count", first.elements), ("second_count", second.elements), ("count", count))
    read = (
        reads(Input(i), 1, {"elements": Slide(tensor.elements, before=count - tensor.elements).under(1)})
        for i, tensor in enumerate((first, second))
    )
    nest = Nest({"elements": count}, (*read, writes(Output(0))))
    return kernel(node, c_name("broadcast_args", output.dtype), nest, fields, struct="broadcast_args_parameters")
