"""Models that rewrites change, drawn at random; TensorFlow Lite Micro runs them as they were."""

from dataclasses import replace

import numpy as np

from tests.support.flatfile import flatfile
from tests.support.kernels import oracle
from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import FLOAT, INT8, INT16, Array, Case, Random, constant, pick, span, values
from tests.support.kernels.driver import Runner
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.kernels.reference import library
from usmp_build.passes import rewrite

WINDOWS = ["CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"]
"""Kinds of operators whose frames may be paddings."""
PRODUCERS = [*WINDOWS, "ADD", "FULLY_CONNECTED", "MUL", "SUB"]
"""Kinds of operators that take in the clamps after them."""

_CLAMPS = {FLOAT: ["RELU", "RELU6"], INT16: ["QUANTIZE"]}


def padded(kind: str, r: Random) -> Case:
    """Draw an operator with windows, and take a frame off its image, which one or two paddings put there again."""
    drawn = CASES[kind](r)
    graph = drawn.graph
    image = graph.tensors[0]
    outer, inner = _frame(r, image.shape), None
    if r.integers(3) == 0:
        inner = _frame(r, _within(image.shape, outer))
    tensors, operators = [*graph.tensors], []
    source = 0
    for frame in filter(None, (outer, inner)):
        smaller = len(tensors)
        tensors.append(replace(image, name=f"image{smaller}", shape=_within(tensors[source].shape, frame)))
        more = [constant(f"paddings{smaller}", np.array(frame, np.int32))]
        if r.integers(3) == 0:
            more.append(_value(r, image))
        inputs = (smaller, *range(len(tensors), len(tensors) + len(more)))
        tensors += more
        operators.append(Operator("PADV2" if len(more) > 1 else "PAD", inputs, (source,)))
        source = smaller
    return case_of(r, graph, tensors, [*reversed(operators), *graph.operators], {0: source})


def _frame(r: Random, shape: tuple[int, ...]) -> list[list[int]]:
    """Draw pixels to take away, so that one is left along each axis."""
    cut = [[0, 0]]
    for size in shape[1:3]:
        before = span(r, 0, min(2, size - 1))
        cut.append([before, span(r, 0, min(2, size - 1 - before))])
    return [*cut, [0, 0]]


def _within(shape: tuple[int, ...], frame: list[list[int]]) -> tuple[int, ...]:
    return tuple(size - sum(pair) for size, pair in zip(shape, frame, strict=True))


def _value(r: Random, image: Tensor) -> Tensor:
    if image.dtype is FLOAT:
        return constant("value", np.array([pick(r, [0.0, 0.0, -1.5, -3.0e38])], np.float32))
    q = image.quantization
    assert q is not None
    value = pick(r, [q.zero_points[0], -128, span(r, -128, 127)])
    return constant("value", np.array([value], image.dtype.numpy), q.scales, q.zero_points)


def clamped(kind: str, r: Random) -> Case:
    """Draw an operator, and one to three clamps behind it."""
    graph = _drawn(kind, r, INT8, FLOAT)
    tensors, operators = [*graph.tensors], [*graph.operators]
    last = graph.outputs[0]
    odds = 8 if "POOL" in kind else 2  # poolings take in no clamp that changes the zero point or the scale
    for number in range(span(r, 1, 3)):
        tensor = tensors[last]
        kinds = _CLAMPS.get(tensor.dtype, ["RELU", "RELU6", "QUANTIZE", "QUANTIZE"])
        clamp, shifted = pick(r, kinds), tensor.quantization
        if shifted is not None and clamp != "RELU6" and r.integers(odds) == 0:
            scale = pick(r, [shifted.scales[0]] * 4 + [shifted.scales[0] * 2])
            shifted = Quantization((scale,), (0 if tensor.dtype is INT16 else span(r, -128, 127),))
        tensors.append(replace(tensor, name=f"clamped{number}", quantization=shifted))
        operators.append(Operator(clamp, (last,), (len(tensors) - 1,)))
        last = len(tensors) - 1
    return case_of(r, graph, tensors, operators, {}, last)


def bounded(kind: str, r: Random) -> Case:
    """Draw an operator on int8, and one or two bounds behind it."""
    graph = _drawn(kind, r, INT8)
    tensors, operators = [*graph.tensors], [*graph.operators]
    last = graph.outputs[0]
    q = tensors[last].quantization
    assert q is not None
    for bound in pick(r, [["MINIMUM"], ["MAXIMUM", "MINIMUM"], ["MINIMUM", "MAXIMUM"]]):
        value = np.array([span(r, -128, 127)], np.int8)
        tensors += [constant(bound, value, q.scales, q.zero_points), replace(tensors[last], name=f"{bound}s")]
        inputs = [last, len(tensors) - 2]
        r.shuffle(inputs)
        last = len(tensors) - 1
        operators.append(Operator(bound, tuple(inputs), (last,)))
    return case_of(r, graph, tensors, operators, {}, last)


def _drawn(kind: str, r: Random, *types: DType) -> Subgraph:
    """Draw an operator until its output has one of these types."""
    return next(graph for graph in (CASES[kind](r).graph for _ in range(99)) if graph.tensors[-1].dtype in types)


def case_of(
    r: Random,
    graph: Subgraph,
    tensors: list[Tensor],
    operators: list[Operator],
    moved: dict[int, int],
    output: int | None = None,
) -> Case:
    """Put a model together, and draw its inputs; `moved` are those that other tensors stand for now."""
    inputs = tuple(moved.get(index, index) for index in graph.inputs)
    outputs = graph.outputs if output is None else (output,)
    placed = tuple(replace(op, position=position) for position, op in enumerate(operators))
    computed = Subgraph("main", tuple(tensors), inputs, outputs, placed)
    return Case(computed, tuple(values(r, computed.tensors[index]) for index in inputs))


def tensors_of(graph: Subgraph, inputs: tuple[Array, ...], runner: Runner) -> dict[int, Array]:
    """Run all operators of a graph, in both directions where kernels have both; return what they write."""
    known = dict(zip(graph.inputs, inputs, strict=True))
    for op in graph.operators:
        given = tuple(dict.fromkeys(t for t in op.inputs if t is not None and not graph.tensors[t].is_constant))
        alone = replace(graph, inputs=given, outputs=op.outputs, operators=(op,))
        if op.kind == "VIEW":
            known[op.outputs[0]] = known[given[0]].reshape(graph.tensors[op.outputs[0]].shape)
            continue
        kernel = library.kernel(op, alone)
        assert isinstance(kernel, Kernel), (op, kernel)
        for each in filter(None, (kernel, kernel.backward)):
            output = runner.run(alone, each, [known[t] for t in given])
            for tensor, value in zip(op.outputs, output, strict=True):
                np.testing.assert_array_equal(known.setdefault(tensor, value), value)
    return known


def compare(cases: list[Case], runner: Runner) -> list[Subgraph]:
    """Compare outputs, and return the rewritten graphs."""
    answers = oracle.outputs([(flatfile(case.graph), list(case.inputs)) for case in cases])
    graphs = []
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        assert not isinstance(answer, str), f"case {number}: {answer}"
        graph = rewrite(Model("m", (case.graph,))).model.main
        known = tensors_of(graph, case.inputs, runner)
        for tensor, expected in zip(graph.outputs, answer, strict=True):
            output, message = known[tensor], f"case {number}: {graph.operators}"
            if output.dtype.kind == "f":
                np.testing.assert_allclose(output, expected.reshape(output.shape), 1e-5, 1e-5, err_msg=message)
            else:
                np.testing.assert_array_equal(output, expected.reshape(output.shape), message)
        graphs.append(graph)
    return graphs
