"""Which operators do nothing but compute their outputs."""

from __future__ import annotations

from usmp_build.ir.graph import Operator, Subgraph

FUNCTIONS = frozenset(
    "ABS ADD AVERAGE_POOL_2D CEIL CONCATENATION CONV_2D COS DEPTHWISE_CONV_2D DEQUANTIZE DIV EQUAL EXP EXPAND_DIMS "
    "FLOOR FULLY_CONNECTED GREATER GREATER_EQUAL LESS LESS_EQUAL LOG LOGISTIC MAXIMUM MAX_POOL_2D MEAN MINIMUM MUL NEG "
    "NOT_EQUAL PACK PAD PADV2 PRELU QUANTIZE RELU RELU6 RELU_N1_TO_1 RESHAPE ROUND RSQRT SIN SLICE SOFTMAX SPLIT "
    "SPLIT_V SQRT SQUARE SQUEEZE STRIDED_SLICE SUB SUM TANH TRANSPOSE".split()
)
"""Kinds whose outputs follow from their inputs, the options that `ir.options` keeps, and the types of the outputs."""

PURE = FUNCTIONS | frozenset(
    "ADD_N ARG_MAX ARG_MIN BATCH_MATMUL BATCH_TO_SPACE_ND BROADCAST_ARGS BROADCAST_TO CAST COPY CUMSUM DEPTH_TO_SPACE "
    "ELU EMBEDDING_LOOKUP FILL FLOOR_DIV FLOOR_MOD GATHER GATHER_ND HARD_SWISH L2_NORMALIZATION L2_POOL_2D LEAKY_RELU "
    "LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOG_SOFTMAX MIRROR_PAD POW RANK READ_VARIABLE REDUCE_ALL REDUCE_ANY REDUCE_MAX "
    "REDUCE_MIN REDUCE_PROD RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_V2 SELECT_V2 SHAPE SPACE_TO_BATCH_ND "
    "SPACE_TO_DEPTH SQUARED_DIFFERENCE TRANSPOSE_CONV UNPACK VIEW ZEROS_LIKE".split()
)
"""Kinds that need not run when nobody needs their outputs."""


def touches_state(op: Operator, graph: Subgraph) -> bool:
    """Tell whether an operator reads or writes a variable."""
    return any(t is not None and graph.tensors[t].is_variable for t in (*op.inputs, *op.outputs))
