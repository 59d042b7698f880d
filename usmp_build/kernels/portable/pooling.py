"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from usmp_build.arithmetic.fixed_point import single
from usmp_build.interfaces.kernels import Kernel, KernelCall
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels import nests_of_sums as nests
from usmp_build.kernels.activation import quantized_limits, real_limits
from usmp_build.kernels.candidates import Declined, fastest
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import kernel, rows_of
from usmp_build.kernels.nests_of_sums import Shares
from usmp_build.kernels.node import LARGEST, Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.pitches import PITCHED, pitch_fields, pitches
from usmp_build.kernels.portable.window_sums import added_up, is_less_as_sums
from usmp_build.kernels.window import Images, borders, slide
from usmp_build.operators.pooling import Pool2D
from usmp_build.request import Isa

_SAME_SCALE = 1e-6
"""Scales that differ by no more count as equal."""
_MOST_PIXELS = 256
"""Their sum fits 16 bits."""
_QUANTIZED = {DType.INT8, DType.INT16}


def pool_2d(node: Node) -> Kernel:
    """For every channel, the average, the maximum or the norm of the pixels under a window."""
    options = node.options(Pool2D)
    source, output = node.streamed(), node.output
    node.expect(len(source.shape) == 4, "works on a tensor without four dimensions")
    count, height, width, channels = source.shape
    vertical, horizontal = borders(options)
    down = slide(node, vertical, height, options.filter_h, options.stride_h)
    across = slide(node, horizontal, width, options.filter_w, options.stride_w)
    expected = (count, down.output, across.output, channels)
    node.expect(output.shape == expected, f"makes an image of shape {list(expected)}, not {list(output.shape)}")
    low, high = _limits(node, options, source)
    images = Images(count, down, across, pitches(node))
    fields: tuple[tuple[str, int | float], ...] = (
        ("input_width", width),
        ("channels", channels),
        ("output_width", across.output),
        ("window_height", options.filter_h),
        ("window_width", options.filter_w),
        ("stride", options.stride_w),
        ("before", across.before),
        ("low", low),
        ("high", high),
        ("outside", _outside(node, options, source)),
        ("counts_outside", int(options.outside is not None)),
        *pitch_fields(images.pitches),
    )
    name = node.operator.kind.lower()
    nest = nests.by_channels(images, channels)
    struct = c_name("pool_2d", source.dtype, part="parameters")
    portable = kernel(node, c_name(name, source.dtype, part="row"), nest, fields, struct=struct, form=rows_of(nest))
    is_average = node.operator.kind == "AVERAGE_POOL_2D"
    by_rows = _added_up(node, portable.calls[0], images) if is_average and is_less_as_sums(node) else None
    portable = replace(portable, pitched=PITCHED, by_rows=by_rows)
    isas = () if node.operator.kind == "L2_POOL_2D" else (Isa.MVE, Isa.DSP)
    return fastest(node, {isa: partial(_faster, node, portable, is_average, isa) for isa in isas}, portable)


def _faster(node: Node, portable: Kernel, is_average: bool, isa: Isa) -> Kernel:
    """Return the kernel for other instructions: a turn of it is up to four turns of the portable one, or sixteen."""
    is_word_of_int16 = isa is Isa.DSP and node.output.dtype is DType.INT16 and not is_average
    if node.output.dtype is not DType.INT8 and not is_word_of_int16:
        raise Declined(f"it is for int8, not {node.output.dtype.name}")
    options = node.options(Pool2D)
    if is_average and options.filter_h * options.filter_w > _MOST_PIXELS:
        raise Declined(f"its window has more than {_MOST_PIXELS} pixels")
    (call,) = portable.calls
    function = c_name(node.operator.kind.lower(), node.output.dtype, isa=isa, part="row")
    return replace(portable, calls=(replace(call, function=function),))


def _added_up(node: Node, whole: KernelCall, images: Images) -> Kernel:
    """Return the kernel that adds up the rows of the image for averages, given the call that makes all of them."""
    assert whole.parameters is not None
    down, across, values = images.down, images.across, dict(whole.parameters.fields)
    first, end = max(0, -down.before), min(down.size, down.window - down.before)
    counted = down.window * across.window if values["counts_outside"] else 0
    fields = (
        *((name, values[name]) for name in ("input_width", "channels", "output_width", "window_width", "stride")),
        ("before", values["before"]),
        ("first_row", first),
        ("end_row", end),
        *((name, values[name]) for name in ("low", "high", "outside")),
        ("counted", counted),
    )
    nest = nests.added_up(across.output, across.under(images.pitches.input), Shares(node.output.shape[3]))
    return added_up(node, whole, "average_pool_2d_sums", fields, nest, end - first)


def _outside(node: Node, options: Pool2D, source: Tensor) -> int | float:
    """Return the value of a pixel of the frame."""
    if options.outside is None:
        return 0.0 if source.dtype.is_float else 0
    if options.frame is None or node.operator.kind != "AVERAGE_POOL_2D":
        raise Unsupported("it counts pixels of a frame that it does not have, or does not average")
    if source.dtype.is_float:
        return float(options.outside)
    low, high = integer_range(source.dtype)
    node.expect(low <= options.outside <= high, f"counts {options.outside}, which {source.dtype.name} does not hold")
    return options.outside


def _limits(node: Node, options: Pool2D, source: Tensor) -> tuple[int | float, int | float]:
    """Return the limits of the output."""
    output = node.output
    if (source.dtype, output.dtype) == (DType.FLOAT32, DType.FLOAT32):
        return real_limits(options.activation, options.limits)
    if source.dtype is not output.dtype or source.dtype not in _QUANTIZED or node.operator.kind == "L2_POOL_2D":
        raise unsupported_types(source, output)
    difference = single(node.scale(source)) - single(node.scale(output))
    if abs(difference) > _SAME_SCALE or node.zero_point(source) != node.zero_point(output):
        raise Unsupported("its input and output are quantized in different ways")
    if options.filter_h * options.filter_w * (1 - integer_range(source.dtype)[0]) > LARGEST:
        raise Unsupported("its window is too wide")
    zero_point = node.zero_point(output)
    low, high = quantized_limits(node, options.activation, output, options.limits)
    return low + zero_point, high + zero_point
