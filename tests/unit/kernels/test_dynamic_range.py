"""Operators of float32 with weights of int8, whose inputs are quantized when they arrive."""

import numpy as np
import pytest

from tests.support.kernels.drawing import Array
from tests.support.kernels.driver import Runner
from tests.support.kernels.dynamic import KINDS, dynamic, expected, quantize
from tests.support.kernels.samples import COUNT, first_kernel
from tests.support.lstms import lstm
from tests.support.tools import needs_gcc
from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Subgraph
from usmp_build.operators.lstm import SequenceLstm

pytestmark = needs_gcc


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_tensorflow_lites(kind: str, runner: Runner) -> None:
    for number, case in enumerate(dynamic(kind, COUNT)):
        kernel = first_kernel(case.graph)
        assert kernel.backward is not None
        (output,) = runner.run(case.graph, kernel, case.inputs)
        np.testing.assert_allclose(output, expected(case), 1e-5, 1e-6, err_msg=f"case {number}: {case.graph.operators}")
        (backward,) = runner.run(case.graph, kernel.backward, case.inputs)
        assert output.tobytes() == backward.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38, 1e-45])
@pytest.mark.parametrize("kind", KINDS)
def test_any_input_is_quantized(kind: str, value: float, runner: Runner) -> None:
    """No value follows where it is no number."""
    for case in dynamic(kind, 4):
        data = case.inputs[0].copy()
        data.flat[0] = value
        (output,) = runner.run(case.graph, first_kernel(case.graph), (data,))
        assert output.shape == case.graph.tensors[-1].shape


@pytest.mark.parametrize("seed", range(20))
def test_an_lstm_is_tensorflow_lites(seed: int, runner: Runner) -> None:
    r = np.random.default_rng(seed)
    graph = import_tflite(lstm(r, "FLOAT32", dynamic=True), "m", "m").main
    data = (
        r.normal(0, 2, graph.tensors[0].shape).astype(np.float32) * (np.arange(graph.tensors[0].shape[1]) > 0)[:, None]
    )
    (output,) = runner.run(graph, first_kernel(graph), (data.astype(np.float32),))
    np.testing.assert_allclose(output, lstm_of(graph, data), 1e-4, 1e-5)


def lstm_of(graph: Subgraph, data: Array) -> Array:
    """Compute what the only layer of a graph makes from its first run."""
    op = graph.operators[0]
    assert isinstance(op.options, SequenceLstm)
    tensors = [None if index is None else graph.tensors[index] for index in op.inputs]
    weights = [(t.as_array().astype(int), t.quantization.scales[0]) for t in tensors[1:9] if t and t.quantization]
    biases = [t.as_array() for t in tensors[12:16] if t]
    is_symmetric, limit = not op.options.asymmetric_quantize_inputs, op.options.cell_clip or np.inf
    steps = data if op.options.time_major else data.swapaxes(0, 1)
    hidden, cell = (np.zeros((steps.shape[1], len(biases[0]))) for _ in range(2))
    outputs = np.zeros((*steps.shape[:2], len(biases[0])))
    for step, batch in np.ndindex(*steps.shape[:2]):
        parts = [quantize(each.astype(np.float32), is_symmetric) for each in (steps[step, batch], hidden[batch])]
        given, kept = (
            [matrix @ values * scale * unit for matrix, unit in weights[i : i + 4]]
            for i, (values, scale) in zip((0, 4), parts, strict=True)
        )
        first, forget, fresh, last = (sum(each) for each in zip(given, kept, biases, strict=True))
        cell[batch] = np.clip(logistic(forget) * cell[batch] + logistic(first) * np.tanh(fresh), -limit, limit)
        outputs[step, batch] = hidden[batch] = logistic(last) * np.tanh(cell[batch])
    return outputs if op.options.time_major else outputs.swapaxes(0, 1)


def logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))
