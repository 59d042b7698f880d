"""Kernels of kinds that TensorFlow Lite Micro does not have, against their definition."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.support.flatfile import flatfile
from tests.support.kernels import oracle
from tests.support.kernels.drawing import Array, Case
from tests.support.kernels.driver import Runner
from tests.support.kernels.elements import casts_of_uint8, every_int8
from tests.support.kernels.litert import INTERPOLATED, WIDENED, of_int16, widened
from tests.support.kernels.pairs import FLOORED, floored_integers
from tests.support.kernels.samples import draw, kernel_of
from tests.support.tools import needs_gcc, needs_oracle
from usmp_build.ir.graph import Tensor
from usmp_build.ir.schedule import Direction
from usmp_build.operators.unary import Gelu

pytestmark = needs_gcc


REALS = {
    "EXP": np.exp,
    "GELU": lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "LOG": lambda x: np.log(np.maximum(x, 0)),
}
"""What TensorFlow Lite Micro has for float32 only, or not at all."""


def gelu_tanh(x: Array) -> Array:
    return np.asarray(x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def real(values: Array, tensor: Tensor) -> Array:
    """Return the real numbers that the elements of a tensor stand for."""
    if tensor.quantization is None:
        return values.astype(np.float64)
    return np.asarray(tensor.quantization.scales[0] * (values.astype(np.float64) - tensor.quantization.zero_points[0]))


def steps(values: Array, tensor: Tensor) -> Array:
    """Return real numbers as elements of a tensor."""
    assert tensor.quantization is not None
    limits = np.iinfo(tensor.dtype.numpy)
    real_steps = values / tensor.quantization.scales[0] + tensor.quantization.zero_points[0]
    return np.clip(real_steps, limits.min, limits.max)


def expected(case: Case) -> Array:
    (operator,) = case.graph.operators
    assert isinstance(operator.options, Gelu)
    function = gelu_tanh if operator.options.approximate else REALS["GELU"]
    return np.asarray(function(real(case.inputs[0], case.graph.tensors[0])))


@pytest.mark.long
def test_gelu_is_what_its_definition_says(runner: Runner) -> None:
    """Int8 is rounded: to the nearest step, or beside it where float32 is on the other side of a half."""
    for case in draw("GELU"):
        (output,) = runner.run(case.graph, kernel_of(case), case.inputs)
        if output.dtype == np.float32:
            np.testing.assert_allclose(output, expected(case), 1e-5, 1e-6)
        else:
            np.testing.assert_array_less(np.abs(output - steps(expected(case), case.graph.tensors[1])), 0.501)


@needs_oracle
def test_relu_0_to_1_is_relu_up_to_1(runner: Runner) -> None:
    """LiteRT brings integers to the output's scale as for RELU, which TensorFlow Lite Micro has."""
    cases = draw("RELU_0_TO_1")
    relus = [replace(case.graph, operators=(replace(case.graph.operators[0], kind="RELU"),)) for case in cases]
    answers = oracle.outputs([(flatfile(graph), list(case.inputs)) for graph, case in zip(relus, cases, strict=True)])
    for case, answer in zip(cases, answers, strict=True):
        assert not isinstance(answer, str), answer
        output = case.graph.tensors[1]
        one = 1 if output.quantization is None else np.round(steps(np.float64(1), output))
        (result,) = runner.run(case.graph, kernel_of(case), case.inputs)
        np.testing.assert_array_equal(result, np.minimum(answer[0], one).reshape(result.shape))


@pytest.mark.parametrize("kind", ["EXP", "LOG"])
def test_functions_of_int8_are_rounded_to_the_nearest_step(kind: str, runner: Runner) -> None:
    for seed in range(30):
        case = every_int8(np.random.default_rng(seed), kind)
        source, output = case.graph.tensors
        with np.errstate(over="ignore", divide="ignore"):
            real_steps = steps(REALS[kind](real(case.inputs[0], source)), output)
        (result,) = runner.run(case.graph, kernel_of(case), case.inputs)
        np.testing.assert_array_less(np.abs(result - real_steps), 0.501)


def test_roots_of_int8_are_rounded_down(runner: Runner) -> None:
    for seed in range(30):
        case = every_int8(np.random.default_rng(seed), "SQRT")
        source, output = case.graph.tensors
        roots = steps(np.sqrt(np.maximum(real(case.inputs[0], source), 0)), output)
        (result,) = runner.run(case.graph, kernel_of(case), case.inputs)
        np.testing.assert_array_less(np.abs(result - (roots - 0.5)), 0.501)


@pytest.mark.parametrize("output_scale", [1 / 512, 1e-5])
def test_roots_of_int16_are_rounded_down(output_scale: float, runner: Runner) -> None:
    case = of_int16("SQRT", output_scale=output_scale)
    roots = steps(np.sqrt(np.maximum(case.inputs[0].astype(np.float32), 0) / 8192), case.graph.tensors[1])
    for direction in Direction:
        (output,) = runner.run(case.graph, kernel_of(case, direction), case.inputs)
        np.testing.assert_array_less(np.abs(output - (roots - 0.5)), 0.501)


@pytest.mark.parametrize(("kind", "first"), list(zip(INTERPOLATED, (-32768, -32768, 1024), strict=True)))
def test_functions_of_int16_are_interpolated(kind: str, first: int, runner: Runner) -> None:
    """From where they are no longer steep."""
    case = of_int16(kind)
    with np.errstate(divide="ignore"):
        real_steps = steps(REALS[kind](real(case.inputs[0], case.graph.tensors[0])), case.graph.tensors[1])
    for direction in Direction:
        (output,) = runner.run(case.graph, kernel_of(case, direction), case.inputs)
        np.testing.assert_array_less(np.abs(output - real_steps)[case.inputs[0] >= first], 5)


@pytest.mark.parametrize("kind", WIDENED)
def test_int16_is_computed_as_int8(kind: str, runner: Runner) -> None:
    for narrow in draw(kind):
        wide = widened(narrow)
        if wide is None:
            continue
        ends = [[np.full_like(wide.inputs[0], value)] for value in (-32768, 32767)]
        for direction in Direction:
            expected, kernel = (
                runner.run(narrow.graph, kernel_of(narrow, direction), narrow.inputs),
                kernel_of(wide, direction),
            )
            np.testing.assert_array_equal(runner.run(wide.graph, kernel, wide.inputs), expected)
            output = [runner.run(wide.graph, kernel, end)[0] for end in ends]
            assert [{*each.flat} for each in output] == [{-32768}, {32767}]


def test_select_takes_a_condition_for_each_element_for_each_index_of_the_first_axis_or_for_all(runner: Runner) -> None:
    for case in draw("SELECT"):
        graph, given = case.graph, iter(case.inputs)
        condition, first, second = (t.as_array() if t.is_constant else next(given) for t in graph.tensors[:3])
        chosen = condition.reshape(condition.shape + (1,) * (first.ndim - condition.ndim))
        (output,) = runner.run(graph, kernel_of(case), case.inputs)
        np.testing.assert_array_equal(output, np.where(chosen, first, second))


@pytest.mark.parametrize("kind", FLOORED)
def test_integers_are_divided_downwards(kind: str, runner: Runner) -> None:
    for seed in range(30):
        case = floored_integers(np.random.default_rng(seed), kind)
        first, second = (each.astype(np.int64) for each in case.inputs)
        with np.errstate(divide="ignore"):
            expected = np.floor_divide(first, second) if kind == "FLOOR_DIV" else np.mod(first, second)
        for direction in Direction:
            (output,) = runner.run(case.graph, kernel_of(case, direction), case.inputs)
            np.testing.assert_array_equal(output, expected.astype(np.int32).reshape(output.shape))


def test_casts_of_uint8_keep_values_or_low_bits(runner: Runner) -> None:
    """LiteRT has them; floats beyond the type have no value in C++, and here the nearest one."""
    for case in casts_of_uint8(np.random.default_rng(3)):
        (given,) = case.inputs
        (output,) = runner.run(case.graph, kernel_of(case), case.inputs)
        if given.dtype == np.float32:
            np.testing.assert_array_equal(output, np.trunc(given).clip(0, 255))
            (ends,) = runner.run(case.graph, kernel_of(case), [np.resize([-1e9, 256, np.nan], 300).astype(np.float32)])
            assert ends[:3].tolist() == [0, 255, 0]
        else:
            np.testing.assert_array_equal(output, given.astype(output.dtype))
