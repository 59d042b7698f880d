"""Outputs of models that are inputs of others: one buffer, filled by a run of one and read by runs of the other."""

from __future__ import annotations

from dataclasses import dataclass

from usmp_build.ir.graph import TensorRef


@dataclass(frozen=True, slots=True)
class Connection:
    """An output of one model's main subgraph that is an input of another's."""

    output: TensorRef
    """The output itself; perhaps a view."""
    producer: TensorRef
    """The tensor whose bytes the output is: no view."""
    consumer: TensorRef
    """The input."""
    producer_name: str
    """`detector.boxes`: model and name in C."""
    consumer_name: str
    is_consumed: bool = False
    """Whether a run of the consumer ends the value; otherwise the next one of the producer does."""
