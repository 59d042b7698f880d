"""Models with a UNIDIRECTIONAL_SEQUENCE_LSTM, drawn at random: .tflite files as converters make them."""

import numpy as np
from numpy.typing import NDArray

from tests.support.flatbuffer import Node, quantization, tensor
from tests.support.stateful import Graph, Random

_TANH = 4
_BIASES = {"INT8": "int32", "INT16": "int64", "FLOAT32": "float32"}


def lstm(r: Random, dtype: str = "INT8", dynamic: bool = False) -> bytes:
    """Return a layer of any size; `dtype` is that of inputs and outputs.  Gates saturate here and there.

    Weights of a `dynamic` layer of float32 are of int8.
    """
    graph = Graph()
    time_major = bool(r.integers(2))
    batches, steps, inputs, units = (int(r.integers(1, high)) for high in (4, 5, 20, 9))
    shape = (steps, batches) if time_major else (batches, steps)
    input_scale, hidden_scale = (float(np.float32(r.uniform(0.002, 0.05))), float(np.float32(r.uniform(0.003, 0.009))))
    if dtype == "INT16":
        input_scale, hidden_scale = (float(np.float32(scale / 256)) for scale in (input_scale, hidden_scale))
    source = graph.add(_activation(r, "x", (*shape, inputs), dtype, input_scale))
    hidden_node = _activation(r, "hidden", (batches, units), dtype, hidden_scale, IsVariable=True)
    widths = [inputs] * 4 + [units] * 4
    scales = [float(np.float32(r.uniform(0.2, 4) / 127 / width**0.5)) for width in widths]
    weights = [
        graph.constant(f"w{i}", *_weights(r, (units, width), "INT8" if dynamic else dtype, scale))
        for i, (width, scale) in enumerate(zip(widths, scales, strict=True))
    ]
    biases = [graph.constant(f"b{i}", *_bias(r, units, dtype, input_scale * scales[i])) for i in range(4)]
    hidden = graph.add(hidden_node)
    power = int(r.integers(-15, -8))
    cell_type = "FLOAT32" if dtype == "FLOAT32" else "INT16"
    fields = {} if dtype == "FLOAT32" else {"Quantization": quantization([2.0**power], [0])}
    cell = graph.add(tensor("cell", (batches, units), cell_type, IsVariable=True, **fields))
    same = {"Quantization": hidden_node.fields["Quantization"]} if dtype != "FLOAT32" else {}
    output = graph.add(tensor("y", (*shape, units), dtype, **same))
    clip = float(r.choice([0, 0, 1, r.uniform(0.1, 20)]))
    options = Node(
        "UnidirectionalSequenceLSTMOptions",
        FusedActivationFunction=_TANH,
        CellClip=clip,
        TimeMajor=time_major,
        AsymmetricQuantizeInputs=dynamic and bool(r.integers(2)),
    )
    operands = [source, *weights, -1, -1, -1, *biases, -1, -1, hidden, cell, -1, -1, -1, -1]
    graph.run("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [output], options)
    return graph.file([source], [output])


def _activation(r: Random, name: str, shape: tuple[int, ...], dtype: str, scale: float, **fields: object) -> Node:
    if dtype != "FLOAT32":
        fields["Quantization"] = quantization([scale], [int(r.integers(-128, 128)) if dtype == "INT8" else 0])
    return tensor(name, shape, dtype, **fields)


def _weights(r: Random, shape: tuple[int, int], dtype: str, scale: float) -> tuple[NDArray[np.generic], float]:
    if dtype == "FLOAT32":
        return r.normal(0, 127 * scale / 2, shape).astype(np.float32), 0.0
    return r.integers(-127, 128, shape).astype(np.int8), scale


def _bias(r: Random, units: int, dtype: str, scale: float) -> tuple[NDArray[np.generic], float]:
    values = r.normal(0, 1, units)
    if dtype == "FLOAT32":
        return values.astype(np.float32), 0.0
    return (values / scale).astype(_BIASES[dtype]), scale
