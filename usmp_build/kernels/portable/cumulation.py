"""CUMSUM: running sums along an axis."""

from __future__ import annotations

from math import prod

from usmp_build.arithmetic.fixed_point import quantize
from usmp_build.interfaces.kernels import Input, Kernel, Output, Value
from usmp_build.ir.graph import DType
from usmp_build.ir.options import Activation
from usmp_build.kernels.activation import quantized_limits
from usmp_build.kernels.names import c_name
from usmp_build.kernels.nest import Nest, kernel, reads, writes
from usmp_build.kernels.node import Node, Unsupported, unsupported_types
from usmp_build.kernels.portable.reduced_axes import reduced_axes
from usmp_build.kernels.requantization import output_fields
from usmp_build.operators.reductions import Cumsum

_FRACTION_BITS = 19
"""After the point of a sum of int8."""


def cumsum(node: Node) -> Kernel:
    """Sums of all elements up to each one, or from each one on."""
    source, output, options = node.input(0), node.output, node.options(Cumsum)
    node.expect(source.shape == output.shape, "has an output of another shape than its input")
    axes = reduced_axes(node)
    node.expect(len(axes) == 1, "does not work along one axis")
    (axis,) = axes
    images, depth, inner = prod(source.shape[:axis]), source.shape[axis], prod(source.shape[axis + 1 :])
    if source.dtype is not output.dtype or source.dtype not in (DType.INT8, DType.FLOAT32):
        raise unsupported_types(source, output)
    fields: tuple[tuple[str, Value], ...] = (
        ("images", images),
        ("depth", depth),
        ("inner", inner),
        ("exclusive", int(options.exclusive)),
        ("reversed", int(options.reverse)),
        *(() if source.dtype.is_float else _int8_fields(node)),
    )
    start, step = ((depth - 1) * inner, -inner) if options.reverse else (0, inner)
    along = {"images": depth * inner, "inner": 1, "depth": step}
    # images, and neighbors along the axis, are in reverse order backward; a sum never is
    nest = Nest(
        {"images": images, "inner": inner, "depth": depth},
        (reads(Input(0), 1, along, start), writes(Output(0), 1, along, start)),
        forward=True,
    )
    return kernel(node, c_name("cumsum", source.dtype), nest, fields)


def _int8_fields(node: Node) -> tuple[tuple[str, int], ...]:
    source, output = node.input(0), node.output
    scale = quantize(node.scale(source) / node.scale(output) / (1 << _FRACTION_BITS))
    if scale.shift > 0:
        raise Unsupported(f"the scale of its output is below 2^-{_FRACTION_BITS} of that of its input")
    return (
        ("input_zero_point", node.zero_point(source)),
        ("multiplier", scale.multiplier),
        ("right", -scale.shift),
        *output_fields(node, quantized_limits(node, Activation.NONE, output)),
    )
