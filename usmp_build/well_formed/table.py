"""Operator kind → what an operator of that kind must be like.

Only what a pass or a kernel relies on, or TensorFlow Lite Micro refuses, is a rule; what nobody reads may be anything.
"""

from __future__ import annotations

from types import MappingProxyType

from usmp_build.well_formed import moves, sums
from usmp_build.well_formed.form import Form
from usmp_build.well_formed.rules import as_many, filled, integers, rank, same_type, stretched

_POOL = Form("input", rules=(rank(4, "input", "output"), filled("input"), sums.window("input")))
_REDUCE = Form("input axes", rules=(integers("axes"), moves.reduced))
_PAD = Form("input paddings value?", rules=(same_type("input", "output", "value"), integers("paddings"), moves.padded))
_RESHAPE = Form("input shape?", rules=(same_type("input", "output"), as_many("input", "output")))
_SAME = Form("input", rules=(same_type("input", "output"), as_many("input", "output")))
_BINARY = Form("first second", rules=(stretched("first", "second"),))
_UNARY = Form("input", rules=(as_many("input", "output"),))
_OPEN = Form("input operand")
"""Its second operand is read where it is understood."""

_BINARY_KINDS = ("ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "SQUARED_DIFFERENCE", "SUB")
_UNARY_KINDS = (
    "ABS", "CAST", "DEQUANTIZE", "ELU", "EXP", "HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "NEG", "QUANTIZE", "RELU",
    "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "RSQRT", "SQRT", "SQUARE", "TANH", "LOOKUP",
)  # fmt: skip
_REDUCE_KINDS = ("REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM")

FORMS: MappingProxyType[str, Form] = MappingProxyType(
    {
        **dict.fromkeys(_BINARY_KINDS, _BINARY),
        **dict.fromkeys(_UNARY_KINDS, _UNARY),
        **dict.fromkeys(_REDUCE_KINDS, _REDUCE),
        "AVERAGE_POOL_2D": _POOL,
        "BROADCAST_TO": _OPEN,
        "CONCATENATION": Form("inputs*", rules=(same_type("output", "inputs"), moves.concatenated)),
        "CONV_2D": Form(
            "input filters bias?",
            rules=(
                rank(4, "input", "filters", "output"),
                filled("input", "filters"),
                sums.grouped,
                sums.window("filters"),
                sums.biased("filters"),
            ),
        ),
        "COPY": _SAME,
        "DEPTHWISE_CONV_2D": Form(
            "input filters bias?",
            rules=(
                rank(4, "input", "filters", "output"),
                filled("input", "filters"),
                sums.depthwise,
                sums.window("filters"),
                sums.biased("filters", axis=-1),
            ),
        ),
        "EXPAND_DIMS": _RESHAPE,
        "FULLY_CONNECTED": Form(
            "input weights bias?",
            "output workspace?",
            rules=(rank(2, "weights"), filled("input", "weights"), sums.connected, sums.biased("weights")),
        ),
        "GATHER": Form("input indices"),
        "L2_POOL_2D": _POOL,
        "MAX_POOL_2D": _POOL,
        "MEAN": Form("input axes", rules=(filled("input"), integers("axes"), moves.reduced)),
        "PACK": Form("inputs*", rules=(same_type("output", "inputs"), moves.packed)),
        "PAD": _PAD,
        "PADV2": _PAD,
        "RANK": Form("input"),
        "RESHAPE": _RESHAPE,
        "RESIZE_BILINEAR": _OPEN,
        "RESIZE_NEAREST_NEIGHBOR": _OPEN,
        "SHAPE": Form("input"),
        "SLICE": Form(
            "input begins sizes", rules=(same_type("input", "output"), integers("begins", "sizes"), moves.cut)
        ),
        "SOFTMAX": Form("input", rules=(filled("input"), as_many("input", "output"))),
        "SPLIT": Form("axis input", "outputs*", rules=(same_type("input", "outputs"), integers("axis"), moves.split)),
        "SPLIT_V": Form(
            "input sizes axis",
            "outputs*",
            rules=(same_type("input", "outputs"), integers("sizes", "axis"), moves.split),
        ),
        "SQUEEZE": _SAME,
        "STRIDED_SLICE": Form(
            "input begins ends strides",
            rules=(same_type("input", "output"), integers("begins", "ends", "strides"), moves.strided_cut),
        ),
        "SVDF": Form(
            "input features times bias? state",
            rules=(rank(2, "features", "times"), filled("input", "features", "times"), sums.remembering),
        ),
        "TILE": _OPEN,
        "TRANSPOSE": Form("input axes", rules=(same_type("input", "output"), integers("axes"), moves.permuted)),
        "TRANSPOSE_CONV": Form(
            "shape filters input bias?",
            rules=(
                rank(4, "filters", "input", "output"),
                filled("filters", "input"),
                sums.transposed,
                sums.biased("filters"),
            ),
        ),
        "UNPACK": Form("input", "outputs*", rules=(same_type("input", "outputs"), moves.unpacked)),
        "VIEW": _SAME,
    }
)
