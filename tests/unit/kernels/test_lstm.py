"""What the kernel of UNIDIRECTIONAL_SEQUENCE_LSTM refuses; tests/end_to_end/test_state.py compares what it computes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.support.lstms import lstm
from usmp_build.importers.tflite import import_tflite
from usmp_build.interfaces.kernels import Kernel, NoKernel
from usmp_build.ir.graph import Quantization, Subgraph, Tensor
from usmp_build.ir.options import Activation
from usmp_build.kernels.reference import library
from usmp_build.operators.lstm import SequenceLstm

Change = Callable[[Subgraph], Subgraph]
HIDDEN, CELL, WEIGHTS, RECURRENT, BIAS = 18, 19, 2, 6, 13


def graph(dtype: str = "INT8") -> Subgraph:
    return import_tflite(lstm(np.random.default_rng(3), dtype), "m", "m").main


def operand(position: int, **changed: object) -> Change:
    """Change an operand."""

    def change(before: Subgraph) -> Subgraph:
        index = before.operators[0].inputs[position]
        assert index is not None
        tensors = [*before.tensors]
        tensors[index] = replace(tensors[index], **changed)
        return replace(before, tensors=tuple(tensors))

    return change


def option(**changed: object) -> Change:
    def change(before: Subgraph) -> Subgraph:
        (operator,) = before.operators
        assert isinstance(operator.options, SequenceLstm)
        return replace(before, operators=(replace(operator, options=replace(operator.options, **changed)),))

    return change


def rewired(position: int, index: int | None) -> Change:
    """Put another tensor in place of an operand, or none."""

    def change(before: Subgraph) -> Subgraph:
        (operator,) = before.operators
        inputs = (*operator.inputs[:position], index, *operator.inputs[position + 1 :])
        return replace(before, operators=(replace(operator, inputs=inputs),))

    return change


def quantized(scale: float, zero_point: int = 0) -> Quantization:
    return Quantization((scale,), (zero_point,))


REFUSALS: list[tuple[str, str, Change]] = [
    ("INT8", "it has peepholes", rewired(9, 1)),
    ("INT8", "it has a projection", rewired(16, 1)),
    ("INT8", "it has layer normalization", rewired(20, 1)),
    ("INT8", "it has no input gate", rewired(1, None)),
    ("INT8", "its states are not variables", operand(HIDDEN, is_variable=False)),
    ("INT8", "it has no kernel with the activation RELU", option(activation=Activation.RELU)),
    ("INT8", "it limits its cell state to -1", option(cell_clip=-1.0)),
    ("INT8", "its weights have a zero point other than 0", operand(RECURRENT, quantization=quantized(0.1, 1))),
    ("INT8", "the scale of its cell state is not a power of two", operand(CELL, quantization=quantized(0.3))),
    ("INT8", "the scale of its cell state is more than 4", operand(CELL, quantization=quantized(8.0))),
    ("INT16", "its activations are int16 with a zero point", operand(0, quantization=quantized(0.1, 1))),
    ("INT16", "its biases have more than 47 bits", operand(BIAS, data=np.full(2, 1 << 50).tobytes())),
    ("INT8", "its weights are not constant", operand(WEIGHTS, data=None)),
    ("INT8", "its biases are not constant", operand(BIAS, data=None)),
]


@pytest.mark.parametrize(
    ("dtype", "reason_text", "change"), REFUSALS, ids=[reason_text for _, reason_text, _ in REFUSALS]
)
def test_refusals(dtype: str, reason_text: str, change: Change) -> None:
    before = graph(dtype)
    assert isinstance(library.kernel(before.operators[0], before), Kernel)
    after = change(before)
    answer = library.kernel(after.operators[0], after)
    assert isinstance(answer, NoKernel)
    assert answer.reason.startswith(reason_text)


def test_types_that_do_not_go_together() -> None:
    before = graph()
    output: Tensor = before.tensors[before.operators[0].outputs[0]]
    tensors = (*before.tensors[:-1], replace(output, dtype=graph("INT16").tensors[-1].dtype))
    answer = library.kernel(before.operators[0], replace(before, tensors=tensors))
    assert answer == NoKernel("it has no kernel for INT8 with INT32 with INT16")
