"""Rewritten models against TensorFlow Lite Micro, which runs them as they were: the outputs are the same."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.unit.kernels import oracle
from tests.unit.kernels.cases import CASES
from tests.unit.kernels.drawing import (
    FLOAT,
    INT8,
    Array,
    Case,
    Random,
    activation,
    constant,
    pick,
    span,
    values,
)
from tests.unit.kernels.driver import Runner, build
from tests.unit.kernels.flatfile import flatfile
from usmp_build.interfaces.kernels import Kernel
from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.kernels.reference import library
from usmp_build.operators.binary import Binary
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.slicing import StridedSlice
from usmp_build.operators.sums import Conv2D
from usmp_build.passes import rewrite

COUNT = int(os.environ.get("USMP_CASES", "60"))
WINDOWS = ["CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"]
PRODUCERS = [*WINDOWS, "ADD", "FULLY_CONNECTED", "MUL", "SUB"]

pytestmark = [
    pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed"),
    pytest.mark.skipif(not oracle.AVAILABLE, reason="tflite-micro is not installed"),
]


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(build(tmp_path_factory.mktemp("rewritten"), "-O2"))


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
    return constant("value", np.array([value], np.int8), q.scales, q.zero_points)


def clamped(kind: str, r: Random) -> Case:
    """Draw an operator, and one to three clamps behind it."""
    graph = CASES[kind](r).graph
    tensors, operators = [*graph.tensors], [*graph.operators]
    last = graph.outputs[0]
    for number in range(span(r, 1, 3)):
        tensor = tensors[last]
        kinds = ["RELU", "RELU6"] if tensor.dtype is FLOAT else ["RELU", "RELU6", "QUANTIZE", "QUANTIZE"]
        clamp, shifted = pick(r, kinds), tensor.quantization
        if shifted is not None and clamp != "RELU6" and r.integers(2):
            scale = pick(r, [shifted.scales[0]] * 4 + [shifted.scales[0] * 2])
            shifted = Quantization((scale,), (span(r, -128, 127),))
        tensors.append(replace(tensor, name=f"clamped{number}", quantization=shifted))
        operators.append(Operator(clamp, (last,), (len(tensors) - 1,)))
        last = len(tensors) - 1
    return case_of(r, graph, tensors, operators, {}, last)


def bounded(kind: str, r: Random) -> Case:
    """Draw an operator on int8, and one or two bounds behind it."""
    graph = next(graph for graph in (CASES[kind](r).graph for _ in range(99)) if graph.tensors[-1].dtype is INT8)
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


def case_of(
    r: Random,
    graph: Subgraph,
    tensors: list[Tensor],
    operators: list[Operator],
    moved: dict[int, int],
    output: int | None = None,
) -> Case:
    inputs = tuple(moved.get(index, index) for index in graph.inputs)
    outputs = graph.outputs if output is None else (output,)
    placed = tuple(replace(op, position=position) for position, op in enumerate(operators))
    made = Subgraph("main", tuple(tensors), inputs, outputs, placed)
    return Case(made, tuple(values(r, made.tensors[index]) for index in inputs))


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
            made = runner.run(alone, each, [known[t] for t in given])
            for tensor, value in zip(op.outputs, made, strict=True):
                np.testing.assert_array_equal(known.setdefault(tensor, value), value)
    return known


def compare(cases: list[Case], runner: Runner, folder: Path) -> list[Subgraph]:
    """Compare outputs, and return the rewritten graphs."""
    answers = oracle.outputs([(flatfile(case.graph), list(case.inputs)) for case in cases], folder)
    graphs = []
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        assert not isinstance(answer, str), f"case {number}: {answer}"
        graph = rewrite(Model("m", (case.graph,))).model.main
        known = tensors_of(graph, case.inputs, runner)
        for tensor, expected in zip(graph.outputs, answer, strict=True):
            made, message = known[tensor], f"case {number}: {graph.operators}"
            if made.dtype.kind == "f":
                np.testing.assert_allclose(made, expected.reshape(made.shape), 1e-5, 1e-5, err_msg=message)
            else:
                np.testing.assert_array_equal(made, expected.reshape(made.shape), message)
        graphs.append(graph)
    return graphs


def drawn(make: Callable[[str, Random], Case], kind: str) -> list[Case]:
    return [make(kind, np.random.default_rng([zlib.crc32(kind.encode()), i])) for i in range(COUNT)]


@pytest.mark.parametrize("kind", WINDOWS)
def test_paddings_become_frames(kind: str, runner: Runner, tmp_path: Path) -> None:
    graphs = compare(drawn(padded, kind), runner, tmp_path)
    framed = [graph for graph in graphs if any(getattr(op.options, "frame", None) for op in graph.operators)]
    assert len(framed) >= COUNT // 20
    if kind == "AVERAGE_POOL_2D":
        assert any(op.options.outside for graph in framed for op in graph.operators if isinstance(op.options, Pool2D))


@pytest.mark.parametrize("kind", PRODUCERS)
def test_clamps_go_into_the_operator_before(kind: str, runner: Runner, tmp_path: Path) -> None:
    graphs = compare(drawn(clamped, kind), runner, tmp_path)
    assert sum(len(graph.operators) == 1 for graph in graphs) >= COUNT // 10
    if "POOL" not in kind:
        assert any(getattr(op.options, "limits", None) for graph in graphs for op in graph.operators)


@pytest.mark.parametrize("kind", [*PRODUCERS, "SOFTMAX"])
def test_bounds_go_into_the_operator_before_or_are_tables(kind: str, runner: Runner, tmp_path: Path) -> None:
    cases = [bounded(kind, np.random.default_rng([9, zlib.crc32(kind.encode()), i])) for i in range(COUNT // 2)]
    graphs = compare(cases, runner, tmp_path)
    lengths = {sum(op.runs for op in graph.operators) for graph in graphs}
    assert lengths <= ({1, 2} if kind == "SOFTMAX" else {1})


def test_a_clamp_that_tflm_has_not_is_as_if_it_were_fused(runner: Runner, tmp_path: Path) -> None:
    r = np.random.default_rng(3)
    ends = [activation(name, (4, 64), INT8, 0.02, zero) for name, zero in (("x", 3), ("between", -7), ("y", 20))]
    alone = (Operator("ADD", (0, 0), (1,), Binary(), 0), Operator("RELU_N1_TO_1", (1,), (2,), None, 1))
    fused = (Operator("ADD", (0, 0), (2,), Binary(o.Activation.RELU_N1_TO_1), 0),)
    data = r.integers(-128, 128, (4, 64), np.int8)
    ((expected,),) = oracle.outputs([(flatfile(Subgraph("main", tuple(ends), (0,), (2,), fused)), [data])], tmp_path)
    graph = rewrite(Model("m", (Subgraph("main", tuple(ends), (0,), (2,), alone),))).model.main
    np.testing.assert_array_equal(tensors_of(graph, (data,), runner)[2], expected)


def test_identities_duplicates_and_dead_operators(runner: Runner, tmp_path: Path) -> None:
    """One of each, in one model; what is left computes the outputs."""
    r = np.random.default_rng(1)
    image = (1, 4, 4, 2)
    shapes = {"x": image, "a": image, "b": image, "c": image, "d": (1, 2, 16), "e": (1, 16, 2), "y": (1, 2, 16)}
    tensors = [activation(name, shape, INT8, 0.1, -3) for name, shape in shapes.items()]
    tensors += [Tensor(name, (1, 2, 16), FLOAT) for name in "fg"]
    tensors += [activation(name, (1, 2, 16), INT8, 0.1, -3) for name in "hijklm"]
    tensors += [activation(name, image, INT8, 0.1, -3) for name in "n"]
    x, a, b, c, d, e, y, f, g, h, i, j, k, back, wide, smooth = range(len(tensors))
    constants = {
        "paddings": np.zeros((4, 2), np.int32),
        "shape": np.array([1, 2, 16], np.int32),
        "order": np.array([0, 2, 1], np.int32),
        "zeros": np.zeros(3, np.int32),
        "ends": np.array([1, 2, 16], np.int32),
        "ones": np.ones(3, np.int32),
        "size": np.array([4, 4], np.int32),
    }
    paddings, shape, order, zeros, ends, ones, size = range(len(tensors), len(tensors) + len(constants))
    tensors += [constant(name, data) for name, data in constants.items()]
    masks = StridedSlice()
    operators = [
        Operator("QUANTIZE", (x,), (a,)),
        Operator("MAX_POOL_2D", (a,), (b,), Pool2D()),
        Operator("RESIZE_BILINEAR", (b, size), (smooth,)),
        Operator("PAD", (smooth, paddings), (c,)),
        Operator("RESHAPE", (c, shape), (d,)),
        Operator("TRANSPOSE", (d, order), (e,)),
        Operator("TRANSPOSE", (e, order), (back,)),
        Operator("BROADCAST_TO", (back, ends), (wide,)),
        Operator("DEQUANTIZE", (d,), (f,)),
        Operator("QUANTIZE", (f,), (h,)),
        Operator("STRIDED_SLICE", (h, zeros, ends, ones), (i,), masks),
        Operator("ADD", (i, d), (j,), Binary()),
        Operator("ADD", (h, wide), (k,), Binary()),
        Operator("DEQUANTIZE", (j,), (g,)),
        Operator("ADD", (j, k), (y,), Binary()),
    ]
    graph = Subgraph("main", tuple(tensors), (x,), (y,), tuple(operators))
    made = case_of(r, graph, tensors, operators, {})
    (left,) = compare([made], runner, tmp_path)
    assert [op.kind for op in left.operators] == ["VIEW", "ADD", "ADD"]
    assert left.operators[-1].inputs == (j, j)


@pytest.mark.parametrize("needed", range(3))
def test_of_a_split_one_part_is_made(needed: int, runner: Runner, tmp_path: Path) -> None:
    cases = []
    for axis in range(4):
        r = np.random.default_rng(axis)
        whole = [2, 3, 4, 5]
        whole[axis] = 9
        part = [size if each != axis else 3 for each, size in enumerate(whole)]
        tensors = [activation("x", whole, INT8, 0.1, 4), *(activation(name, part, INT8, 0.1, 4) for name in "abc")]
        tensors.append(constant("axis", np.array(axis, np.int32)))
        split = [Operator("SPLIT", (4, 0), (1, 2, 3))]
        case = case_of(r, Subgraph("main", (), (0,), (), ()), tensors, split, {}, needed + 1)
        cases.append(case)
    for graph in compare(cases, runner, tmp_path):
        assert [op.kind for op in graph.operators] == ["STRIDED_SLICE"]


def test_constants_are_computed_before(runner: Runner, tmp_path: Path) -> None:
    """Weights in a smaller type, a bias that is transposed and cut out of a larger one, and one that is repeated."""
    r = np.random.default_rng(2)
    weights = r.integers(-127, 128, (4, 3, 3, 2), np.int8)
    constants = [
        constant("weights", weights, [0.01], [3]),
        constant("biases", r.normal(0, 1, (2, 4)).astype(np.float32)),
        constant("order", np.array([1, 0], np.int32)),
        constant("first", np.array([0, 1], np.int32)),
        constant("sizes", np.array([4, 1], np.int32)),
        constant("shape", np.array([4], np.int32)),
        constant("value", np.array(0.5, np.float32)),
    ]
    shapes = [("x", (1, 5, 5, 2)), ("real", weights.shape), ("turned", (4, 2)), ("cut", (4, 1)), ("bias", (4,))]
    shapes += [("more", (4,)), ("conv", (1, 5, 5, 4)), ("y", (1, 5, 5, 4))]
    tensors = [*(Tensor(name, shape, FLOAT) for name, shape in shapes), *constants]
    x, real, turned, cut, bias, more, conv, y, small, biases, order, first, sizes, shape, value = range(len(tensors))
    operators = [
        Operator("DEQUANTIZE", (small,), (real,)),
        Operator("TRANSPOSE", (biases, order), (turned,)),
        Operator("SLICE", (turned, first, sizes), (cut,)),
        Operator("RESHAPE", (cut, shape), (bias,)),
        Operator("CONV_2D", (x, real, bias), (conv,), Conv2D()),
        Operator("FILL", (shape, value), (more,)),
        Operator("ADD", (conv, more), (y,), Binary()),
    ]
    case = case_of(r, Subgraph("main", tuple(tensors), (x,), (y,), ()), tensors, operators, {})
    (left,) = compare([case], runner, tmp_path)
    assert [op.kind for op in left.operators] == ["CONV_2D", "ADD"]


@pytest.mark.parametrize("dtype", [INT8, DType.INT16])
def test_there_and_back_is_nothing(dtype: DType, runner: Runner, tmp_path: Path) -> None:
    """All values through DEQUANTIZE and QUANTIZE, at scales far apart, and zero points at the ends."""
    limits = np.iinfo(dtype.numpy)
    every = np.arange(limits.min, limits.max + 1, dtype=np.int64).astype(dtype.numpy)
    cases = []
    for scale in (1e-30, 0.0023, 0.1, 1 / 3, 7.7, 1e30):
        for zero_point in (limits.min, -1, limits.max) if dtype is INT8 else (0,):
            same = activation("x", every.shape, dtype, scale, int(zero_point))
            tensors = (same, Tensor("real", every.shape, FLOAT), replace(same, name="y"), replace(same, name="z"))
            back = (Operator("DEQUANTIZE", (0,), (1,), None, 0), Operator("QUANTIZE", (1,), (2,), None, 1))
            again = Operator("QUANTIZE", (2,), (3,), None, 2)
            cases.append(Case(Subgraph("main", tensors, (0,), (3,), (*back, again)), (every,)))
    for graph in compare(cases, runner, tmp_path):
        assert [op.kind for op in graph.operators] == ["RESHAPE"]  # from an input to an output, it is a copy


def test_constant_channels_in_a_frame(runner: Runner, tmp_path: Path) -> None:
    """Channels that are constant, at the zero point and beside it, padded, and read by a convolution with a frame."""
    cases = []
    for seed in range(20):
        r = np.random.default_rng(seed)
        points, scale = (span(r, -20, 20), span(r, -20, 20)), 0.05
        image = activation("x", (1, 5, 5, 3), INT8, scale, 0)
        between = activation("between", (1, 5, 5, 4), INT8, scale, points[0])
        padded_, output = (
            replace(between, name="padded", shape=(1, 7, 7, 4)),
            activation("y", (1, 5, 5, 2), INT8, 0.5, 3),
        )
        weights = r.integers(-20, 20, (4, 1, 1, 3), np.int8) * np.array([0, 1, 0, 1], np.int8).reshape(4, 1, 1, 1)
        more = [
            constant("weights", weights, [0.1] * 4),
            constant("bias", np.array([0, 40, pick(r, [0, 900]), 7], np.int32), [scale * 0.1] * 4),
            constant("paddings", np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
            constant("filters", r.integers(-90, 90, (2, 3, 3, 4), np.int8), [0.02] * 2),
            constant("biases", r.integers(-500, 500, 2).astype(np.int32), [scale * 0.02] * 2),
        ]
        operators = [
            Operator("CONV_2D", (0, 4, 5), (1,), Conv2D()),
            Operator("PAD", (1, 6), (2,)),
            Operator("CONV_2D", (2, 7, 8), (3,), Conv2D(o.Padding.VALID)),
        ]
        tensors = [image, between, padded_, output, *more]
        cases.append(case_of(r, Subgraph("main", tuple(tensors), (0,), (3,), ()), tensors, operators, {}))
    for graph in compare(cases, runner, tmp_path):
        assert len(graph.operators) == 2
        assert getattr(graph.operators[1].options, "frame", None) == (1, 1, 1, 1)
