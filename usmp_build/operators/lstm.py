"""UNIDIRECTIONAL_SEQUENCE_LSTM: a layer that takes the steps of a sequence one by one, and remembers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from math import prod

from usmp_build.frozen import frozen
from usmp_build.ir.options import Activation, Options, slot
from usmp_build.operators.general_rules import count_fault, not_empty, rank, shape_fault
from usmp_build.operators.kind import StoredOptions, stateful
from usmp_build.operators.operands import Fault, Signature, Subject

GATES = ("input", "forget", "cell", "output")
"""In the order of their weights and biases among the operands."""
_OPERANDS = " ".join(
    (
        "input",
        *(f"input_to_{gate}{'?' if gate == 'input' else ''}" for gate in GATES),
        *(f"recurrent_to_{gate}{'?' if gate == 'input' else ''}" for gate in GATES),
        *(f"cell_to_{gate}?" for gate in GATES if gate != "cell"),
        *(f"{gate}_bias{'?' if gate == 'input' else ''}" for gate in GATES),
        "projection? projection_bias? hidden_state cell_state",
        *(f"{gate}_norm?" for gate in GATES),
    )
)


@frozen
class SequenceLstm(Options):
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""

    activation: Activation = field(default=Activation.TANH, metadata=slot(0, "b"))
    """Of the cell gate, and of the cell state where it goes out."""
    cell_clip: float = field(default=0.0, metadata=slot(1, "f"))
    """The cell state is kept between minus this and this; 0: it is not limited."""
    proj_clip: float = field(default=0.0, metadata=slot(2, "f"))
    """The same for what the projection makes."""
    time_major: bool = field(default=False, metadata=slot(3, "?"))
    """Whether the input has the steps outside of the batches, not inside."""
    asymmetric_quantize_inputs: bool = field(default=False, metadata=slot(4, "?"))
    """Whether inputs of float32 that meet weights of int8 are quantized with a zero point."""


def _gates(subject: Subject) -> Iterator[Fault]:
    """Each gate has weights for all inputs and for all of the hidden state, and a bias for each of its cells."""
    cells, inputs = subject.shape("input_to_forget")
    _, outputs = subject.shape("recurrent_to_forget")
    if subject.shape("input")[-1] != inputs:
        shape = list(subject.shape("input"))
        yield Fault("T247", f"its input has the shape {shape}, but its weights take {inputs} inputs at a time")
    for gate in GATES:
        yield from shape_fault(subject, f"input_to_{gate}", (cells, inputs))
        yield from shape_fault(subject, f"recurrent_to_{gate}", (cells, outputs))
        yield from count_fault(subject, f"{gate}_bias", cells)
    batches = subject.shape("input")[_batch_axis(subject)]
    yield from count_fault(subject, "hidden_state", batches * outputs)
    yield from count_fault(subject, "cell_state", batches * cells)
    yield from count_fault(subject, "output", prod(subject.shape("input")[:2]) * outputs)


def _batch_axis(subject: Subject) -> int:
    options = subject.operator.options
    return int(isinstance(options, SequenceLstm) and options.time_major)


KINDS = (
    stateful(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        Signature(
            _OPERANDS,
            rules=(
                rank(3, "input"),
                rank(2, *(f"{source}_to_{gate}" for source in ("input", "recurrent") for gate in GATES)),
                not_empty("input", "input_to_forget", "recurrent_to_forget"),
                _gates,
            ),
        ),
        options=StoredOptions(SequenceLstm, "UnidirectionalSequenceLSTMOptions"),
    ),
)
