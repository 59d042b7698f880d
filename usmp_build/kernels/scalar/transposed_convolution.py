"""TRANSPOSE_CONV of int8 by phases, for processors that multiply one number at a time."""

from __future__ import annotations

import numpy as np

from usmp_build.interfaces.kernels import Constant, Kernel, Traffic
from usmp_build.ir.graph import DType
from usmp_build.kernels import nests_of_sums as nests
from usmp_build.kernels.arithmetic_of_sums import Arithmetic
from usmp_build.kernels.candidates import Declined
from usmp_build.kernels.names import c_name
from usmp_build.kernels.packed_filters import (
    check_scaling,
    filters,
    in_blocks,
    in_steep_blocks,
    packed_kernel,
    reach,
    scaling,
    zeros,
)
from usmp_build.kernels.phases import Phases, of_transposed
from usmp_build.kernels.requantization import int32_constant
from usmp_build.kernels.weights import BLOCK, blocks
from usmp_build.request import Isa


def transpose_conv_scalar(phases: Phases, how: Arithmetic, portable: Kernel) -> Kernel:
    """Return the kernel; biases have the zero point of what reaches each phase folded in."""
    if how.sums is not DType.INT32:
        raise Declined(f"it is for int8, not {how.elements.name}")
    phases.most_taps()
    node, channels = phases.node, phases.channels
    weights = [of_phase.reshape(phases.outputs, -1) for of_phase in phases.weights()]
    each = filters(node, np.concatenate(weights, axis=1), how.factors)
    are_steep, zero_point = in_steep_blocks(each), node.zero_point(node.input(0))
    biases = each.sums + zero_point * each.weights.sum(axis=1)
    sums = [biases - zero_point * of_phase.sum(axis=1) for of_phase in weights]
    for of_phase, begin in zip(weights, sums, strict=True):
        check_scaling(each, are_steep, reach(of_phase, begin))
    excess, shifts = (in_blocks(array, BLOCK).ravel() for array in scaling(each, are_steep).T)
    packed = in_blocks(each.weights, BLOCK).transpose(0, 2, 1)
    count, pixels = blocks(phases.outputs), node.output.elements // phases.outputs
    steep_blocks = np.count_nonzero(in_blocks(are_steep.astype(np.int64), BLOCK).any(axis=1))
    constants = (
        Constant("weights", DType.INT8, packed.astype(np.int8).tobytes()),
        int32_constant("bias", np.concatenate([in_blocks(begin, BLOCK).ravel() for begin in sums])),
        int32_constant("excess", excess),
        Constant("shifts", DType.INT8, shifts.astype(np.int8).tobytes()),
        zeros(node, channels) if phases.outside else None,
    )
    traffic = [phases.read, phases.taps * count * BLOCK * channels, 4 * count * BLOCK * pixels]
    traffic += [4 * phases.outputs * pixels, (phases.outputs + int(steep_blocks)) * pixels]
    traffic += [phases.outside * count * channels]
    function = c_name("transpose_conv", DType.INT8, isa=Isa.SCALAR, part="row")
    moved = dict(enumerate(map(Traffic, traffic)))
    nest = nests.conv_2d(phases.images, channels, phases.outputs)
    return of_transposed(packed_kernel(node, portable, function, constants, moved, nest))
