"""Models of uint8 run in int8: the same numbers, 128 less.

TensorFlow Lite Micro has no kernels of uint8.  Most operators make of it what its int8 makes of values and zero points
that are 128 less; what LiteRT's reference kernels compute in another way has its definition here.
"""

import zlib
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from tests.support.flatfile import flatfile
from tests.support.kernels import oracle
from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import Array, Case, activation, case, constant
from tests.support.kernels.driver import Runner
from tests.support.kernels.sums import near_ties
from tests.support.road import model
from tests.support.tools import few, needs_gcc, needs_oracle
from tests.support.uint8 import as_uint8, computed
from usmp_build.interfaces.kernels import NoKernel
from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.ir.options import Activation, Padding
from usmp_build.kernels.reference import library
from usmp_build.operators import uint8 as kinds
from usmp_build.operators.detection import DETECTION
from usmp_build.operators.joining import Concatenation
from usmp_build.operators.pooling import Pool2D
from usmp_build.operators.sums import Conv2D
from usmp_build.passes import rewrite
from usmp_build.passes.rewrite.pins import Pins

UINT8 = DType.UINT8
step = import_module("usmp_build.passes.rewrite.uint8").uint8
ELSEWHERE = {"AVERAGE_POOL_2D", DETECTION, "SELECT", "TILE"}
"""What is tested below; and what TensorFlow Lite Micro lacks."""
KINDS = sorted((kinds._COMPUTED | kinds._MOVED) & CASES.keys() - ELSEWHERE)


def is_quantized_int8(tensor: Tensor) -> bool:
    return tensor.dtype is DType.INT8 and tensor.quantization is not None


def cases(kind: str, count: int) -> list[Case]:
    """Cases of int8 of which uint8 has an equal: no other types, and one scale for each tensor."""
    chosen = []
    for seed in range(40 * count):
        example = CASES[kind](np.random.default_rng([zlib.crc32(kind.encode()), seed]))
        tensors = [replace(t, quantization=_one_scale(t.quantization)) for t in example.graph.tensors]
        graph = replace(example.graph, tensors=tuple(tensors))
        types = {tensor.dtype for tensor in tensors}
        has_int8 = any(map(is_quantized_int8, tensors)) and not types & {DType.INT16, DType.INT4}
        if has_int8 and not kinds.difference(graph.operators[0], as_uint8(graph)):
            chosen.append(Case(graph, example.inputs))
        if len(chosen) == count:
            break
    return chosen


def _one_scale(quantization: Quantization | None) -> Quantization | None:
    return quantization and Quantization(quantization.scales[:1], quantization.zero_points[:1])


def unsigned(values: Array, tensor: Tensor) -> Array:
    return (values ^ -128).view(np.uint8) if is_quantized_int8(tensor) else values


@needs_gcc
@needs_oracle
@pytest.mark.parametrize("kind", few(KINDS, 24))
def test_int8_makes_the_same_numbers(kind: str, runner: Runner) -> None:
    drawn = cases(kind, 20)
    assert drawn
    answers = oracle.outputs([(flatfile(each.graph), list(each.inputs)) for each in drawn])
    for each, answer in zip(drawn, answers, strict=True):
        assert not isinstance(answer, str), answer
        tensors = each.graph.tensors
        graph = step(Model("m", (as_uint8(each.graph),))).main
        given = [unsigned(a, tensors[t]) for a, t in zip(each.inputs, each.graph.inputs, strict=True)]
        for output, expected, t in zip(computed(graph, runner, given), answer, each.graph.outputs, strict=True):
            if output.dtype == np.float32:
                np.testing.assert_allclose(output, expected.reshape(output.shape), 1e-5, 1e-6)
            else:
                np.testing.assert_array_equal(output, unsigned(np.asarray(expected), tensors[t]).reshape(output.shape))


def run(graph: Subgraph, runner: Runner, *inputs: Array) -> Array:
    """Return the only output, after all rewrites have been applied."""
    (output,) = computed(rewrite(Model("m", (graph,))).model.main, runner, inputs)
    return output


@needs_gcc
@pytest.mark.parametrize("window", [(1, 2), (2, 2), (3, 3)])
@pytest.mark.parametrize("padding", Padding)
@pytest.mark.parametrize("act", [Activation.NONE, Activation.RELU, Activation.RELU6])
def test_averages_round_halves_up(window: tuple[int, int], padding: Padding, act: Activation, runner: Runner) -> None:
    """Those of int8 round them away from 0, which is the value 128 here."""
    r, size = np.random.default_rng(1), 6
    pixels = r.integers(0, 256, (1, size, size, 2), np.uint8)
    ends = [size if padding is Padding.SAME else size - length + 1 for length in window]
    source, output = (activation(n, (1, *s, 2), UINT8, 0.05, 100) for n, s in (("x", (size, size)), ("y", ends)))
    example = case(r, "AVERAGE_POOL_2D", [source], output, Pool2D(padding, 1, 1, *window, act))
    before = [(length - 1) // 2 if padding is Padding.SAME else 0 for length in window]
    expected = np.empty(output.shape, np.int64)
    for y, x in np.ndindex(*ends):
        rows, columns = (slice(max(0, at - b), at - b + n) for at, b, n in zip((y, x), before, window, strict=True))
        inside = pixels[0, rows, columns].reshape(-1, 2).astype(np.int64)
        expected[0, y, x] = (inside.sum(axis=0) + len(inside) // 2) // len(inside)
    low, high = {Activation.NONE: (0, 255), Activation.RELU: (100, 255), Activation.RELU6: (100, 220)}[act]
    np.testing.assert_array_equal(run(example.graph, runner, pixels), expected.clip(low, high))


@needs_gcc
def test_scales_of_a_convolution_are_multiplied_in_float32(runner: Runner) -> None:
    """In LiteRT, for uint8 only: sums just below and above a half tell the factors' last bits apart."""
    differ = 0
    for seed in range(10):
        example = near_ties(np.random.default_rng(seed), "FULLY_CONNECTED")
        x, weights, bias, y = example.graph.tensors
        tensors = (x, replace(weights, shape=(400, 1, 1, 1)), bias, y)
        op = Operator("CONV_2D", (0, 1, 2), (3,), Conv2D(), 0)
        graph = replace(as_uint8(replace(example.graph, tensors=tensors)), operators=(op,))
        one, other, result = (np.float32(t.quantization.scales[0]) for t in (x, weights, y) if t.quantization)
        sums, point = bias.as_array(), graph.tensors[3].quantization.zero_points[0]  # type: ignore[union-attr]
        expected = [scaled(int(each), float(one * other) / float(result)) + point for each in sums]
        differ += expected != [scaled(int(each), float(one) * float(other) / float(result)) + point for each in sums]
        given = example.inputs[0].view(np.uint8)
        np.testing.assert_array_equal(run(graph, runner, given).ravel(), np.clip(expected, 0, 255))
    assert differ


def scaled(value: int, real: float) -> int:
    """MultiplyByQuantizedMultiplier of a factor below 1: the product is rounded to 31 bits, then the shift is."""
    mantissa, exponent = np.frexp(real)
    multiplier = round(float(mantissa) * 2**31)
    product, right = value * multiplier, -int(exponent)
    whole = (product + (1 << 30)) >> 31 if product >= 0 else -((-product - 1 + (1 << 30)) >> 31)
    rest, half = whole & ((1 << right) - 1), ((1 << right) - 1 >> 1) + (whole < 0)
    return (whole >> right) + (rest > half)


@needs_gcc
def test_parts_of_a_concatenation_come_to_its_scale(runner: Runner) -> None:
    r = np.random.default_rng(1)
    every = np.arange(256, dtype=np.uint8).reshape(1, 256)
    kinds = [(0.05, 100), (0.1, 100), (0.025, 7), (0.033, 255), (1.0, 0)]
    sources = [activation(f"x{i}", (1, 256), UINT8, *kind) for i, kind in enumerate(kinds)]
    output = activation("y", (1, 256 * len(kinds)), UINT8, 0.05, 100)
    example = case(r, "CONCATENATION", sources, output, Concatenation(axis=1))
    expected = []
    for scale, point in kinds:
        factor = np.float32(scale) * (np.float32(1) / np.float32(0.05))
        reals = every.astype(np.float32) * factor + np.float32(-point) * factor
        expected.append(np.clip(np.copysign(np.floor(np.abs(reals) + 0.5), reals) + 100, 0, 255))
    np.testing.assert_array_equal(run(example.graph, runner, *[every] * len(kinds)), np.hstack(expected))


@needs_gcc
def test_boxes_of_uint8_are_the_floats_that_they_stand_for(runner: Runner) -> None:
    for seed in range(10):
        example = CASES[DETECTION](np.random.default_rng(seed))
        tensors, given, reals = list(example.graph.tensors), [], []
        for index, (scale, point) in enumerate([(0.03, 128), (1 / 256, 0), (0.1, 3)]):
            values = example.inputs[index] if index < 2 else tensors[index].as_array()
            scale = float(np.float32(scale))
            steps = np.clip(np.round(values / scale) + point, 0, 255).astype(np.uint8)
            data = None if index < 2 else steps.tobytes()
            quantization = Quantization((scale,), (point,))
            tensors[index] = replace(tensors[index], dtype=UINT8, quantization=quantization, data=data)
            given.append(steps)
            reals.append((np.float32(scale) * (steps.astype(np.float32) - point)).astype(np.float32))
        floats = replace(example.graph.tensors[2], data=reals[2].tobytes())
        plain = replace(example.graph, tensors=(*example.graph.tensors[:2], floats, *example.graph.tensors[3:]))
        quantized = rewrite(Model("m", (replace(example.graph, tensors=tuple(tensors)),))).model.main
        expected = computed(plain, runner, reals[:2])
        for one, other in zip(computed(quantized, runner, given[:2]), expected, strict=True):
            np.testing.assert_array_equal(one, other)


SUMS = """
  %0 "x" uint8[8] scale=0.1 zero=3
  %1 "a" uint8[8] scale=0.1 zero=3
  %2 "b" uint8[8] scale=0.1 zero=3
  %3 "y" uint8[8] scale=0.1 zero=3
  %4 "c" uint8[8] scale=0.1 zero=130 = [1, 2, 3, 4, 5, 6, 7, 255]
"""
PORTS = "  inputs %0\n  outputs %3\n"


def test_ports_keep_their_type_and_all_else_is_of_int8() -> None:
    text = f"{SUMS}{PORTS}  %1 = ADD(%0, %4) @0\n  %2 = ADD(%1, %0) @1\n  %3 = MUL(%2, %2) @2\n"
    graph = step(model(text)).main
    assert [(op.kind, op.inputs, op.outputs, op.position) for op in graph.operators] == [
        ("QUANTIZE", (0,), (5,), 3),
        ("ADD", (5, 4), (1,), 0),
        ("ADD", (1, 5), (2,), 1),
        ("MUL", (2, 2), (6,), 2),
        ("QUANTIZE", (6,), (3,), 4),
    ]
    looks = [(t.dtype, t.quantization.zero_points) for t in graph.tensors if t.quantization]
    assert looks == [(UINT8, (3,)), *[(DType.INT8, (-125,))] * 2, (UINT8, (3,)), (DType.INT8, (2,)), *looks[1:3]]
    assert graph.tensors[4].as_array().tolist() == [-127, -126, -125, -124, -123, -122, -121, 127]


@pytest.mark.parametrize(
    ("body", "pins"),
    [
        ("  %1 = RESHAPE(%0) @0\n  %3 = QUANTIZE(%1) @1\n", Pins()),
        ("  %3 = ADD(%0, %0) @0\n", Pins(as_stored=frozenset({(0, 0)}))),
        ("  %3 = RESIZE_BILINEAR(%0) @0\n", Pins()),
    ],
    ids=["bytes are only moved", "a function of the application", "int8 differs"],
)
def test_what_does_not_need_it_stays(body: str, pins: Pins) -> None:
    text = SUMS.replace('%3 "y" uint8[8] scale=0.1 zero=3', '%3 "y" int8[8] scale=0.1 zero=-125')
    stays = model(f"{text}{PORTS}{body}")
    assert step(stays, pins) == stays


def test_what_others_take_as_it_is_stays_beside() -> None:
    """A function of the application gets the constant and the sum as uint8; the rest does not."""
    text = f'{SUMS}{PORTS}  %1 = ADD(%0, %4) @0\n  %2 = "CUSTOM:OWN"(%1, %4) @1\n  %3 = ADD(%2, %1) @2\n'
    graph = step(model(text)).main
    (own,) = [op for op in graph.operators if op.kind == "CUSTOM:OWN"]
    assert [graph.tensors[t].dtype for t in (*own.inputs, *own.outputs) if t is not None] == [UINT8] * 3
    sums = [graph.tensors[op.outputs[0]].dtype for op in graph.operators if op.kind == "ADD"]
    assert sums == [DType.INT8] * 2
    assert graph.tensors[4].data == model(text).main.tensors[4].data


@pytest.mark.parametrize(
    ("point", "values", "kept"),
    [
        (128, [0, 255], [-128, 127]),
        (122, [0, 249], [-122, 127]),
        (122, [0, 250], None),
        (0, [0, 128], None),
        (200, [72, 255], [-128, 55]),
        (200, [71, 255], None),
    ],
)
def test_weights_become_what_they_are_from_their_zero_point(
    point: int, values: list[int], kept: list[int] | None
) -> None:
    weights = constant("w", np.array(values, np.uint8).reshape(1, 1, 1, 2), [0.5], [point])
    x, y = (activation(n, (1, 4, 4, c), UINT8, 0.1, 7) for n, c in (("x", 2), ("y", 1)))
    graph = case(np.random.default_rng(1), "CONV_2D", [x, weights], y, Conv2D()).graph
    after = step(Model("m", (graph,))).main
    if kept is None:
        assert after == graph
        assert f"from their zero point, {point}, and only those around 128" in kinds.difference(
            graph.operators[0], graph
        )
    else:
        assert after.tensors[1].as_array().ravel().tolist() == kept
        assert after.tensors[1].quantization.zero_points == (0,)  # type: ignore[union-attr]


def test_weights_of_another_type_are_left_alone() -> None:
    weights = constant("w", np.zeros((1, 1, 1, 2), np.int8), [0.5])
    x, y = (activation(n, (1, 4, 4, c), UINT8, 0.1, 7) for n, c in (("x", 2), ("y", 1)))
    graph = case(np.random.default_rng(1), "CONV_2D", [x, weights], y, Conv2D()).graph
    assert step(Model("m", (graph,))).main == graph
    assert kinds.difference(graph.operators[0], graph) == "its weights are of INT8"


def test_an_average_at_another_zero_point_is_refused_as_one_of_int8_is() -> None:
    """In int16 its zero points would be lost."""
    x, y = (activation(n, (1, 2, 2, 1), UINT8, 0.1, zero) for n, zero in (("x", 7), ("y", 8)))
    graph = case(np.random.default_rng(1), "AVERAGE_POOL_2D", [x], y, Pool2D(Padding.SAME, 1, 1, 2, 2)).graph
    after = step(Model("m", (graph,))).main
    assert [op.kind for op in after.operators] == ["QUANTIZE", "AVERAGE_POOL_2D", "QUANTIZE"]
    assert library.kernel(after.operators[1], after) == NoKernel("its input and output are quantized in different ways")


@pytest.mark.parametrize("scales", [(1e-30, 1e30), (3e38, 1e-38), (0.0, 0.1)])
def test_scales_of_no_use_break_nothing(scales: tuple[float, float]) -> None:
    sources = [activation(f"x{i}", (1, 4), UINT8, scale, 3) for i, scale in enumerate(scales)]
    joined = activation("y", (1, 8), UINT8, scales[1], 3)
    parts = case(np.random.default_rng(1), "CONCATENATION", sources, joined, Concatenation(axis=1)).graph
    assert rewrite(Model("m", (parts,))).model.main.outputs == parts.outputs
    weights = constant("w", np.full((1, 1, 1, 1), 130, np.uint8), [scales[0]], [128])
    x, y = (activation(n, (1, 4, 4, 1), UINT8, scales[0], 7) for n in "xy")
    convolution = case(np.random.default_rng(1), "CONV_2D", [x, weights], y, Conv2D()).graph
    assert rewrite(Model("m", (convolution,))).model.main.outputs == convolution.outputs
