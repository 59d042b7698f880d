"""Which operators do nothing but compute their outputs, and which touch state.

What is not known to be pure is neither left out nor moved.
"""

from __future__ import annotations

from usmp_build.ir.graph import DType, Operator, Subgraph

FUNCTIONS = frozenset(
    "ABS ADD AVERAGE_POOL_2D CEIL CONCATENATION CONV_2D COS DEPTHWISE_CONV_2D DEQUANTIZE DIV EQUAL EXP EXPAND_DIMS "
    "FLOOR FULLY_CONNECTED GREATER GREATER_EQUAL HARD_SWISH LESS LESS_EQUAL LOG LOGISTIC LOOKUP MAXIMUM MAX_POOL_2D "
    "MEAN MINIMUM MUL NEG NOT_EQUAL PACK PAD PADV2 PRELU QUANTIZE RELU RELU6 RELU_N1_TO_1 RESHAPE ROUND RSQRT SIN "
    "SLICE SOFTMAX SPLIT SPLIT_V SQRT SQUARE SQUEEZE STRIDED_SLICE SUB SUM TANH TRANSPOSE".split()
)
"""Kinds whose outputs follow from their inputs, the options that `ir.options` keeps, and the types of the outputs."""

PURE = FUNCTIONS | frozenset(
    "ADD_N ARG_MAX ARG_MIN ATAN2 BATCH_MATMUL BATCH_TO_SPACE_ND BITCAST BITWISE_XOR BROADCAST_ARGS BROADCAST_TO "
    "BUCKETIZE CAST COMPLEX_ABS CONV_3D CONV_3D_TRANSPOSE COPY CUMSUM DENSIFY DEPTH_TO_SPACE DILATE "
    "DYNAMIC_UPDATE_SLICE ELU EMBEDDING_LOOKUP FAKE_QUANT FILL FLOOR_DIV FLOOR_MOD GATHER GATHER_ND GELU IMAG "
    "L2_NORMALIZATION L2_POOL_2D LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOGICAL_AND LOGICAL_NOT LOGICAL_OR "
    "LOG_SOFTMAX MATRIX_DIAG MATRIX_SET_DIAG MIRROR_PAD NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 ONE_HOT POW "
    "RANGE RANK READ_VARIABLE REAL REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD RELU_0_TO_1 RESIZE_BILINEAR "
    "RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 RFFT2D RIGHT_SHIFT SCATTER_ND SEGMENT_SUM SELECT SELECT_V2 "
    "SHAPE SIGN SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPARSE_TO_DENSE SQUARED_DIFFERENCE TILE TOPK_V2 TRANSPOSE_CONV UNIQUE "
    "UNPACK VIEW WHERE ZEROS_LIKE".split()
)
"""Kinds that need not run when nobody needs their outputs, and that may run at any time: they remember nothing."""


def touches_state(op: Operator, graph: Subgraph) -> bool:
    """Tell whether an operator reads or writes a variable, or what shows one, or takes a handle of one."""
    touched = (graph.tensors[graph.roots.get(t, t)] for t in (*op.inputs, *op.outputs) if t is not None)
    return any(tensor.is_variable or tensor.dtype is DType.RESOURCE for tensor in touched)
