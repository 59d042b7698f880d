"""Look-ups against TensorFlow Lite Micro, which runs the operators that they stand for."""

from dataclasses import replace

import numpy as np

from tests.support.kernels.drawing import ACTIVATIONS, FLOAT, INT8, Case, Random, activation, constant, pick, span
from tests.support.kernels.driver import Runner
from tests.support.kernels.rewritten import case_of, compare
from tests.support.kernels.samples import COUNT
from tests.support.tools import needs_gcc, needs_oracle
from usmp_build.ir.graph import Operator, Subgraph, Tensor
from usmp_build.operators.binary import Binary

pytestmark = [
    needs_gcc,
    needs_oracle,
]


def on_single_elements(r: Random) -> Case:
    """Draw some operators that make each element from one of what an earlier one made; all values go in."""
    every = np.arange(-128, 128).astype(np.int8)
    tensors = [activation("x", (2, 128), INT8, r.uniform(0.01, 0.2), r=r)]
    computed, operators = [0], []
    for number in range(span(r, 2, 6)):
        kind = pick(r, ["ADD", "SUB", "MUL", "MUL", "QUANTIZE", "RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH"])
        inputs = [computed[-1]]
        if kind in {"ADD", "SUB", "MUL"}:
            inputs.append(pick(r, [computed[-2:][0], len(tensors)]))
            if inputs[1] == len(tensors):
                shape = pick(r, [(), (1, 1), (128,)])
                data = np.full(shape, span(r, -128, 127), np.int8)
                tensors.append(constant(f"c{number}", data, [r.uniform(0.01, 0.1)], [span(r, -128, 127)]))
            r.shuffle(inputs)
        fixed = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}.get(kind)
        q = tensors[computed[-1]].quantization
        assert q is not None
        near = (q.scales[0] * r.uniform(0.997, 1.003), q.zero_points[0])
        scale, zero_point = fixed or pick(r, [near, (r.uniform(0.02, 0.3), span(r, -128, 127))])
        tensors.append(activation(f"t{number}", (2, 128), INT8, scale, zero_point))
        options = Binary(pick(r, ACTIVATIONS)) if len(inputs) > 1 else None
        computed.append(len(tensors) - 1)
        operators.append(Operator(kind, tuple(inputs), (computed[-1],), options))
    example = case_of(r, Subgraph("main", (), (0,), (), ()), tensors, operators, {}, computed[-1])
    return replace(example, inputs=(r.permutation(every).reshape(2, 128),))


def test_operators_on_single_elements_become_look_ups(runner: Runner) -> None:
    cases = [on_single_elements(np.random.default_rng([7, number])) for number in range(3 * COUNT)]
    graphs = compare(cases, runner)
    assert sum([op.kind for op in graph.operators] == ["LOOKUP"] for graph in graphs) >= COUNT


def test_through_floats_to_other_parameters_is_a_look_up(runner: Runner) -> None:
    """All values, at scales of all sizes; ties are among them."""
    every = np.arange(-128, 128).astype(np.int8)
    cases = []
    for scale in (1e-30, 0.0023, 0.1, 0.25, 1 / 3, 1e30):
        for ratio in (0.4, 0.5, 1.0, 2.0, 2.5, 77.7):
            source, output = activation("x", (256,), INT8, scale, -3), activation("y", (256,), INT8, scale * ratio, 5)
            operators = (Operator("DEQUANTIZE", (0,), (1,), None, 0), Operator("QUANTIZE", (1,), (2,), None, 1))
            tensors = (source, Tensor("real", (256,), FLOAT), output)
            cases.append(Case(Subgraph("main", tensors, (0,), (2,), operators), (every,)))
    for graph in compare(cases, runner):
        assert [op.kind for op in graph.operators] == ["LOOKUP"]
