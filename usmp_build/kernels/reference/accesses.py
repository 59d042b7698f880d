"""What the kernels touch, turn by turn: derived from the numbers that the C itself reads.

`tests/end_to_end/test_access_traces.py` traces the C of every kernel and compares.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from usmp_build.interfaces.accesses import Accesses
from usmp_build.interfaces.kernels import Constant, Derived, Kernel, KernelCall
from usmp_build.kernels.reference.accesses_of_copies import copied, padded
from usmp_build.kernels.reference.accesses_of_elements import elementwise, rows_of_elements, stretched
from usmp_build.kernels.reference.accesses_of_sums import (
    averaged,
    convolved,
    convolved_by_channel,
    fully_connected,
    pooled,
    remembered,
)

_WIDTHS = MappingProxyType({"s8": 1, "u8": 1, "s16": 2, "s32": 4, "f32": 4})
BLOCK = 4
"""Channels that are computed at once from what was read of the input."""


def with_accesses(kernel: Kernel) -> Kernel:
    """Declare what every call of a kernel touches, and every one of its backward kernel.

    Both have the same loops, for the turns are the same: `call_accesses` reverses those of a call that runs backward.
    """
    calls = tuple(replace(call, accesses=declared(call, kernel.constants)) for call in kernel.calls)
    backward = kernel.backward
    return replace(kernel, calls=calls, backward=with_accesses(backward) if backward is not None else None)


def declared(call: KernelCall, constants: tuple[Constant, ...]) -> Accesses:
    """Return what one call of the function touches."""
    fields = dict(call.parameters.fields) if call.parameters else {}
    numbers = {name: value for name, value in fields.items() if isinstance(value, int)}
    tables = [constants[operand.position].data for operand in call.operands if isinstance(operand, Derived)]
    widths = [_WIDTHS[word] for word in call.function.split("_") if word in _WIDTHS] or [1]
    facts = _Facts(numbers, widths[0], widths[-1], len(call.operands), tables[-1] if tables else b"")
    return BY_FUNCTION[call.function](facts)


@dataclass(frozen=True)
class _Facts:
    """What is known of a call."""

    p: Mapping[str, int]
    """The integers among its parameters."""
    width: int
    """Bytes of an element of the input."""
    last_width: int
    """Bytes of an element of the output, of elementwise functions."""
    operands: int
    table: bytes
    """The last of the derived constants among the operands."""

    def elements(self, *others: int) -> Accesses:
        """Return the accesses of an elementwise function; `others` are widths of operands between input and output."""
        return elementwise(self.p["size"], (self.width, *others, self.last_width))

    def numbers(self) -> list[int]:
        """Return the table as the int32_t that it consists of."""
        return list(struct.unpack(f"<{len(self.table) // 4}i", self.table))


_OF_FUNCTIONS: tuple[tuple[str, Callable[[_Facts], Accesses]], ...] = (
    ("add_f32 add_s8 mul_f32 mul_s8", lambda call: call.elements(call.width)),
    ("add_f32_stretched add_s8_stretched", lambda call: stretched(call.numbers(), call.width)),
    ("mul_f32_stretched mul_s8_stretched", lambda call: stretched(call.numbers(), call.width)),
    ("average_pool_2d_f32_row average_pool_2d_s8_row", lambda call: pooled(call.p, call.width)),
    ("max_pool_2d_f32_row max_pool_2d_s8_row", lambda call: pooled(call.p, call.width)),
    ("clamp_s8 relu6_f32 relu_f32 logistic_f32 tanh_f32", lambda call: call.elements()),
    ("quantize_f32_s16 quantize_f32_s8", lambda call: call.elements()),
    ("dequantize_s16_f32 dequantize_s8_f32 dequantize_u8_f32", lambda call: call.elements()),
    ("requantize_s16_s16 requantize_s16_s8 requantize_s8_s16", lambda call: call.elements()),
    ("requantize_s16_s32 requantize_s32_s16", lambda call: call.elements()),
    ("requantize_s8_s8 requantize_s8_u8 requantize_u8_s8", lambda call: call.elements()),
    ("lookup_s8", lambda call: call.elements(0)),
    ("conv_2d_f32_row conv_2d_s8_row", lambda call: convolved(call.p, call.width, call.operands, BLOCK)),
    ("depthwise_conv_2d_s8_row", lambda call: convolved_by_channel(call.p, call.width, call.operands, BLOCK)),
    ("depthwise_conv_2d_f32_row", lambda call: convolved_by_channel(call.p, call.width, call.operands, 1)),
    ("fully_connected_f32 fully_connected_s8", lambda c: fully_connected(c.p, c.width, c.operands, BLOCK)),
    ("svdf_f32 svdf_s8_s16 svdf_s8_s8", lambda call: remembered(call.p, call.width, call.operands)),
    ("mean_f32 mean_s8", lambda call: averaged(call.p, call.width)),
    ("softmax_f32 softmax_s8 softmax_s8_s16", lambda call: rows_of_elements(call.p, (call.width, call.last_width))),
    ("copy", lambda call: copied(call.p)),
    ("pad", lambda call: padded(call.p, call.numbers())),
)
"""Names of functions → what one call touches."""

BY_FUNCTION = MappingProxyType({name: accesses for names, accesses in _OF_FUNCTIONS for name in names.split()})
"""Of all functions of the library; a reduction has one entry for the three that it consists of."""
