"""Kinds that are planned like any other, but that nothing here looks into or runs."""

from __future__ import annotations

from usmp_build.operators.kind import Effect, planned_only

_PURE_THAT_KEEP_AXES = "LOCAL_RESPONSE_NORMALIZATION POW SIGN".split()
_PURE = (
    "ATAN2 BITCAST BITWISE_XOR BUCKETIZE COMPLEX_ABS CONV_3D CONV_3D_TRANSPOSE DENSIFY DILATE FAKE_QUANT IMAG "
    "MATRIX_DIAG MATRIX_SET_DIAG NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 ONE_HOT RANGE REAL REVERSE_SEQUENCE "
    "RFFT2D RIGHT_SHIFT SCATTER_ND SEGMENT_SUM SPARSE_TO_DENSE TOPK_V2 UNIQUE WHERE".split()
)

KINDS = (
    *(planned_only(name, Effect.PURE, keeps_axes=True) for name in _PURE_THAT_KEEP_AXES),
    *(planned_only(name, Effect.PURE) for name in _PURE),
)
