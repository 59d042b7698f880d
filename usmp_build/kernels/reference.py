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
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType

from usmp_build.interfaces.kernels import Kernel, KernelCall, KernelSources, NoKernel
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels import portable, sources
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.operators.uint8 import difference, is_quantized
from usmp_build.request import Isa, TargetRequest

_FAMILIES = {
    "casts": "CAST",
    "circular_buffer": "CUSTOM:CIRCULAR_BUFFER",
    "comparisons": """EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_NOT LOGICAL_OR NOT_EQUAL SELECT
        SELECT_V2""",
    "convolution": "CONV_2D DEPTHWISE_CONV_2D",
    "copies": "ASSIGN_VARIABLE CONCATENATION COPY EXPAND_DIMS PACK READ_VARIABLE RESHAPE SPLIT SPLIT_V SQUEEZE UNPACK",
    "cumulation": "CUMSUM",
    "dense": "FULLY_CONNECTED",
    "detection": "CUSTOM:TFLite_Detection_PostProcess",
    "elementwise": "ADD MUL SUB",
    "extremes": "ARG_MAX ARG_MIN REDUCE_ALL REDUCE_MAX REDUCE_MIN",
    "filling": "BROADCAST_ARGS CUSTOM:TFLM_DECODE FILL SHAPE ZEROS_LIKE",
    "fourier": "CUSTOM:SignalIrfft CUSTOM:SignalRfft",
    "functions": "ABS CEIL COS ELU EXP FLOOR GELU LOG NEG ROUND RSQRT SIN SQRT SQUARE",
    "gathering": "DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP GATHER GATHER_ND",
    "lstm": "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "matrices": "BATCH_MATMUL",
    "normalization": "L2_NORMALIZATION LOG_SOFTMAX",
    "padding": "PAD PADV2",
    "pairwise": "DIV FLOOR_DIV FLOOR_MOD MAXIMUM MINIMUM PRELU SQUARED_DIFFERENCE",
    "pooling": "AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D",
    "quantization": "DEQUANTIZE QUANTIZE",
    "rearranging": """BATCH_TO_SPACE_ND BROADCAST_TO DEPTH_TO_SPACE MIRROR_PAD REVERSE_V2 SPACE_TO_BATCH_ND
        SPACE_TO_DEPTH TILE""",
    "recurrent": "SVDF",
    "reduction": "MEAN SUM",
    "resizing": "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    "several": "ADD_N",
    "signal": """CUSTOM:SignalEnergy CUSTOM:SignalFftAutoScale CUSTOM:SignalFilterBank CUSTOM:SignalFilterBankLog
        CUSTOM:SignalFilterBankSquareRoot CUSTOM:SignalPCAN CUSTOM:SignalWindow""",
    "signal_state": """CUSTOM:SignalDelay CUSTOM:SignalFilterBankSpectralSubtraction CUSTOM:SignalFramer
        CUSTOM:SignalOverlapAdd CUSTOM:SignalStacker""",
    "slicing": "SLICE STRIDED_SLICE",
    "softmax": "SOFTMAX",
    "transposed_convolution": "TRANSPOSE_CONV",
    "transposition": "TRANSPOSE",
    "unary": "HARD_SWISH LEAKY_RELU LOGISTIC LOOKUP RELU RELU6 TANH",
}
"""Module of `portable` → the operator kinds that it has kernels of."""
KERNELS: Mapping[str, str] = MappingProxyType(
    {kind: name for name, kinds in _FAMILIES.items() for kind in kinds.split()}
)
"""Operator kind → the module of its kernel, which is imported when a model has such an operator."""
_FORWARD, _BACKWARD = 1, -1
"""What `direction` is, the last member of every struct of parameters in `c/`."""


def maker(kind: str) -> tuple[Callable[[Node], Kernel], bool]:
    """Return the function that makes the kernel of a kind, and whether it runs in both directions."""
    family = vars(import_module(f"{portable.__name__}.{KERNELS[kind]}"))
    one_way: Mapping[str, Callable[[Node], Kernel]] = family.get("KERNELS_OF_ONE_DIRECTION", {})
    return (one_way[kind], False) if kind in one_way else (family["KERNELS"][kind], True)


def _explained(reason: str, op: Operator, graph: Subgraph) -> str:
    """Return the reason why there is no kernel; of uint8 also why the rewrite `uint8` left it as it is."""
    has_uint8 = any(t is not None and is_quantized(graph.tensors[t]) for t in (*op.inputs, *op.outputs))
    cause = difference(op, graph) if has_uint8 else ""
    return f"{reason}: {cause}" if cause else reason


def _in_both_directions(kernel: Kernel) -> Kernel:
    """Complete the parameters of a kernel's calls, and give it its backward form.

    That has the last call first; each call has its last image, row, pixel, block of channels or element first.  The
    same is done to the kernel that goes by rows.
    """
    by_rows = kernel.by_rows and _in_both_directions(kernel.by_rows)
    backward = replace(kernel, calls=tuple(_towards(call, _BACKWARD) for call in reversed(kernel.calls)), by_rows=None)
    forward = tuple(_towards(call, _FORWARD) for call in kernel.calls)
    return replace(kernel, calls=forward, backward=backward, by_rows=by_rows)


def _towards(call: KernelCall, direction: int) -> KernelCall:
    assert call.parameters is not None
    parameters = replace(call.parameters, fields=(*call.parameters.fields, ("direction", direction)))
    return replace(call, parameters=parameters, backward=direction == _BACKWARD)


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
        make, both_ways = maker(operator.kind)
        try:
            kernel = make(Node(operator, graph, self._isa))
        except Unsupported as reason:
            return NoKernel(_explained(str(reason), operator, graph))
        return _in_both_directions(kernel) if both_ways else kernel

    def sources(self, calls: Iterable[KernelCall], prefix: str, /) -> KernelSources:
        """Return the C of the functions of these calls, and of all that they use, and no more."""
        return sources.choose({call.function for call in calls}, prefix)


library = Reference()
