"""Kernels equal to TensorFlow Lite Micro's reference kernels, bit for bit for integers: portable C99, and for sums of
int8 others that take the instructions of a target.

Each call declares how it accesses memory, turn by turn, from the numbers that its C reads; overlap constraints follow
from that: elementwise kernels and copies go element by element, block by block, line by line; convolutions pixel
by pixel, and within a pixel by four channels; SOFTMAX looks over a row first, then it reads each element once more
right before it writes that element; FULLY_CONNECTED reads all of a batch for every four outputs.  What one turn reads,
it reads before it writes.  Forward, turns are in ascending order of what they write; backward, the same turns are in
reverse order.

SVDF, UNIDIRECTIONAL_SEQUENCE_LSTM, CIRCULAR_BUFFER and operators of the signal library with a state have one direction:
the state, which every run moves on, is read and written throughout.  So have Fourier transforms.

No kernel touches a byte outside of its operands, keeps anything between calls but in variables, which are operands,
or needs memory beyond the scratch that it declares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from usmp_build.interfaces.kernels import Kernel, KernelCall, KernelSources, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels.reference import (
    casts,
    circular_buffer,
    comparisons,
    convolution,
    copies,
    cumulation,
    dense,
    detection,
    elementwise,
    extremes,
    filling,
    fourier,
    functions,
    gathering,
    lstm,
    matrices,
    normalization,
    padding,
    pairwise,
    pooling,
    quantization,
    rearranging,
    recurrent,
    reduction,
    resizing,
    several,
    signal,
    signal_state,
    slicing,
    softmax,
    sources,
    transposed_convolution,
    transposition,
    unary,
)
from usmp_build.kernels.reference.directions import in_both_directions
from usmp_build.kernels.reference.node import Node, Unsupported
from usmp_build.operators.uint8 import difference, is_quantized
from usmp_build.request import Isa, TargetRequest

_FAMILIES = (
    casts,
    comparisons,
    convolution,
    copies,
    cumulation,
    dense,
    elementwise,
    extremes,
    filling,
    functions,
    gathering,
    matrices,
    normalization,
    padding,
    pairwise,
    pooling,
    quantization,
    rearranging,
    reduction,
    resizing,
    several,
    signal,
    slicing,
    softmax,
    transposed_convolution,
    transposition,
    unary,
)
KERNELS_OF_ONE_DIRECTION: dict[str, Callable[[Node], Kernel]] = {
    kind: kernel
    for family in (circular_buffer, detection, fourier, lstm, recurrent, signal, signal_state)
    for kind, kernel in family.KERNELS_OF_ONE_DIRECTION.items()
}
KERNELS: Mapping[str, Callable[[Node], Kernel]] = MappingProxyType(
    {kind: kernel for family in _FAMILIES for kind, kernel in family.KERNELS.items()} | KERNELS_OF_ONE_DIRECTION
)
"""Operator kind → function that makes its kernel."""


def _explained(reason: str, op: Operator, graph: Subgraph) -> str:
    """Return the reason why there is no kernel; of uint8 also why the rewrite `uint8` left it as it is."""
    has_uint8 = any(t is not None and is_quantized(graph.tensors[t]) for t in (*op.inputs, *op.outputs))
    cause = difference(op, graph) if has_uint8 else ""
    return f"{reason}: {cause}" if cause else reason


class Reference:
    """The kernel library "reference"."""

    def __init__(self, isa: Isa = Isa.PORTABLE) -> None:
        self._isa = isa

    @classmethod
    def for_target(cls, target: TargetRequest) -> Reference:
        """Return the library with the kernels for a target's instructions."""
        return cls(target.isa)

    def kernel(self, operator: Operator, graph: Subgraph, /) -> Kernel | NoKernel:
        """Return the kernel of `operator`, or why there is none.  Raises KernelError for undefined arithmetic."""
        if operator.kind not in KERNELS:
            return NoKernel("the reference library has no kernel of this kind")
        try:
            kernel = KERNELS[operator.kind](Node(operator, graph, self._isa))
        except Unsupported as reason:
            return NoKernel(_explained(str(reason), operator, graph))
        return kernel if operator.kind in KERNELS_OF_ONE_DIRECTION else in_both_directions(kernel)

    def sources(self, calls: Iterable[KernelCall], prefix: str, /) -> KernelSources:
        """Return the C of the functions of these calls, and of all that they use, and no more."""
        return sources.choose({call.function for call in calls}, prefix)


library = Reference()
