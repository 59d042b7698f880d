"""Models that remember: .tflite files with variable tensors and with resource variables, drawn at random.

What converters make of streaming models, in small; the same generator makes the same file.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tests.support.flatbuffer import Node, model, operator, quantization, subgraph, tensor, write

Random = np.random.Generator


class Graph:
    """A main subgraph that grows, its constants, and the subgraph that CALL_ONCE runs."""

    def __init__(self) -> None:
        self.tensors: list[Node] = []
        self.operators: list[Node] = []
        self.data: list[bytes] = []
        self.first: list[tuple[str, Node]] = []
        """Names of variables, and the constants that they hold at first."""

    def add(self, node: Node) -> int:
        """Add a tensor and return its index."""
        self.tensors.append(node)
        return len(self.tensors) - 1

    def constant(self, name: str, values: NDArray[np.generic], scale: float = 0.0) -> int:
        """Add a constant tensor and return its index."""
        return self.add(self.constant_node(name, values, scale))

    def constant_node(self, name: str, values: NDArray[np.generic], scale: float = 0.0, zero: int = 0) -> Node:
        """Return a constant tensor whose bytes are in the file."""
        self.data.append(values.tobytes())
        fields = {"Quantization": quantization([scale], [zero])} if scale else {}
        return tensor(name, values.shape, values.dtype.name.upper(), Buffer=len(self.data), **fields)

    def run(self, kind: str, inputs: Sequence[int], outputs: Sequence[int], options: Node | None = None) -> None:
        """Add an operator."""
        self.operators.append(operator(kind, inputs, outputs, options))

    def handle(self, name: str) -> int:
        """Add a handle of a resource variable."""
        index = self.add(tensor(f"{name}_handle", (), "RESOURCE"))
        self.run("VAR_HANDLE", [], [index], _named(name))
        return index

    def file(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """Return the file."""
        graphs = [subgraph(self.tensors, self.operators, inputs, outputs)]
        if self.first:
            self.operators.insert(0, operator("CALL_ONCE", [], [], Node("CallOnceOptions", InitSubgraphIndex=1)))
            graphs.append(_initializer(self.first))
        return write(model(*graphs, data=self.data))


def _named(name: str) -> Node:
    return Node("VarHandleOptions", Container="", SharedName=name)


def _initializer(first: Sequence[tuple[str, Node]]) -> Node:
    tensors, operators = [], []
    for name, value in first:
        handle = len(tensors)
        tensors += [tensor("", (), "RESOURCE"), value]
        operators.append(operator("VAR_HANDLE", [], [handle], _named(name)))
        operators.append(operator("ASSIGN_VARIABLE", [handle, handle + 1], [], Node("AssignVariableOptions")))
    return subgraph(tensors, operators, name="once")


def svdf(r: Random, state: str = "INT16", layers: int = 1, memory: int | None = None) -> bytes:
    """One or two SVDF behind each other; `state` is INT16, INT8 or FLOAT32.  Filters remember up to 8 results."""
    graph = Graph()
    batches, width = (int(r.integers(1, high)) for high in (4, 20))
    dtype = "FLOAT32" if state == "FLOAT32" else "INT8"
    fields = {} if state == "FLOAT32" else {"Quantization": quantization([0.05], [int(r.integers(-128, 128))])}
    here = first = graph.add(tensor("x", (batches, width), dtype, **fields))
    scale = 0.05
    for layer in range(layers):
        here, width, scale = _svdf_layer(r, graph, state, here, (batches, width, scale, layer), memory)
    return graph.file([first], [here])


def shared_state(r: Random) -> bytes:
    """Return two SVDF of one kind with one state: the second moves on what the first one left."""
    graph = Graph()
    first = graph.add(tensor("x", (1, 8), "FLOAT32"))
    output, *_ = _svdf_layer(r, graph, "FLOAT32", first, (1, 8, 1.0, 0))
    again, output_fields = graph.operators[-1].fields, graph.tensors[output].fields
    other = graph.add(tensor("again", output_fields["Shape"], "FLOAT32"))
    graph.run("SVDF", again["Inputs"], [other], again["BuiltinOptions"])
    return graph.file([first], [output, other])


def _svdf_layer(
    r: Random, graph: Graph, state: str, source: int, size: tuple[int, int, float, int], given: int | None = None
) -> tuple[int, int, float]:
    batches, width, scale, layer = size
    units, rank, drawn = (int(r.integers(1, high)) for high in (6, 4, 9))
    memory = given or drawn
    filters = units * rank
    options = Node("SVDFOptions", Rank=rank, FusedActivationFunction=int(r.integers(0, 2)))
    if state == "FLOAT32":
        features = graph.constant(f"features{layer}", r.normal(0, 1, (filters, width)).astype(np.float32))
        times = graph.constant(f"times{layer}", r.normal(0, 1, (filters, memory)).astype(np.float32))
        bias = graph.constant(f"bias{layer}", r.normal(0, 1, units).astype(np.float32))
        kept = graph.add(tensor(f"state{layer}", (batches, filters * memory), state, IsVariable=True))
        output = graph.add(tensor(f"y{layer}", (batches, units), state))
        graph.run("SVDF", [source, features, times, bias, kept], [output], options)
        return output, units, 1.0
    span = 128 if state == "INT8" else 1 << 15
    by_feature, by_time = (np.float32(s) for s in (r.uniform(0.001, 0.05), r.uniform(0.5, 2) / span))
    feature_steps = r.integers(-128, 128, (filters, width)).astype(np.int8)
    time_steps = r.integers(-span, span, (filters, memory)).astype(np.dtype(state.lower()))
    largest = scale * float(by_feature) * 128 * 128 * np.sqrt(width)
    by_state = np.float32(largest / span * r.uniform(0.2, 2))
    sums = np.float32(by_state * by_time)
    reach = largest * np.sqrt(memory * rank)
    out_scale = float(np.float32(reach / 128 * r.uniform(0.2, 2)))
    features = graph.constant(f"features{layer}", feature_steps, by_feature)
    times = graph.constant(f"times{layer}", time_steps, by_time)
    offsets = (r.uniform(-reach, reach, units) / max(float(sums), reach / (1 << 30))).astype(np.int32)
    bias = graph.constant(f"bias{layer}", offsets, sums)
    shape = (batches, filters * memory)
    middle = int(r.integers(-128, 128)) if state == "INT8" else 0
    kept = graph.add(
        tensor(f"state{layer}", shape, state, IsVariable=True, Quantization=quantization([by_state], [middle]))
    )
    zero = quantization([out_scale], [int(r.integers(-128, 128))])
    output = graph.add(tensor(f"y{layer}", (batches, units), "INT8", Quantization=zero))
    graph.run("SVDF", [source, features, times, bias, kept], [output], options)
    return output, units, out_scale


def near_ties(r: Random) -> bytes:
    """Return an SVDF whose sums are biases just below and above what rounds up: a factor's last bit tells them."""
    graph = Graph()
    by_feature, by_time, by_state = (np.float32(r.uniform(0.001, 0.1)) for _ in range(3))
    out_scale = np.float32(by_state * by_time * 2.0**22)
    halves = np.repeat(np.arange(-100, 100) + 0.5, 2)
    factor = float(np.float32(np.float32(by_state * by_time) / out_scale))
    sums = np.floor(halves / factor) + np.tile([0, 1], 200)
    source = graph.add(tensor("x", (1, 1), "INT8", Quantization=quantization([0.1], [0])))
    features = graph.constant("features", np.zeros((400, 1), np.int8), by_feature)
    times = graph.constant("times", np.zeros((400, 2), np.int16), by_time)
    bias = graph.constant("bias", sums.astype(np.int32), np.float32(by_state * by_time))
    kept = graph.add(tensor("state", (1, 800), "INT16", IsVariable=True, Quantization=quantization([by_state], [0])))
    output = graph.add(tensor("y", (1, 400), "INT8", Quantization=quantization([out_scale], [0])))
    graph.run("SVDF", [source, features, times, bias, kept], [output], Node("SVDFOptions", Rank=1))
    return graph.file([source], [output])


def accumulators(r: Random, dtype: str = "INT8") -> bytes:
    """Resource variables: running sums of the input, some with a first value, of which one has two handles."""
    graph = Graph()
    shape = (1, int(r.integers(1, 9)))
    source = graph.add(_like("x", shape, dtype, 0.5, 3))
    here = source
    for number in range(int(r.integers(1, 4))):
        name = f"sum{number}"
        if r.integers(2):
            values = r.normal(0, 4, shape) if dtype == "FLOAT32" else r.integers(-128, 128, shape)
            value = values.astype(np.dtype(dtype.lower()))
            node = graph.constant_node("first", value, 0.5 if dtype == "INT8" else 0.0, 5 if dtype == "INT8" else 0)
            graph.first.append((name, node))
        before, after = (graph.add(_like(f"{name}_{when}", shape, dtype, 0.5, 5)) for when in ("before", "after"))
        handle = graph.handle(name)
        graph.run("READ_VARIABLE", [handle], [before], Node("ReadVariableOptions"))
        graph.run("ADD", [before, here], [after], Node("AddOptions"))
        again = graph.handle(name) if r.integers(2) else handle
        graph.run("ASSIGN_VARIABLE", [again, after], [], Node("AssignVariableOptions"))
        here = after
    return graph.file([source], [here])


def sums_and_scores(classes: int) -> bytes:
    """Return running sums of the input beside its SOFTMAX, which aborts TensorFlow Lite Micro on 512 equal inputs."""
    graph = Graph()
    source, before, after = (graph.add(_like(name, (1, classes), "INT8", 1.0, 0)) for name in ("x", "before", "after"))
    handle = graph.handle("sums")
    graph.run("READ_VARIABLE", [handle], [before], Node("ReadVariableOptions"))
    graph.run("ADD", [before, source], [after], Node("AddOptions"))
    graph.run("ASSIGN_VARIABLE", [handle, after], [], Node("AssignVariableOptions"))
    scores = graph.add(_like("scores", (1, classes), "INT8", 1 / 256, -128))
    graph.run("SOFTMAX", [source], [scores], Node("SoftmaxOptions", Beta=1.0))
    return graph.file([source], [after, scores])


def ring(r: Random) -> bytes:
    """A streaming layer as converters make it: the last frames are a variable, and move up with each new one."""
    graph = Graph()
    frames, width, units = (int(r.integers(low, 7)) for low in (2, 1, 1))
    source = graph.add(_like("frame", (1, width), "INT8", 0.5, 3))
    before = graph.add(_like("before", (frames, width), "INT8", 0.5, 3))
    both = graph.add(_like("both", (frames + 1, width), "INT8", 0.5, 3))
    after = graph.add(_like("after", (frames, width), "INT8", 0.5, 3))
    handle = graph.handle("ring")
    graph.run("READ_VARIABLE", [handle], [before], Node("ReadVariableOptions"))
    graph.run("CONCATENATION", [before, source], [both], Node("ConcatenationOptions", Axis=0))
    numbers = (graph.constant(name, np.array(v, np.int32)) for name, v in (("b", [1, 0]), ("e", [0, 0]), ("s", [1, 1])))
    graph.run("STRIDED_SLICE", [both, *numbers], [after], Node("StridedSliceOptions", EndMask=3))
    graph.run("ASSIGN_VARIABLE", [handle, after], [], Node("AssignVariableOptions"))
    weights = graph.constant("weights", r.integers(-128, 128, (units, frames * width)).astype(np.int8), 0.02)
    bias = graph.constant("bias", r.integers(-1000, 1000, units).astype(np.int32), 0.01)
    shape = graph.constant("shape", np.array([1, frames * width], np.int32))
    flat, output = (
        graph.add(_like("flat", (1, frames * width), "INT8", 0.5, 3)),
        graph.add(_like("y", (1, units), "INT8", 20.0, 3)),
    )
    graph.run("RESHAPE", [after, shape], [flat])
    graph.run("FULLY_CONNECTED", [flat, weights, bias], [output], Node("FullyConnectedOptions"))
    return graph.file([source], [output])


def _like(name: str, shape: tuple[int, int], dtype: str, scale: float, zero: int) -> Node:
    fields = {"Quantization": quantization([scale], [zero])} if dtype == "INT8" else {}
    return tensor(name, shape, dtype, **fields)
