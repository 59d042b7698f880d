"""Operators of float32 with weights of int8, whose inputs are quantized when they arrive."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernels.driver import Runner
from tests.support.kernels.dynamic import KINDS, dynamic, expected
from tests.support.kernels.samples import COUNT, first_kernel
from tests.support.tools import needs_gcc

pytestmark = needs_gcc


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_tensorflow_lites(kind: str, runner: Runner) -> None:
    for number, case in enumerate(dynamic(kind, COUNT)):
        kernel = first_kernel(case.graph)
        assert kernel.backward is not None
        (made,) = runner.run(case.graph, kernel, case.inputs)
        np.testing.assert_allclose(made, expected(case), 1e-5, 1e-6, err_msg=f"case {number}: {case.graph.operators}")
        (backward,) = runner.run(case.graph, kernel.backward, case.inputs)
        assert made.tobytes() == backward.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1e-45])
@pytest.mark.parametrize("kind", KINDS)
def test_any_input_is_quantized(kind: str, value: float, runner: Runner) -> None:
    """To what, is not said where it is no number."""
    for case in dynamic(kind, 4):
        data = case.inputs[0].copy()
        data.flat[0] = value
        (made,) = runner.run(case.graph, first_kernel(case.graph), (data,))
        assert made.shape == case.graph.tensors[-1].shape
