"""Translates kernels of the reference library into calls of CMSIS-NN, which computes the same.

So shapes, types and scales are checked once, and padding, factors and limits are worked out once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import (
    Absent,
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Rows,
    Scratch,
    ScratchRequest,
    Value,
    Whole,
)
from usmp_build.ir.graph import DType
from usmp_build.kernels.cmsis_nn import scratch
from usmp_build.kernels.cmsis_nn.scratch import Dims, Pair, Tail
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import Node
from usmp_build.request import Isa

LARGEST = (1 << 16) - 1
"""Some of CMSIS-NN's sizes have 16 bits."""
_FRACTION_BITS = {DType.INT8: 20, DType.INT16: 15}
"""Of the summands of ADD, by their type."""


class Missing(Exception):
    """CMSIS-NN has no function that computes it; the text is a clause."""


@frozen
class Portable:
    """The reference kernel of an operator: one call."""

    node: Node
    kernel: Kernel
    isa: Isa
    """That CMSIS-NN is compiled for."""

    @property
    def call(self) -> KernelCall:
        """The call."""
        return self.kernel.calls[0]

    @property
    def elements(self) -> DType:
        """The type of its output."""
        return self.node.output.dtype

    def __getitem__(self, name: str) -> int:
        """Return a parameter; 0 where the kernel has none of this name, as one without padding that counts."""
        fields = dict(self.call.parameters.fields) if self.call.parameters else {}
        number = fields.get(name, 0)
        assert isinstance(number, int)
        return number

    def numbers(self, constant: int) -> NDArray[np.int64]:
        """Return the elements of one of its constants."""
        given = self.kernel.constants[constant]
        return np.frombuffer(given.data, given.dtype.numpy).astype(np.int64)

    def limits(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """Return the limits of the output; the reference kernel has them less the zero point."""
        return ("low", self["low"] + self["output_zero_point"]), ("high", self["high"] + self["output_zero_point"])

    def whole(
        self,
        name: str,
        struct: str,
        fields: Iterable[tuple[str, Value]],
        operands: tuple[Operand, ...],
        constants: tuple[Constant, ...] = (),
        size: int | None = None,
        beyond: tuple[tuple[Input | Derived, int], ...] = (),
    ) -> Kernel:
        """Return the kernel of a function that takes `size` bytes of scratch, or NULL, last; None: it takes no scratch.

        The accesses of CMSIS-NN are unknown, so nothing overlaps; `beyond` is that of the kernel.
        """
        request = (ScratchRequest("scratch", size, DType.INT32),) if size else ()
        if size is not None:
            fields = (*fields, ("scratch", size))
            operands = (*operands, Scratch(0) if size else Absent())
        parameters = Parameters(f"cmsis_nn_{struct}_parameters", tuple(fields))
        call = KernelCall(f"cmsis_nn_{name}_{self.isa.value}", Whole(), operands, parameters)
        return Kernel((call,), constants, request, alignment=4, beyond=beyond)


def _dims(portable: Portable, channels: int, output_channels: int) -> tuple[Dims, Dims]:
    """Return the shapes of the image and of the output."""
    form = portable.call.form
    assert isinstance(form, Rows)
    source = Dims(form.images, form.input_rows, portable["input_width"], channels)
    output = Dims(form.images, form.rows, portable["output_width"], output_channels)
    if max(max(source), max(output)) > LARGEST:
        raise Missing(f"it has more than {LARGEST:,} rows, columns or channels")
    return source, output


def _window(portable: Portable) -> tuple[Pair, Pair, Pair]:
    """Return stride, padding and dilation."""
    form = portable.call.form
    assert isinstance(form, Rows)
    return (
        Pair(form.stride, portable["stride"]),
        Pair(form.before, portable["before"]),
        Pair(form.dilation, portable["dilation"]),
    )


def _convolution(portable: Portable) -> Kernel:
    """CONV_2D, and FULLY_CONNECTED with a scale for each output, whose batches are pixels."""
    channels, filters = portable["input_channels"], portable["output_channels"]
    source, output = _dims(portable, channels, filters)
    weights = Dims(filters, portable["window_height"], portable["window_width"], channels)
    _check_taps(prod(weights[1:]))
    size = scratch.convolution(portable.isa, source, weights, *_window(portable))
    tail = scratch.convolution_tail(portable.isa)
    return _of_sums(portable, "conv_2d_s8", (source, weights, output), size, tail)


def _depthwise(portable: Portable) -> Kernel:
    channels = portable["input_channels"]
    source, output = _dims(portable, channels, channels * portable["depth_multiplier"])
    weights = Dims(1, portable["window_height"], portable["window_width"], output.c)
    _check_taps(prod(weights[1:]))
    _, padding, dilation = _window(portable)
    size = scratch.depthwise(portable.isa, source, weights, padding, dilation)
    tail = scratch.depthwise_tail(portable.isa, source, weights, dilation)
    return _of_sums(portable, "depthwise_conv_2d_s8", (source, weights, output), size, tail)


def _check_taps(elements: int) -> None:
    if elements > LARGEST:
        raise Missing(f"its window has more than {LARGEST:,} elements")


def _of_sums(portable: Portable, name: str, shapes: tuple[Dims, Dims, Dims], size: int, tail: Tail) -> Kernel:
    """Weights and biases are those of the reference kernel; shifts are wider."""
    _, weights, biases, multipliers, shifts, *_ = portable.call.operands
    behind = ((weights, tail.weights), *((each, tail.numbers) for each in (biases, multipliers, shifts)))
    beyond = tuple((each, count) for each, count in behind if count and isinstance(each, (Input, Derived)))
    if any(isinstance(each, Input) and not portable.node.tensor(each).is_constant for each, _ in beyond):
        raise Missing("its weights or biases are not constant")
    fields: tuple[tuple[str, Value], ...] = (
        *zip(("input", "filter", "output"), map(tuple, shapes), strict=True),
        ("depth_multiplier", portable["depth_multiplier"]),
        *zip(("stride", "padding", "dilation"), map(tuple, _window(portable)), strict=True),
        ("input_offset", -portable["input_zero_point"]),
        ("output_offset", portable["output_zero_point"]),
        *portable.limits(),
    )
    wide = Constant("shift", DType.INT32, portable.numbers(1).astype("<i4").tobytes())
    first, _, *others = portable.kernel.constants
    return portable.whole(name, "convolution", fields, portable.call.operands, (first, wide, *others), size, beyond)


def _fully_connected(portable: Portable) -> Kernel:
    """With Helium, CMSIS-NN wants sums that it would otherwise compute at start-up, into memory."""
    if portable["weights_zero_point"]:
        raise Missing("its weights have a zero point")
    node, (multiplier, shift) = portable.node, portable.numbers(0).tolist()
    fields = (
        ("batches", portable["batches"]),
        ("inputs", portable["inputs"]),
        ("outputs", portable["outputs"]),
        ("input_offset", -portable["input_zero_point"]),
        ("output_offset", portable["output_zero_point"]),
        ("multiplier", multiplier),
        ("shift", shift),
        *portable.limits(),
    )
    weights, bias = portable.call.operands[1:3]
    constants = portable.kernel.constants[1:]  # biases of 0, weights of int4 as int8

    def moved(operand: Operand) -> Operand:
        return Derived(operand.position - 1) if isinstance(operand, Derived) else operand

    operands: tuple[Operand, ...] = (Input(0), moved(weights), moved(bias), Absent(), Output(0))
    if portable.isa is Isa.MVE:
        if not all(node.tensor(each).is_constant for each in (weights, bias) if isinstance(each, Input)):
            raise Missing("its weights or biases are not constant")
        filters = portable.numbers(weights.position) if isinstance(weights, Derived) else node.array(1, "weights")
        sums = filters.reshape(portable["outputs"], -1).astype(np.int64).sum(axis=1) * -portable["input_zero_point"]
        if isinstance(bias, Input):
            sums += node.array(bias.position, "biases").astype(np.int64).ravel()
        constants = (*constants, Constant("sums", DType.INT32, sums.astype(np.int32).astype("<i4").tobytes()))
        operands = (Input(0), moved(weights), Absent(), Derived(len(constants) - 1), Output(0))
    return portable.whole("fully_connected_s8", "fully_connected", fields, operands, constants)


def _pooling(portable: Portable) -> Kernel:
    channels, name = portable["channels"], c_name(portable.node.operator.kind.lower(), portable.elements)
    source, output = _dims(portable, channels, channels)
    if source.n > 1 or portable["counts_outside"]:
        raise Missing("it has several images, or counts padding")
    window = Dims(1, portable["window_height"], portable["window_width"], 1)
    stride, padding, _ = _window(portable)
    fields: tuple[tuple[str, Value], ...] = (
        *zip(("input", "filter", "output"), map(tuple, (source, window, output)), strict=True),
        *zip(("stride", "padding"), map(tuple, (stride, padding)), strict=True),
        ("low", portable["low"]),
        ("high", portable["high"]),
    )
    size = scratch.average_pool(portable.isa, channels) if name.startswith("average") else 0
    return portable.whole(name, "pool_2d", fields, (Input(0), Output(0)), size=size)


def _add(portable: Portable) -> Kernel:
    zero_points = [portable[f"{name}_zero_point"] for name in ("first", "second", "output")]
    if portable["sign"] != 1:
        raise Missing("it subtracts")
    if portable.elements is DType.INT16 and any(zero_points):
        raise Missing("its tensors of int16 have zero points")
    fields = (
        ("size", portable["size"]),
        ("first_offset", -zero_points[0]),
        ("first_multiplier", portable["first_multiplier"]),
        ("first_shift", -portable["first_shift"]),
        ("second_offset", -zero_points[1]),
        ("second_multiplier", portable["second_multiplier"]),
        ("second_shift", -portable["second_shift"]),
        ("left_shift", _FRACTION_BITS[portable.elements]),
        ("output_offset", zero_points[2]),
        ("output_multiplier", portable["output_multiplier"]),
        ("output_shift", -portable["output_shift"]),
        *portable.limits(),
    )
    return portable.whole(c_name("add", portable.elements), "add", fields, portable.call.operands)


def _mul(portable: Portable) -> Kernel:
    fields = (
        ("size", portable["size"]),
        ("first_offset", -portable["first_zero_point"]),
        ("second_offset", -portable["second_zero_point"]),
        ("output_offset", portable["output_zero_point"]),
        ("multiplier", portable["multiplier"]),
        ("shift", portable["shift"]),
        *portable.limits(),
    )
    return portable.whole(c_name("mul", portable.elements), "mul", fields, portable.call.operands)


def _softmax(portable: Portable) -> Kernel:
    fields = (
        ("rows", portable["rows"]),
        ("size", portable["size"]),
        ("multiplier", portable["multiplier"]),
        ("shift", portable["shift"]),
        ("least", -portable["reach"]),
    )
    constants = portable.kernel.constants
    return portable.whole(portable.call.function, "softmax", fields, portable.call.operands, constants)


_Translation: TypeAlias = Callable[[Portable], Kernel]
TRANSLATIONS: dict[str, _Translation] = {
    "add_s16": _add,
    "add_s8": _add,
    "average_pool_2d_s16_row": _pooling,
    "average_pool_2d_s8_row": _pooling,
    "conv_2d_s8_row": _convolution,
    "depthwise_conv_2d_s8_row": _depthwise,
    "fully_connected_s8": _fully_connected,
    "max_pool_2d_s16_row": _pooling,
    "max_pool_2d_s8_row": _pooling,
    "mul_s16": _mul,
    "mul_s8": _mul,
    "softmax_s16": _softmax,
    "softmax_s8": _softmax,
    "softmax_s8_s16": _softmax,
}
"""Function of the reference library → what makes the call of CMSIS-NN from its kernel."""
