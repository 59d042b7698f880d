"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Parameters, Rows, Traffic
from usmp_build.ir.graph import DType, Tensor
from usmp_build.ir.options import Pool2D
from usmp_build.kernels.reference.activation import quantized_limits, real_limits
from usmp_build.kernels.reference.fixed_point import single
from usmp_build.kernels.reference.node import LARGEST, Node, Unsupported, unsupported_types
from usmp_build.kernels.reference.window import slide, taps_inside

_SAME_SCALE = 1e-6
"""Scales that differ by no more count as one."""


def pool_2d(node: Node) -> Kernel:
    """One number for the pixels under a window, for every channel."""
    options = node.options(Pool2D)
    source, output = node.streamed(), node.output
    node.expect(len(source.shape) == 4, "works on a tensor without four dimensions")
    images, height, width, channels = source.shape
    rows = slide(node, options.padding, height, options.filter_h, options.stride_h)
    columns = slide(node, options.padding, width, options.filter_w, options.stride_w)
    expected = (images, rows.output, columns.output, channels)
    node.expect(output.shape == expected, f"makes an image of shape {list(expected)}, not {list(output.shape)}")
    suffix, low, high = _limits(node, options, source)
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
    )
    form = Rows(
        images=images,
        rows=rows.output,
        input_rows=height,
        input_pitch=width * channels,
        output_pitch=columns.output * channels,
        window=options.filter_h,
        stride=options.stride_h,
        before=rows.before,
    )
    name = {"AVERAGE_POOL_2D": "average_pool_2d", "MAX_POOL_2D": "max_pool_2d"}[node.operator.kind]
    parameters = Parameters(f"pool_2d_{suffix}_parameters", fields)
    down = taps_inside(rows, height, options.filter_h, options.stride_h)
    across = taps_inside(columns, width, options.filter_w, options.stride_w)
    read = images * down * across * channels * source.dtype.bits // 8
    traffic = (Traffic(read), Traffic(written=output.size))
    return Kernel((KernelCall(f"{name}_{suffix}_row", form, (Input(0), Output(0)), parameters, traffic),))


def _limits(node: Node, options: Pool2D, source: Tensor) -> tuple[str, int | float, int | float]:
    """Return the suffix of the type, and the limits of the output."""
    output = node.output
    if (source.dtype, output.dtype) == (DType.FLOAT32, DType.FLOAT32):
        return ("f32", *real_limits(options.activation))
    if (source.dtype, output.dtype) != (DType.INT8, DType.INT8):
        raise unsupported_types(source, output)
    difference = single(node.scale(source)) - single(node.scale(output))
    if abs(difference) > _SAME_SCALE or node.zero_point(source) != node.zero_point(output):
        raise Unsupported("its input and output are quantized in different ways")
    if options.filter_h * options.filter_w * 128 > LARGEST:
        raise Unsupported("its window is too wide")
    zero_point = node.zero_point(output)
    low, high = quantized_limits(node, options.activation, output)
    return "s8", low + zero_point, high + zero_point
