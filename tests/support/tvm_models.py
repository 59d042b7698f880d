"""Models that TVM reads, by name; as a script it writes some into the working directory."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, external_data_helper, helper, numpy_helper


def _constant(name: str, *shape: int) -> Any:
    draw = np.random.default_rng(len(name) + sum(shape))
    return numpy_helper.from_array((draw.standard_normal(shape) * 0.3).astype("float32"), name)


def _onnx(
    inputs: dict[str, Any], outputs: dict[str, Any], nodes: list[Any], constants: list[Any], opset: int = 18
) -> Any:
    ports = [[_port(name, shape) for name, shape in side.items()] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *ports, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _port(name: str, shape: Any) -> Any:
    """Floats of this shape; or else a pair of the type and the shape."""
    kind, shape = shape if isinstance(shape, tuple) else (TensorProto.FLOAT, shape)
    return helper.make_tensor_value_info(name, kind, shape)


def _array(name: str, values: Any, kind: str = "int64") -> Any:
    return numpy_helper.from_array(np.array(values, kind), name)


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


def transformer() -> Any:
    """A block of a transformer: two heads, and a layer of GELU."""
    split = {"num_outputs": 3, "axis": 2}
    nodes = [
        _node("LayerNormalization", "x scale shift", "n1"), _node("MatMul", "n1 wqkv", "qkv"),
        _node("Split", "qkv", "q k v", **split),
        _node("Reshape", "q heads", "qh"), _node("Transpose", "qh", "qt", perm=[0, 2, 1, 3]),
        _node("Reshape", "k heads", "kh"), _node("Transpose", "kh", "kt", perm=[0, 2, 3, 1]),
        _node("Reshape", "v heads", "vh"), _node("Transpose", "vh", "vt", perm=[0, 2, 1, 3]),
        _node("MatMul", "qt kt", "scores"), _node("Softmax", "scores", "p", axis=-1), _node("MatMul", "p vt", "o"),
        _node("Transpose", "o", "ot", perm=[0, 2, 1, 3]), _node("Reshape", "ot joined", "oj"),
        _node("MatMul", "oj wo", "mixed"), _node("Add", "mixed x", "sum"),
        _node("LayerNormalization", "sum scale shift", "n2"), _node("MatMul", "n2 w1", "f"),
        _node("Gelu", "f", "g"), _node("MatMul", "g w2", "h"), _node("Add", "h sum", "y"),
    ]  # fmt: skip
    constants = [
        _constant("scale", 8), _constant("shift", 8), _constant("wqkv", 8, 24), _constant("wo", 8, 8),
        _constant("w1", 8, 16), _constant("w2", 16, 8), _array("heads", [1, 6, 2, 4]), _array("joined", [1, 6, 8]),
    ]  # fmt: skip
    return _onnx({"x": [1, 6, 8]}, {"y": [1, 6, 8]}, nodes, constants, opset=20)


def normalized() -> Any:
    """A convolution with BatchNormalization, and a reshape whose shape is computed, as PyTorch exports them."""
    constants = [
        _constant("w", 8, 3, 3, 3), _constant("g", 8), _constant("b", 8), _constant("mean", 8),
        _array("var", [0.5, 1, 2, 1, 1, 0.7, 1, 3], "float32"), _constant("wd", 128, 5),
        _array("zero", 0), _array("axis", [0]), _array("rest", [-1]),
    ]  # fmt: skip
    nodes = [
        _node("Conv", "x w", "c", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        _node("BatchNormalization", "c g b mean var", "n"), _node("HardSwish", "n", "r"),
        _node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]),
        _node("Shape", "p", "s"), _node("Gather", "s zero", "batch"), _node("Unsqueeze", "batch axis", "b1"),
        _node("Concat", "b1 rest", "flat", axis=0), _node("Reshape", "p flat", "f"), _node("MatMul", "f wd", "y"),
    ]  # fmt: skip
    return _onnx({"x": [1, 3, 16, 16]}, {"y": [1, 5]}, nodes, constants, opset=14)


def quantized() -> Any:
    """Integers from end to end, by QuantizeLinear and DequantizeLinear, and an input that nothing reads."""
    draw = np.random.default_rng(1)
    constants = [
        _array("sx", 0.02, "float32"), _array("zx", 3, "int8"), _array("wq", draw.integers(-9, 9, (16, 4)), "int8"),
        _array("sw", 0.01, "float32"), _array("sy", 0.05, "float32"),
    ]  # fmt: skip
    nodes = [
        _node("DequantizeLinear", "x sx zx", "xf"), _node("DequantizeLinear", "wq sw", "wf"),
        _node("MatMul", "xf wf", "f"), _node("Relu", "f", "r"), _node("QuantizeLinear", "r sy zx", "y"),
    ]  # fmt: skip
    bytes_ = TensorProto.INT8
    return _onnx({"x": (bytes_, [1, 16]), "unused": [3]}, {"y": (bytes_, [1, 4])}, nodes, constants, opset=19)


def indices() -> Any:
    """Numbers from outside choose elements: of a row, of several axes, by element, and where to write."""
    nodes = [
        _node("Gather", "table i", "rows"), _node("Unsqueeze", "i last", "i2"), _node("GatherND", "table i2", "same"),
        _node("GatherElements", "table j", "some", axis=0), _node("ScatterND", "table i2 same", "written"),
        _node("ScatterElements", "written j some", "y", axis=0), _node("CumSum", "rows last0", "sums"),
        _node("Mod", "i three", "rest"),
    ]  # fmt: skip
    constants = [_array("last", [-1]), _array("last0", 1), _array("three", 3), _constant("table", 4, 2)]
    wide = TensorProto.INT64
    inputs = {"i": (wide, [3]), "j": (wide, [2, 2])}
    return _onnx(inputs, {"y": [4, 2], "sums": [3, 2], "rest": (wide, [3])}, nodes, constants, opset=16)


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


def dangling() -> Any:
    """Nobody writes what it reads."""
    return _onnx({"x": [4]}, {"y": [4]}, [_node("Add", "x nobody", "y")], [])


def unranked() -> Any:
    """Its input has no shape."""
    return _onnx({"x": None}, {"y": None}, [_node("Relu", "x", "y")], [])


def outside() -> Any:
    """Its weights are in another file."""
    weights = _constant("w", 4, 4)
    model = _onnx({"x": [1, 4]}, {"y": [1, 4]}, [_node("MatMul", "x w", "y")], [weights])
    external_data_helper.set_external_data(model.graph.initializer[0], "weights.bin")
    return model


def sorting() -> Any:
    """TVM sorts by a function of its run time."""
    outputs = {"y": [1, 3], "i": (TensorProto.INT64, [1, 3])}
    return _onnx({"x": [1, 9]}, outputs, [_node("TopK", "x k", "y i", axis=1)], [_array("k", [3])])


def _choice(condition: str, outputs: str, then: list[Any], otherwise: list[Any], shapes: list[list[int]]) -> Any:
    """A branch; the last nodes of its arms compute its results, which have these shapes."""
    arms = {}
    for arm, nodes in (("then_branch", then), ("else_branch", otherwise)):
        results = [node.output[0] for node in nodes[-len(shapes) :]]
        arms[arm] = helper.make_graph(nodes, arm, [], [*map(_port, results, shapes)])
    return _node("If", condition, outputs, **arms)


def branch() -> Any:
    """An input decides which arm runs, and in one of them data do; an arm returns what is there before."""
    inner = _choice(
        "is_large", "z", [_node("MatMul", "xn w", "z1")], [_node("MatMul", "x w", "zw"), _node("Exp", "zw", "z2")],
        [[1, 3]],
    )  # fmt: skip
    then = [
        _node("Relu", "x", "a"), _node("MatMul", "a w", "b0"), _node("Identity", "x", "a1"), _node("Neg", "b0", "b"),
    ]  # fmt: skip
    otherwise = [
        _node("Neg", "x", "xn"), _node("ReduceSum", "x", "total", keepdims=0),
        _node("Greater", "total limit", "is_large"), inner, _node("Add", "xn xn", "a2"), _node("Mul", "z z", "b2"),
    ]  # fmt: skip
    nodes = [_choice("c", "y p", then, otherwise, [[1, 4], [1, 3]]), _node("Sigmoid", "p", "q")]
    constants = [_constant("w", 4, 3), _constant("limit")]
    return _onnx({"x": [1, 4], "c": (TensorProto.BOOL, [])}, {"y": [1, 4], "q": [1, 3]}, nodes, constants)


def regions() -> Any:
    """How often its loops run depends on its inputs."""
    nodes = [_node("RoiAlign", "x rois i", "y", output_height=2, output_width=2)]
    inputs = {"x": [1, 3, 8, 8], "rois": [2, 4], "i": (TensorProto.INT64, [2])}
    return _onnx(inputs, {"y": [2, 3, 2, 2]}, nodes, [])


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


def guarded() -> Any:
    """A Relax module as PyTorch's programs become: functions for the arms of a branch, indices, and an assertion."""
    from tvm import relax

    def of(name: str, kind: str, *shape: int) -> Any:
        return relax.Var(name, relax.TensorType(shape, kind))

    builder = relax.BlockBuilder()
    arms = []
    for compute in (relax.op.exp, relax.op.negative):
        y = of("y", "float32", 2)
        with builder.function(compute.__name__, [y]):
            builder.emit_func_output(builder.emit(compute(y)))
        arms.append(builder.get().get_global_var(compute.__name__))
    x, i, j = of("x", "float32", 4, 3), of("i", "int64", 2), of("j", "int64", 2)
    with builder.function("main", [x, i, j], pure=False):
        chosen = builder.emit(relax.op.index_tensor(x, [i, j]))
        is_high = builder.emit(relax.op.greater(relax.op.sum(chosen), relax.const(0.0)))
        builder.emit(relax.op.assert_op(is_high, format="too low"))
        calls = [relax.Call(arm, [chosen]) for arm in arms]
        changed = builder.emit(relax.If(is_high, *(relax.SeqExpr([], call) for call in calls)))
        builder.emit_func_output(builder.emit(relax.op.index_put(x, [i, j], changed)))
    return builder.get()


def tuned() -> Any:
    """A Relax module of which one function has a schedule as tuning finds them, and the others those of dlight."""
    import tvm
    from tvm import relax, s_tir
    from tvm.s_tir import dlight

    x = relax.Var("x", relax.TensorType((16, 30), "float32"))
    weights = relax.const(np.linspace(-1, 1, 30 * 64, dtype="float32").reshape(30, 64))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            product = builder.emit(relax.op.matmul(x, weights))
            result = builder.emit_output(relax.op.nn.softmax(builder.emit(relax.op.nn.relu(product))))
        builder.emit_func_output(result)
    schedule = s_tir.Schedule(relax.transform.LegalizeOps()(builder.get()))
    schedule.work_on("matmul")
    block = schedule.get_sblock("matmul")
    operand, tile = schedule.cache_read(block, 0, "global"), schedule.cache_write(block, 0, "local")
    i, j, k = schedule.get_loops(block)
    (io, ii), (jo, ji), (ko, ki) = (schedule.split(loop, [None, 8]) for loop in (i, j, k))
    schedule.reorder(io, jo, ko, ki, ii, ji)
    schedule.compute_at(operand, ko)
    schedule.reverse_compute_at(tile, jo)
    schedule.parallel(schedule.fuse(io, jo))
    schedule.unroll(ii)
    schedule.vectorize(ji)
    schedule.decompose_reduction(block, ko)
    name = schedule.mod.get_global_var("matmul")
    schedule.mod.update_func(name, schedule.mod[name].with_attr("tirx.is_scheduled", True))
    with tvm.target.Target("llvm"):
        return dlight.ApplyDefaultSchedule(dlight.cpu.GEMV(), dlight.cpu.Reduction())(schedule.mod)


def scoped() -> Any:
    """A Relax module in which a device's memory has a tensor, and a schedule copies an operand there."""
    from tvm import relax, s_tir

    plain, fast = relax.VDevice("c", 0, "global"), relax.VDevice("c", 1, "global.vtcm")
    x = relax.Var("x", relax.TensorType((4, 8), "float32"))
    weights = relax.const(np.linspace(-1, 1, 64, dtype="float32").reshape(8, 8))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            product = builder.emit(relax.op.matmul(x, weights))
            there = builder.emit(relax.op.to_vdevice(product, fast))
            back = relax.op.to_vdevice(builder.emit(relax.op.exp(there)), plain)
            result = builder.emit_output(back)
        builder.emit_func_output(result)
    module = builder.get()
    module.update_global_info("vdevice", [plain, fast])
    schedule = s_tir.Schedule(relax.transform.LegalizeOps()(module))
    schedule.work_on("matmul")
    schedule.cache_read(schedule.get_sblock("matmul"), 0, "global.vtcm")
    return schedule.mod


def supplied() -> Any:
    """A Relax module that calls a function of the application by name."""
    from tvm import relax

    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            twice = builder.emit(relax.op.add(x, x))
            call = relax.call_dps_packed("filtered", [twice], relax.TensorType((2, 3), "float32"))
            result = builder.emit_output(builder.emit(call))
        builder.emit_func_output(result)
    return builder.get()


def widened() -> Any:
    """Constants of 1.6 GB, which the front end computes, in few bytes."""
    nodes = [
        _node("ConstantOfShape", "s", "big"), _node("ReduceSum", "big", "sum", keepdims=0), _node("Add", "x sum", "y"),
    ]  # fmt: skip
    return _onnx({"x": [4]}, {"y": [4]}, nodes, [_array("s", [400_000_000])])


def broadened() -> Any:
    """A Relax module that asks TVM for a constant of 1.6 GB, in two steps."""
    from tvm import relax

    x = relax.Var("x", relax.TensorType((4,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            row = builder.emit(relax.op.full((1, 20_000), relax.const(1.0, "float32"), "float32"))
            big = builder.emit(relax.op.broadcast_to(row, (20_000, 20_000)))
            result = builder.emit_output(relax.op.add(x, relax.op.sum(big)))
        builder.emit_func_output(result)
    return builder.get()


def _chain(length: int) -> Any:
    nodes = [_node("Relu" if at % 2 else "Neg", f"t{at}", f"t{at + 1}") for at in range(length)]
    return _onnx({"t0": [8]}, {f"t{length}": [8]}, nodes, [])


def deep() -> Any:
    """More operators in a row than one expression of C can have."""
    return _chain(300)


def endless() -> Any:
    """More tensors than statements nest."""
    return _chain(3_000)


MODELS: dict[str, Callable[[], Any]] = {
    each.__name__: each
    for each in (
        residual, transformer, mobile, normalized, quantized, indices, twice, elementwise, varying, dangling, unranked,
        outside, unsupported, sorting, regions, branch, saved, guarded, scoped, tuned, supplied, widened,
        broadened, deep, endless,
    )
}  # fmt: skip


def write(name: str) -> None:
    """Write a model into the working directory."""
    model = MODELS[name]()
    if hasattr(model, "SerializeToString"):
        Path(f"{name}.onnx").write_bytes(model.SerializeToString())
    else:
        import tvm

        Path(f"{name}.relax.json").write_text(tvm.ir.save_json(model), encoding="utf-8")


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        write(wanted)
