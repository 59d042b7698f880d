"""What the table says that elementwise operators make of int8 is what their C makes."""

import numpy as np
import pytest

from tests.support.kernels.cases import CASES
from tests.support.kernels.drawing import INT8, Array, Case
from tests.support.kernels.driver import Runner
from tests.support.kernels.elements import every_int8
from tests.support.kernels.samples import draw, kernel_of
from tests.support.tools import needs_gcc
from usmp_build.operators.kind import Int8
from usmp_build.operators.table import OPERATORS
from usmp_build.operators.values.interval import Interval

COUNT = 40
KINDS = [kind.name for kind in OPERATORS.values() if kind.elementwise and kind.elementwise.int8 and kind.name in CASES]


def of_int8(kind: str) -> list[Case]:
    if kind in {"EXP", "LOG", "SQRT"}:  # TensorFlow Lite Micro has them for floats only, and so has draw
        return [every_int8(np.random.default_rng(seed), kind) for seed in range(COUNT)]
    return [case for case in draw(kind, COUNT) if {tensor.dtype for tensor in case.graph.tensors} == {INT8}]


def operands(case: Case) -> list[Array]:
    """Inputs as long as the output."""
    given = dict(zip(case.graph.inputs, case.inputs, strict=True))
    tensors, inputs = case.graph.tensors, case.graph.operators[0].inputs
    values = [given[t] if t in given else tensors[t].as_array() for t in inputs if t is not None]
    shape = tensors[case.graph.outputs[0]].shape
    if len(values) == 1:
        return [values[0].reshape(-1).astype(np.int64)]
    return [np.broadcast_to(value, shape).reshape(-1).astype(np.int64) for value in values]


@needs_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_single_values_become_what_the_kernel_makes(kind: str, runner: Runner) -> None:
    elementwise = OPERATORS[kind].elementwise
    assert elementwise is not None
    assert isinstance(elementwise.int8, Int8)
    cases = of_int8(kind)
    assert cases
    for number, case in enumerate(cases):
        transfer = elementwise.int8.transfer(case.graph.operators[0], case.graph)
        (output,) = runner.run(case.graph, kernel_of(case), case.inputs)
        values = operands(case)
        each = transfer([Interval(value, value) for value in values])
        assert each.is_constant.all(), number
        np.testing.assert_array_equal(each.low, output.reshape(-1), f"case {number}: {case.graph.operators[0]}")
        spans = [Interval(value.min(keepdims=True), value.max(keepdims=True)) for value in values]
        together = transfer(spans)
        assert together.low[0] <= output.min() <= output.max() <= together.high[0]
