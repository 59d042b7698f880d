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

from usmp_build.interfaces.kernels import Kernel, KernelCall, KernelSources, NoKernel, Output
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.kernels import portable, sources
from usmp_build.kernels.node import Node, Unsupported
from usmp_build.kernels.sliced import slice_by_slice
from usmp_build.kernels.turned import turned
from usmp_build.operators.uint8 import difference, is_quantized
from usmp_build.request import Isa, TargetRequest

_IN_BOTH_DIRECTIONS = {
    "casts:cast": "CAST",
    "comparisons:compare": "EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL NOT_EQUAL",
    "comparisons:logic": "LOGICAL_AND LOGICAL_OR",
    "comparisons:negation": "LOGICAL_NOT",
    "comparisons:select": "SELECT_V2",
    "comparisons:select_alike": "SELECT",
    "convolution:conv_2d": "CONV_2D",
    "convolution:depthwise_conv_2d": "DEPTHWISE_CONV_2D",
    "copies:assign_variable": "ASSIGN_VARIABLE",
    "copies:concatenation": "CONCATENATION",
    "copies:copy_all": "COPY",
    "copies:pack": "PACK",
    "copies:read_variable": "READ_VARIABLE",
    "copies:reshape": "EXPAND_DIMS RESHAPE SQUEEZE",
    "copies:split": "SPLIT",
    "copies:split_in_sizes": "SPLIT_V",
    "copies:unpack": "UNPACK",
    "cumulation:cumsum": "CUMSUM",
    "dense:fully_connected": "FULLY_CONNECTED",
    "elementwise:add_or_subtract": "ADD SUB",
    "elementwise:multiply": "MUL",
    "extremes:all_true": "REDUCE_ALL",
    "extremes:arg_extreme": "ARG_MAX ARG_MIN",
    "extremes:extreme": "REDUCE_MAX REDUCE_MIN",
    "filling:broadcast_args": "BROADCAST_ARGS",
    "filling:decode": "CUSTOM:TFLM_DECODE",
    "filling:fill": "FILL",
    "filling:shape": "SHAPE",
    "filling:zeros_like": "ZEROS_LIKE",
    "functions:absolute": "ABS",
    "functions:elu": "ELU",
    "functions:exp": "EXP",
    "functions:gelu": "GELU",
    "functions:log": "LOG",
    "functions:of_floats": "CEIL COS FLOOR NEG ROUND SIN SQUARE",
    "functions:rsqrt": "RSQRT",
    "functions:sqrt": "SQRT",
    "gathering:dynamic_update_slice": "DYNAMIC_UPDATE_SLICE",
    "gathering:embedding_lookup": "EMBEDDING_LOOKUP",
    "gathering:gather": "GATHER",
    "gathering:gather_nd": "GATHER_ND",
    "matrices:batch_matmul": "BATCH_MATMUL",
    "normalization:l2_normalization": "L2_NORMALIZATION",
    "normalization:log_softmax": "LOG_SOFTMAX",
    "padding:pad": "PAD PADV2",
    "pairwise:divide": "DIV",
    "pairwise:extreme": "MAXIMUM MINIMUM",
    "pairwise:floored": "FLOOR_DIV FLOOR_MOD",
    "pairwise:prelu": "PRELU",
    "pairwise:squared_difference": "SQUARED_DIFFERENCE",
    "pooling:pool_2d": "AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D",
    "quantization:dequantize": "DEQUANTIZE",
    "quantization:quantize": "QUANTIZE",
    "rearranging:batch_to_space": "BATCH_TO_SPACE_ND",
    "rearranging:broadcast_to": "BROADCAST_TO",
    "rearranging:depth_to_space": "DEPTH_TO_SPACE",
    "rearranging:mirror_pad": "MIRROR_PAD",
    "rearranging:reverse": "REVERSE_V2",
    "rearranging:space_to_batch": "SPACE_TO_BATCH_ND",
    "rearranging:space_to_depth": "SPACE_TO_DEPTH",
    "rearranging:tile": "TILE",
    "reduction:mean": "MEAN",
    "reduction:total": "SUM",
    "resizing:bilinear": "RESIZE_BILINEAR",
    "resizing:nearest": "RESIZE_NEAREST_NEIGHBOR",
    "several:add_n": "ADD_N",
    "signal:energy": "CUSTOM:SignalEnergy",
    "signal:fft_auto_scale": "CUSTOM:SignalFftAutoScale",
    "signal:logarithm": "CUSTOM:SignalFilterBankLog",
    "signal:pcan": "CUSTOM:SignalPCAN",
    "signal:square_root": "CUSTOM:SignalFilterBankSquareRoot",
    "signal:window": "CUSTOM:SignalWindow",
    "slicing:cut": "SLICE",
    "slicing:strided_slice": "STRIDED_SLICE",
    "softmax:softmax": "SOFTMAX",
    "transposed_convolution:transpose_conv": "TRANSPOSE_CONV",
    "transposition:transpose": "TRANSPOSE",
    "unary:hard_swish": "HARD_SWISH",
    "unary:leaky_relu": "LEAKY_RELU",
    "unary:logistic": "LOGISTIC",
    "unary:lookup": "LOOKUP",
    "unary:relu": "RELU",
    "unary:relu6": "RELU6",
    "unary:relu_0_to_1": "RELU_0_TO_1",
    "unary:tanh": "TANH",
}
_IN_ONE_DIRECTION = {
    "circular_buffer:circular_buffer": "CUSTOM:CIRCULAR_BUFFER",
    "detection:detection": "CUSTOM:TFLite_Detection_PostProcess",
    "fourier:irfft": "CUSTOM:SignalIrfft",
    "fourier:rfft": "CUSTOM:SignalRfft",
    "lstm:lstm": "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "recurrent:svdf": "SVDF",
    "signal:filter_bank": "CUSTOM:SignalFilterBank",
    "signal_state:delay": "CUSTOM:SignalDelay",
    "signal_state:framer": "CUSTOM:SignalFramer",
    "signal_state:overlap_add": "CUSTOM:SignalOverlapAdd",
    "signal_state:spectral_subtraction": "CUSTOM:SignalFilterBankSpectralSubtraction",
    "signal_state:stacker": "CUSTOM:SignalStacker",
}
"""Module of `portable` and function → the operator kinds whose kernels it makes."""
KERNELS: Mapping[str, str] = MappingProxyType(
    {kind: maker for maker, kinds in (_IN_BOTH_DIRECTIONS | _IN_ONE_DIRECTION).items() for kind in kinds.split()}
)
"""Operator kind → what makes its kernel; the module is imported when a model has such an operator."""
_FORWARD, _BACKWARD = 1, -1
"""What `direction` is, the last member of every struct of parameters in `c/`."""


def maker(kind: str) -> tuple[Callable[[Node], Kernel], bool]:
    """Return the function that makes the kernel of a kind, and whether it runs in both directions."""
    module, _, name = KERNELS[kind].partition(":")
    make: Callable[[Node], Kernel] = getattr(import_module(f"{portable.__name__}.{module}"), name)
    return make, KERNELS[kind] in _IN_BOTH_DIRECTIONS


def _explained(reason: str, op: Operator, graph: Subgraph) -> str:
    """Return the reason why there is no kernel; of uint8 also why the rewrite `uint8` left it as it is."""
    has_uint8 = any(t is not None and is_quantized(graph.tensors[t]) for t in (*op.inputs, *op.outputs))
    cause = difference(op, graph) if has_uint8 else ""
    return f"{reason}: {cause}" if cause else reason


def _sample_by_sample(make: Callable[[Node], Kernel], node: Node) -> Kernel | None:
    """Return the kernel that goes along the rows of a turned image; None if there is none."""
    try:
        made = make(node)
    except Unsupported:
        return None
    by_rows = made.by_rows or made
    slower = frozenset({Output(0)})  # a window by itself shares no weights with its neighbors
    return None if row_jobs(by_rows) is None else replace(by_rows, pitched=frozenset(), slower=slower)


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
            node = Node(operator, graph, self._isa)
            kernel = make(node)
        except Unsupported as reason:
            return NoKernel(_explained(str(reason), operator, graph))
        if kernel.by_rows is None and row_jobs(kernel) is None:
            other = turned(node)
            by_rows = slice_by_slice(node, make) if other is None else _sample_by_sample(make, other)
            kernel = replace(kernel, by_rows=by_rows)
        return _in_both_directions(kernel) if both_ways else kernel

    def sources(self, calls: Iterable[KernelCall], prefix: str, /) -> KernelSources:
        """Return the C of the functions of these calls, and of all that they use, and no more."""
        return sources.choose({call.function for call in calls}, prefix)


library = Reference()
