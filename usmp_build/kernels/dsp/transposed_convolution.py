"""TRANSPOSE_CONV of int8 by phases, with Arm's DSP extension."""

from __future__ import annotations

import numpy as np

from usmp_build.interfaces.kernels import Constant, Kernel, Parameters, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels import nests_of_sums as nests
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.arithmetic_of_sums import Arithmetic
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.dsp.packing import WORD, Packed, packed
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Fields
from usmp_build.kernels.packed_filters import MOST_TAPS, filters, packed_kernel, zeros
from usmp_build.kernels.phases import Phases, of_transposed
from usmp_build.kernels.pitches import pitch_fields
from usmp_build.kernels.weights import BLOCK, blocks
from usmp_build.operators.sums import Conv2D
from usmp_build.request import Isa

_HEAD = 4 * (BLOCK + BLOCK + 1)
"""Bytes of a block beside weights: sums to begin with, multipliers, shifts."""


def transpose_conv_dsp(phases: Phases, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel; the zero point is taken off the input, so that a phase can leave out the others' weights."""
    if how.sums is not DType.INT32:
        raise Declined(f"it is for int8, not {how.elements.name}")
    if phases.node.isa is Isa.MVE:
        raise Declined("Helium is faster, unpacked")
    if phases.channels < WORD or phases.most_taps() > MOST_TAPS:
        raise Declined(f"it has less than {WORD} channels, or more than {MOST_TAPS} pixels reach an output")
    node, weights, channels = phases.node, np.concatenate(phases.weights(), axis=1), phases.channels
    each = filters(node, weights.reshape(phases.outputs, -1), how.factors)
    zero_point = node.zero_point(node.input(0))
    biases = each.sums + zero_point * each.weights.sum(axis=1)
    packing = packed(each._replace(sums=biases), weights.shape[1], zero_point=zero_point)
    words, pixels, count = -(-channels // WORD), node.output.elements // phases.outputs, blocks(phases.outputs)
    inside = phases.taps - phases.outside
    traffic = {
        0: Traffic(inside * count * words * WORD),
        1: Traffic(count * (pixels * _HEAD + phases.taps * words * WORD * BLOCK)),
        2: Traffic(phases.outside * count * words * WORD),
    }
    constants: tuple[Constant | None, ...] = (packing.constant, zeros(node, channels) if phases.outside else None)
    parameters = Parameters(
        c_name("transpose_conv", DType.INT8, isa=Isa.DSP, part="parameters"), _fields(phases, packing)
    )
    function = c_name("transpose_conv", DType.INT8, isa=Isa.DSP, part="row")
    nest = nests.conv_2d(phases.images, channels, phases.outputs)
    return of_transposed(packed_kernel(node, portable, function, constants, traffic, nest, parameters))


def _fields(phases: Phases, packing: Packed) -> Fields:
    node, down, across = phases.node, phases.images.down, phases.images.across
    zero_point = node.zero_point(node.output)
    limits = quantized_limits(node, node.options(Conv2D).activation, node.output)
    low, high = (limit + zero_point for limit in limits)
    return (
        ("input_width", across.size),
        ("input_channels", phases.channels),
        ("output_width", across.output),
        ("output_channels", phases.outputs),
        ("window_height", down.window),
        ("window_width", across.window),
        ("stride_down", down.stride),
        ("stride", across.stride),
        ("above", down.before),
        ("before", across.before),
        ("input_zero_point", node.zero_point(node.input(0))),
        ("rounding", 1 + 2 * zero_point),
        ("low", low),
        ("high", high),
        ("is_clamped", int((low, high) != (-128, 127))),
        ("is_wide", int(packing.is_wide)),
        ("is_divided", packing.divided),
        *pitch_fields(phases.images.pitches),
    )
