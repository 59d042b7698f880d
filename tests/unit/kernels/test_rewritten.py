"""Rewritten models against TensorFlow Lite Micro, which runs them as they were: the outputs are the same."""

import os
import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.support.flatfile import flatfile
from tests.support.kernels import oracle
from tests.support.kernels.composites import REPEATS, dilated, enlarged, packed
from tests.support.kernels.drawing import FLOAT, INT8, Case, Random, activation, constant, pick, span
from tests.support.kernels.driver import Runner
from tests.support.kernels.rewritten import PRODUCERS, WINDOWS, bounded, case_of, clamped, compare, padded, tensors_of
from tests.support.tools import few, needs_gcc, needs_oracle
from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.operators.binary import Binary
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.reductions import Softmax
from usmp_build.operators.slicing import StridedSlice
from usmp_build.operators.sums import BatchMatMul, Conv2D
from usmp_build.passes import rewrite

COUNT = int(os.environ.get("USMP_CASES", "60"))

pytestmark = [
    needs_gcc,
    needs_oracle,
]


def drawn(make: Callable[[str, Random], Case], kind: str) -> list[Case]:
    return [make(kind, np.random.default_rng([zlib.crc32(kind.encode()), i])) for i in range(COUNT)]


@pytest.mark.parametrize("kind", WINDOWS)
def test_paddings_become_frames(kind: str, runner: Runner) -> None:
    graphs = compare(drawn(padded, kind), runner)
    framed = [graph for graph in graphs if any(getattr(op.options, "frame", None) for op in graph.operators)]
    assert len(framed) >= COUNT // 20
    if kind == "AVERAGE_POOL_2D":
        assert any(op.options.outside for graph in framed for op in graph.operators if isinstance(op.options, Pool2D))


@pytest.mark.parametrize("kind", few(PRODUCERS, 3))
def test_clamps_go_into_the_operator_before(kind: str, runner: Runner) -> None:
    graphs = compare(drawn(clamped, kind), runner)
    assert sum(len(graph.operators) == 1 for graph in graphs) >= COUNT // 10
    if "POOL" not in kind:
        assert any(getattr(op.options, "limits", None) for graph in graphs for op in graph.operators)


@pytest.mark.parametrize("kind", few([*PRODUCERS, "SOFTMAX"], 3))
def test_bounds_go_into_the_operator_before_or_run(kind: str, runner: Runner) -> None:
    """SOFTMAX takes none in; a pooling over one element, which few cases have, leaves them alone: it vanishes."""
    cases = [bounded(kind, np.random.default_rng([9, zlib.crc32(kind.encode()), i])) for i in range(COUNT // 2)]
    graphs = compare(cases, runner)
    longest = max(sum(op.runs for op in graph.operators) for graph in graphs)
    assert longest in {"SOFTMAX": {3}, "AVERAGE_POOL_2D": {1, 2}, "MAX_POOL_2D": {1, 2}}.get(kind, {1})


def test_a_clamp_that_tflm_has_not_is_as_if_it_were_fused(runner: Runner) -> None:
    r = np.random.default_rng(3)
    ends = [activation(name, (4, 64), INT8, 0.02, zero) for name, zero in (("x", 3), ("between", -7), ("y", 20))]
    alone = (Operator("ADD", (0, 0), (1,), Binary(), 0), Operator("RELU_N1_TO_1", (1,), (2,), None, 1))
    fused = (Operator("ADD", (0, 0), (2,), Binary(o.Activation.RELU_N1_TO_1), 0),)
    data = r.integers(-128, 128, (4, 64), np.int8)
    ((expected,),) = oracle.outputs([(flatfile(Subgraph("main", tuple(ends), (0,), (2,), fused)), [data])])
    graph = rewrite(Model("m", (Subgraph("main", tuple(ends), (0,), (2,), alone),))).model.main
    np.testing.assert_array_equal(tensors_of(graph, (data,), runner)[2], expected)


def test_identities_duplicates_and_dead_operators(runner: Runner) -> None:
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
    example = case_of(r, graph, tensors, operators, {})
    (left,) = compare([example], runner)
    assert [op.kind for op in left.operators] == ["VIEW", "ADD", "ADD"]
    assert left.operators[-1].inputs == (j, j)


@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_convolutions_of_the_pixels_of_blocks_are_dilated(kind: str, rank: int, runner: Runner) -> None:
    """Most of them: others cut off more than was padded."""
    graphs = compare([dilated(kind, np.random.default_rng([rank, i]), rank) for i in range(COUNT)], runner)
    kinds = [[op.kind for op in graph.operators if op.runs] for graph in graphs]
    assert sum("BATCH_TO_SPACE_ND" not in each for each in kinds) >= COUNT // 4
    assert ["PADV2", kind] in kinds
    assert any(getattr(op.options, "frame", None) for graph in graphs for op in graph.operators)


@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize("kind", REPEATS)
def test_pixels_that_are_repeated_are_a_larger_image(kind: str, rank: int, runner: Runner) -> None:
    cases = [enlarged(kind, np.random.default_rng([rank, i]), rank) for i in range(COUNT // 2)]
    cases += [packed(np.random.default_rng(i)) for i in range(COUNT // 10)] if kind == "CONCATENATION" else []
    for case in cases:
        graph = rewrite(Model("m", (case.graph,))).model.main
        assert [op.kind for op in graph.operators if op.runs] == ["RESIZE_NEAREST_NEIGHBOR"]
        (output,) = graph.outputs
        expected = tensors_of(case.graph, case.inputs, runner)[output]
        np.testing.assert_array_equal(tensors_of(graph, case.inputs, runner)[output], expected)


@pytest.mark.parametrize("needed", range(3))
def test_a_split_with_one_part_read_becomes_a_slice(needed: int, runner: Runner) -> None:
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
    for graph in compare(cases, runner):
        assert [op.kind for op in graph.operators] == ["STRIDED_SLICE"]


def test_constants_are_computed_before(runner: Runner) -> None:
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
    (left,) = compare([case], runner)
    assert [op.kind for op in left.operators] == ["CONV_2D", "ADD"]


@pytest.mark.parametrize("dtype", [INT8, DType.INT16])
def test_there_and_back_is_nothing(dtype: DType, runner: Runner) -> None:
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
    for graph in compare(cases, runner):
        assert [op.kind for op in graph.operators] == ["RESHAPE"]  # from an input to an output, it is a copy


def test_constant_channels_in_a_frame(runner: Runner) -> None:
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
    for graph in compare(cases, runner):
        assert len(graph.operators) == 2
        assert getattr(graph.operators[1].options, "frame", None) == (1, 1, 1, 1)


def attention(r: Random) -> Case:
    """Draw an attention: queries, keys and values as inputs, of which heads become an axis before that of tokens."""
    dtype, turned = pick(r, [INT8, INT8, DType.INT16, FLOAT]), bool(r.integers(2))
    tokens, others, groups, depth = span(r, 2, 7), span(r, 1, 9), span(r, 1, 4), span(r, 1, 6)
    zero, steps = (span(r, -9, 9), 256) if dtype is INT8 else (0, 32768)

    def tensor(name: str, *shape: int, scale: float = 0.05, zero: int = zero) -> Tensor:
        return activation(name, shape, dtype, scale, zero)

    tensors = [
        tensor("q", 1, tokens, groups, depth),
        *(tensor(name, 1, others, groups, depth) for name in "kv"),
        tensor("y", 1, tokens, groups, depth, scale=0.04),
        tensor("qs", 1, groups, tokens, depth),
        tensor("ks", 1, groups, *((others, depth) if turned else (depth, others))),
        tensor("scores", 1, groups, tokens, others, scale=0.1),
        tensor("weights", 1, groups, tokens, others, scale=1 / steps, zero=-128 if dtype is INT8 else 0),
        tensor("vs", 1, groups, others, depth),
        tensor("mixed", 1, groups, tokens, depth, scale=0.04),
        constant("heads", np.array([0, 2, 1, 3], np.int32)),
        constant("columns", np.array([0, 2, 3, 1], np.int32)),
    ]
    operators = [
        Operator("TRANSPOSE", (0, 10), (4,)),
        Operator("TRANSPOSE", (1, 10 if turned else 11), (5,)),
        Operator("BATCH_MATMUL", (4, 5), (6,), BatchMatMul(adj_y=turned)),
        Operator("SOFTMAX", (6,), (7,), Softmax(1.0)),
        Operator("TRANSPOSE", (2, 10), (8,)),
        Operator("BATCH_MATMUL", (7, 8), (9,), BatchMatMul()),
        Operator("TRANSPOSE", (9, 10), (3,)),
    ]
    if r.integers(2):  # products lack the leading axis, behind views
        operators = _without_leading_axis(tensors, operators)
    return case_of(r, Subgraph("main", tuple(tensors), (0, 1, 2), (3,), ()), tensors, operators, {})


def _without_leading_axis(tensors: list[Tensor], operators: list[Operator]) -> list[Operator]:
    """Give tensors 4 to 9 views that lack the leading axis, and let products read and write these."""
    first = len(tensors)
    flat = {index: first + number for number, index in enumerate(range(4, 10))}
    tensors += [replace(tensors[index], shape=tensors[index].shape[1:], name=f"flat {index}") for index in flat]

    def moved(op: Operator) -> Operator:
        if op.kind == "TRANSPOSE":
            return op
        inputs, outputs = (tuple(flat.get(t or 0, t or 0) for t in each) for each in (op.inputs, op.outputs))
        return replace(op, inputs=inputs, outputs=outputs)

    queries, keys, scores, weights, values, mixed, back = map(moved, operators)
    views = {index: Operator("RESHAPE", (index,), (flat[index],)) for index in (4, 5, 8)}
    last = Operator("RESHAPE", (flat[9],), (9,))
    return [queries, views[4], keys, views[5], scores, weights, values, views[8], mixed, last, back]


def test_heads_are_multiplied_where_they_are(runner: Runner) -> None:
    graphs = compare([attention(np.random.default_rng([7, i])) for i in range(COUNT // 2)], runner)
    moved = [graph for graph in graphs if any(getattr(op.options, "output_axes", None) for op in graph.operators)]
    assert not any(op.kind == "TRANSPOSE" for graph in moved for op in graph.operators)
    assert len(moved) >= COUNT // 4  # a single head is a view
