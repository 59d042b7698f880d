"""Portable C99 kernels for int8 and float32: equal to TensorFlow Lite Micro's reference kernels, bit for bit for int8.

How they touch memory, which separations of buffers rely on, each call declares turn by turn, from the numbers
that its C reads: elementwise kernels and copies go element by element, block by block, line by line; convolutions pixel
by pixel, and within a pixel by four channels; SOFTMAX looks over a row first, then it reads each element once more
right before it writes that element; FULLY_CONNECTED reads all of a batch for every four outputs.  What one turn reads,
it reads before it writes.  Forward, turns are in ascending order of what they write; backward, the same turns are in
reverse order.

SVDF has one direction: its state, which every run moves on, is read and written throughout.

No kernel touches a byte outside of its operands, keeps anything between calls but in variables, which are operands,
or needs memory beyond the scratch that it declares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType

from usmp_build.interfaces.kernels import Kernel, KernelCall, KernelSources, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels.reference import convolution, copies, elementwise, quantization, softmax, sources, unary
from usmp_build.kernels.reference.dense import fully_connected
from usmp_build.kernels.reference.directions import in_both_directions
from usmp_build.kernels.reference.node import Node, Unsupported
from usmp_build.kernels.reference.padding import pad
from usmp_build.kernels.reference.pooling import pool_2d
from usmp_build.kernels.reference.recurrent import svdf
from usmp_build.kernels.reference.reduction import mean
from usmp_build.kernels.reference.slicing import strided_slice

FAMILIES: MappingProxyType[str, Callable[[Node], Kernel]] = MappingProxyType(
    {
        "ADD": elementwise.add_or_subtract,
        "ASSIGN_VARIABLE": copies.assign_variable,
        "AVERAGE_POOL_2D": pool_2d,
        "CONCATENATION": copies.concatenation,
        "CONV_2D": convolution.conv_2d,
        "DEPTHWISE_CONV_2D": convolution.depthwise_conv_2d,
        "DEQUANTIZE": quantization.dequantize,
        "EXPAND_DIMS": copies.reshape,
        "FULLY_CONNECTED": fully_connected,
        "HARD_SWISH": unary.hard_swish,
        "LOGISTIC": unary.smooth,
        "MAX_POOL_2D": pool_2d,
        "MEAN": mean,
        "MUL": elementwise.multiply,
        "PACK": copies.pack,
        "PAD": pad,
        "PADV2": pad,
        "QUANTIZE": quantization.quantize,
        "READ_VARIABLE": copies.read_variable,
        "RELU": unary.relu,
        "RELU6": unary.relu6,
        "RESHAPE": copies.reshape,
        "SOFTMAX": softmax.softmax,
        "SPLIT": copies.split,
        "SQUEEZE": copies.reshape,
        "STRIDED_SLICE": strided_slice,
        "SUB": elementwise.add_or_subtract,
        "SVDF": svdf,
        "TANH": unary.smooth,
    }
)
"""TFLite's operator kind → what makes its kernel."""

OF_OUR_OWN: MappingProxyType[str, Callable[[Node], Kernel]] = MappingProxyType(
    {"COPY": copies.whole, "LOOKUP": unary.lookup}
)
"""The same for operators that no model has: a copy brings a tensor to other pools, a look-up is made by a rewrite."""

ONE_WAY = frozenset({"SVDF"})
"""Operators without a backward form."""


class Reference:
    """The kernel library "reference"."""

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        """Say how `operator` of `graph` runs.  Raises KernelError when its arithmetic has no defined result."""
        family = FAMILIES.get(operator.kind) or OF_OUR_OWN.get(operator.kind)
        if family is None:
            return NoKernel("the reference library has no kernel of this kind")
        try:
            kernel = family(Node(operator, graph))
        except Unsupported as reason:
            return NoKernel(str(reason))
        return kernel if operator.kind in ONE_WAY else in_both_directions(kernel)

    def sources(self, calls: Iterable[KernelCall], prefix: str, /) -> KernelSources:
        """Return the C of the functions of these calls, and of what they need, and nothing else."""
        return sources.choose({call.function for call in calls}, prefix)


library = Reference()
