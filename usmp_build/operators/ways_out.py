"""What the author of a model can do about operators that no kernel runs: mostly options of TensorFlow's converter."""

from __future__ import annotations

from usmp_build.ir.graph import DType, Operator, Subgraph

_INT8 = (
    "convert the model to int8: converter.optimizations = [tf.lite.Optimize.DEFAULT], a representative_dataset, and"
    " target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]"
)
_NO_FLEX = (
    "convert the model without tf.lite.OpsSet.SELECT_TF_OPS, whose operators need TensorFlow itself: the converter then"
    " names the layers to replace"
)
_NO_FLOAT16 = "convert the model without target_spec.supported_types = [tf.float16], or to int8"


def way_out(op: Operator, graph: Subgraph) -> str:
    """Return how to convert a model so that an operator without a kernel has one; empty where no option does that."""
    if op.kind.startswith("CUSTOM:Flex"):
        return _NO_FLEX
    types = {graph.tensors[t].dtype for t in (*op.inputs, *op.outputs) if t is not None}
    if DType.FLOAT16 in types:
        return _NO_FLOAT16
    return _INT8 if DType.UINT8 in types and not op.kind.startswith("CUSTOM:") else ""
