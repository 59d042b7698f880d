"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from usmp_build.arithmetic.fixed_point import single
from usmp_build.interfaces.accesses import Window
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Output, Parameters, Rows
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.accesses_of_sums import Row, Shares, added_up_accesses, pool_accesses
from usmp_build.kernels.activation import quantized_limits, real_limits
from usmp_build.kernels.candidates import Declined, fastest
from usmp_build.kernels.names import c_name
from usmp_build.kernels.node import LARGEST, Node, Unsupported, integer_range, unsupported_types
from usmp_build.kernels.pitches import PITCHED, pitch_fields, pitches
from usmp_build.kernels.portable.window_sums import added_up, is_less_as_sums
from usmp_build.kernels.window import borders, slide
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
    images, height, width, channels = source.shape
    vertical, horizontal = borders(options)
    rows = slide(node, vertical, height, options.filter_h, options.stride_h)
    columns = slide(node, horizontal, width, options.filter_w, options.stride_w)
    expected = (images, rows.output, columns.output, channels)
    node.expect(output.shape == expected, f"makes an image of shape {list(expected)}, not {list(output.shape)}")
    low, high = _limits(node, options, source)
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
    name = node.operator.kind.lower()
    parameters = Parameters(c_name("pool_2d", source.dtype, part="parameters"), fields)
    window = Window(0, strides.input, width, options.filter_w, options.stride_w, before=columns.before)
    row = Row(columns.output, strides.output, window)
    accesses = pool_accesses(row, channels, source.dtype.bits // 8)
    call = KernelCall(
        c_name(name, source.dtype, part="row"), form, (Input(0), Output(0)), parameters, accesses=accesses
    )
    is_average = node.operator.kind == "AVERAGE_POOL_2D"
    by_rows = _added_up(node, call, row) if is_average and is_less_as_sums(node) else None
    portable = Kernel((call,), pitched=PITCHED, by_rows=by_rows)
    isas = () if node.operator.kind == "L2_POOL_2D" else (Isa.MVE, Isa.DSP)
    return fastest(node, {isa: partial(_faster, node, portable, is_average, isa) for isa in isas}, portable)


def _faster(node: Node, portable: Kernel, is_average: bool, isa: Isa) -> Kernel:
    """Return the kernel for other instructions: a turn of it is up to four turns of the portable one, or sixteen."""
    if node.output.dtype is not DType.INT8:
        raise Declined(f"it is for int8, not {node.output.dtype.name}")
    options = node.options(Pool2D)
    if is_average and options.filter_h * options.filter_w > _MOST_PIXELS:
        raise Declined(f"its window has more than {_MOST_PIXELS} pixels")
    (call,) = portable.calls
    function = c_name(node.operator.kind.lower(), node.output.dtype, isa=isa, part="row")
    return replace(portable, calls=(replace(call, function=function),))


def _added_up(node: Node, call: KernelCall, row: Row) -> Kernel:
    """Return the kernel that adds up the rows of the image for averages, given the call that makes all of them."""
    assert isinstance(call.form, Rows)
    assert call.parameters is not None
    form, values = call.form, dict(call.parameters.fields)
    first, end = max(0, -form.before), min(form.input_rows, form.window - form.before)
    counted = form.window * row.window.taps if values["counts_outside"] else 0
    fields = (
        *((name, values[name]) for name in ("input_width", "channels", "output_width", "window_width", "stride")),
        ("before", values["before"]),
        ("first_row", first),
        ("end_row", end),
        *((name, values[name]) for name in ("low", "high", "outside")),
        ("counted", counted),
    )
    source, does = node.streamed(), "average_pool_2d_sums"
    parameters = Parameters(c_name(does, source.dtype, part="parameters"), fields)
    shares = Shares(source.shape[3], 1, 1)
    accesses = added_up_accesses(row, shares, source.dtype.bits // 8, operands=3, scratch=1)
    return added_up(node, call, c_name(does, source.dtype), parameters, end - first, accesses, ())


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


KERNELS = {"AVERAGE_POOL_2D": pool_2d, "L2_POOL_2D": pool_2d, "MAX_POOL_2D": pool_2d}
