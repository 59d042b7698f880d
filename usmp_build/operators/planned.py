"""Kinds that are planned like any other, but that nothing here looks into or runs."""

from __future__ import annotations

from usmp_build.operators.kind import Effect, planned_only

_FUNCTIONS_THAT_KEEP_AXES = "CEIL COS FLOOR GREATER GREATER_EQUAL LESS LESS_EQUAL LOG PRELU ROUND SIN".split()
_PURE_THAT_KEEP_AXES = (
    "FLOOR_DIV FLOOR_MOD GELU LOCAL_RESPONSE_NORMALIZATION LOGICAL_AND LOGICAL_NOT LOGICAL_OR POW SIGN".split()
)
_PURE = (
    "ADD_N ATAN2 BITCAST BITWISE_XOR BUCKETIZE "
    "COMPLEX_ABS CONV_3D CONV_3D_TRANSPOSE DENSIFY DILATE "
    "FAKE_QUANT IMAG MATRIX_DIAG MATRIX_SET_DIAG NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 ONE_HOT RANGE "
    "REAL REVERSE_SEQUENCE RFFT2D RIGHT_SHIFT SCATTER_ND SEGMENT_SUM SELECT SELECT_V2 "
    "SPARSE_TO_DENSE TOPK_V2 UNIQUE WHERE ".split()
)

KINDS = (
    *(planned_only(name, Effect.FUNCTION, keeps_axes=True, options=None) for name in _FUNCTIONS_THAT_KEEP_AXES),
    *(planned_only(name, Effect.PURE, keeps_axes=True, options=None) for name in _PURE_THAT_KEEP_AXES),
    *(planned_only(name, Effect.PURE, keeps_axes=False, options=None) for name in _PURE),
)
