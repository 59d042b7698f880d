"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from usmp_build.arithmetic.fixed_point import single
from usmp_build.interfaces.accesses import Window
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Parameters, Rows, Traffic
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.reference.accesses_of_sums import Row, pool_accesses
from usmp_build.kernels.reference.activation import quantized_limits, real_limits
from usmp_build.kernels.reference.node import LARGEST, Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.reference.pitches import PITCHED, are_apart, pitch_fields, pitches
from usmp_build.kernels.reference.reduction import Block, average_of_rows
from usmp_build.kernels.reference.window import Slide, borders, slide, taps_inside
from usmp_build.operators.pooling import Pool2D

_SAME_SCALE = 1e-6
"""Scales that differ by no more count as equal."""


def pool_2d(node: Node) -> Kernel:
    """For every channel, the average or maximum of the pixels under a window."""
    options = node.options(Pool2D)
    source, output = node.streamed(), node.output
    node.expect(len(source.shape) == 4, "works on a tensor without four dimensions")
    images, height, width, channels = source.shape
    vertical, horizontal = borders(options)
    rows = slide(node, vertical, height, options.filter_h, options.stride_h)
    columns = slide(node, horizontal, width, options.filter_w, options.stride_w)
    expected = (images, rows.output, columns.output, channels)
    node.expect(output.shape == expected, f"makes an image of shape {list(expected)}, not {list(output.shape)}")
    suffix, low, high = _limits(node, options, source)
    strides = pitches(node)
    fields: tuple[tuple[str, int | float], ...] = (
        ("input_width", width),
        ("channels", channels),
        ("output_width", columns.output),
        ("window_height", options.filter_h),
        ("window_width", options.filter_w),
        ("stride", options.stride_w),
        ("before", columns.before),
        ("low", low),
        ("high", high),
        ("outside", _outside(node, options, source)),
        ("counts_outside", int(options.outside is not None)),
        *pitch_fields(strides),
    )
    form = Rows(
        images=images,
        rows=rows.output,
        input_rows=height,
        input_row_elements=width * strides.input,
        output_row_elements=columns.output * strides.output,
        window=options.filter_h,
        stride=options.stride_h,
        before=rows.before,
    )
    name = {"AVERAGE_POOL_2D": "average_pool_2d", "MAX_POOL_2D": "max_pool_2d"}[node.operator.kind]
    parameters = Parameters(f"pool_2d_{suffix}_parameters", fields)
    taps = taps_inside(rows, height, options.filter_h, options.stride_h)
    taps *= taps_inside(columns, width, options.filter_w, options.stride_w)
    read = images * taps * channels * source.dtype.bits // 8
    traffic = (Traffic(read), Traffic(written=output.size))
    window = Window(0, strides.input, width, options.filter_w, options.stride_w, before=columns.before)
    accesses = pool_accesses(Row(columns.output, strides.output, window), channels, source.dtype.bits // 8)
    call = KernelCall(f"{name}_{suffix}_row", form, (Input(0), Output(0)), parameters, traffic, accesses=accesses)
    return Kernel((call,), pitched=PITCHED, by_rows=_by_rows(node, options, (rows, columns), (suffix, low, high)))


def _by_rows(
    node: Node, options: Pool2D, slides: tuple[Slide, Slide], limits: tuple[str, int | float, int | float]
) -> Kernel | None:
    """Return the kernel that averages an image by adding up its rows; None unless the only window is that image."""
    images, height, width, channels = node.streamed().shape
    is_one_window = slides == (Slide(1, 0), Slide(1, 0)) and (options.filter_h, options.filter_w) == (height, width)
    if node.operator.kind != "AVERAGE_POOL_2D" or not is_one_window or images > 1 or height == 1 or are_apart(node):
        return None
    suffix, low, high = limits
    fields = (("count", height * width), ("low", low), ("high", high))
    return average_of_rows(node, Block(images, height, width, channels), f"global_average_pool_2d_{suffix}", fields)


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


def _limits(node: Node, options: Pool2D, source: Tensor) -> tuple[str, int | float, int | float]:
    """Return the suffix of the type, and the limits of the output."""
    output = node.output
    if (source.dtype, output.dtype) == (DType.FLOAT32, DType.FLOAT32):
        return ("f32", *real_limits(options.activation, options.limits))
    if (source.dtype, output.dtype) != (DType.INT8, DType.INT8):
        raise unsupported_types(source, output)
    difference = single(node.scale(source)) - single(node.scale(output))
    if abs(difference) > _SAME_SCALE or node.zero_point(source) != node.zero_point(output):
        raise Unsupported("its input and output are quantized in different ways")
    if options.filter_h * options.filter_w * 128 > LARGEST:
        raise Unsupported("its window is too wide")
    zero_point = node.zero_point(output)
    low, high = quantized_limits(node, options.activation, output, options.limits)
    return "s8", low + zero_point, high + zero_point


KERNELS = {"AVERAGE_POOL_2D": pool_2d, "MAX_POOL_2D": pool_2d}
