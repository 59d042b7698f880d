"""Models that TVM reads, by name; as a script it writes one of them into the working directory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def _constant(name: str, *shape: int) -> Any:
    draw = np.random.default_rng(len(name) + sum(shape))
    return numpy_helper.from_array((draw.standard_normal(shape) * 0.3).astype("float32"), name)


def _onnx(inputs: dict[str, list[Any]], outputs: dict[str, list[Any]], nodes: list[Any], constants: list[Any]) -> Any:
    ports = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in side.items()]
        for side in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "g", *ports, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _node(kind: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def residual() -> Any:
    """A block of ResNet, with a view, a tuple, and an output that is read inside."""
    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        _node("Conv", "x w1 b1", "c1", **same), _node("Relu", "c1", "r1"), _node("Conv", "r1 w2", "c2", **same),
        _node("Add", "c2 x", "sum"), _node("Relu", "sum", "features"),
        _node("Split", "features", "s1 s2", axis=1, num_outputs=2),
        _node("Sigmoid", "s2", "gate"), _node("Mul", "s1 gate", "gated"), _node("Concat", "gated s2", "joined", axis=1),
        _node("Flatten", "joined", "flat"), _node("Gemm", "flat w3", "y", transB=1), _node("Softmax", "y", "classes"),
    ]  # fmt: skip
    constants = [_constant("w1", 4, 4, 3, 3), _constant("b1", 4), _constant("w2", 4, 4, 3, 3), _constant("w3", 5, 144)]
    return _onnx({"x": [1, 4, 6, 6]}, {"classes": [1, 5], "features": [1, 4, 6, 6]}, nodes, constants)


def attention() -> Any:
    """A head of a transformer."""
    nodes = [
        _node("MatMul", "x wq", "q"), _node("MatMul", "x wk", "k"), _node("Transpose", "k", "kt", perm=[0, 2, 1]),
        _node("MatMul", "q kt", "scores"), _node("Softmax", "scores", "p", axis=-1), _node("MatMul", "p x", "mixed"),
        _node("Add", "mixed x", "sum"), _node("LayerNormalization", "sum scale shift", "normal"),
        _node("Erf", "normal", "y"),
    ]  # fmt: skip
    constants = [_constant("wq", 8, 8), _constant("wk", 8, 8), _constant("scale", 8), _constant("shift", 8)]
    return _onnx({"x": [1, 6, 8]}, {"y": [1, 6, 8]}, nodes, constants)


def mobile() -> Any:
    """A block of MobileNet."""
    clip = [_constant("low"), _constant("high_1")]
    nodes = [
        _node("Conv", "x w1", "a", kernel_shape=[1, 1]), _node("Clip", "a low high_1", "b"),
        _node("Conv", "b w2", "c", kernel_shape=[3, 3], group=8, strides=[2, 2], pads=[1, 1, 1, 1]),
        _node("Relu", "c", "d"),
        _node("Conv", "d w3", "e", kernel_shape=[1, 1]), _node("GlobalAveragePool", "e", "y"),
    ]  # fmt: skip
    constants = [_constant("w1", 8, 3, 1, 1), _constant("w2", 8, 1, 3, 3), _constant("w3", 4, 8, 1, 1), *clip]
    return _onnx({"x": [1, 3, 8, 8]}, {"y": [1, 4, 1, 1]}, nodes, constants)


def twice() -> Any:
    """It returns a result twice, and its input."""
    nodes = [_node("Relu", "x", "y"), _node("Identity", "y", "again"), _node("Identity", "x", "same")]
    return _onnx({"x": [2, 3]}, {"y": [2, 3], "again": [2, 3], "same": [2, 3]}, nodes, [])


def varying() -> Any:
    """Its size is known only when it runs."""
    return _onnx({"x": ["n", 4]}, {"y": ["n", 4]}, [_node("Relu", "x", "y")], [])


def unsupported() -> Any:
    """TVM's front end lacks its operator."""
    return _onnx({"x": [4]}, {"y": [4]}, [_node("NoSuchOperator", "x", "y")], [])


def elementwise() -> Any:
    """What each loop reads for the last time may lie below what it writes: two buffers are enough for three."""
    nodes = [
        _node("MatMul", "x w", "a"), _node("Softmax", "a", "b"), _node("MatMul", "b v", "y"),
    ]  # fmt: skip
    return _onnx({"x": [8, 16]}, {"y": [8, 4]}, nodes, [_constant("w", 16, 32), _constant("v", 32, 4)])


def saved() -> Any:
    """A Relax module with a state of an LSTM, a size that varies up to a bound, and a tuple in a tuple."""
    from tvm import relax, tirx

    n = tirx.Var("n", "int64")
    x, h, c = (relax.Var(name, relax.TensorType((n, 4), "float32")) for name in "xhc")
    builder = relax.BlockBuilder()
    with builder.function("main", [x, h, c], attrs={"tir_var_upper_bound": {"n": 3}}):
        with builder.dataflow():
            gates = builder.emit(relax.op.concat([x, h], axis=1))
            parts = builder.emit(relax.op.split(gates, 2, axis=1))
            forget = builder.emit(relax.op.sigmoid(parts[0]))
            carried = builder.emit(relax.op.add(relax.op.multiply(forget, c), relax.op.tanh(parts[1])))
            hidden = builder.emit(relax.op.multiply(forget, relax.op.tanh(carried)))
            result = builder.emit_output(relax.Tuple([hidden, relax.Tuple([carried, hidden])]))
        builder.emit_func_output(result)
    return builder.get()


MODELS: dict[str, Callable[[], Any]] = {
    each.__name__: each for each in (residual, attention, mobile, twice, varying, unsupported, elementwise, saved)
}


if __name__ == "__main__":
    model = MODELS[sys.argv[1]]()
    if sys.argv[1] == "saved":
        import tvm

        Path("saved.relax.json").write_text(tvm.ir.save_json(model), encoding="utf-8")
    else:
        Path(f"{sys.argv[1]}.onnx").write_bytes(model.SerializeToString())
