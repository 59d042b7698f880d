"""Connections: outputs of models that are inputs of others, in one buffer that both models use."""

from __future__ import annotations

from usmp_build.frozen import frozen
from usmp_build.ir.graph import TensorRef


@frozen
class Connection:
    """An output of one model's main subgraph that is an input of another's."""

    output: TensorRef
    """The output itself, which may be a view."""
    producer: TensorRef
    """The root of the output, which is not a view."""
    consumer: TensorRef
    """The input."""
    producer_name: str
    """`detector.boxes`: model and name in C."""
    consumer_name: str
    is_consumed: bool = False
    """Whether the value is dead after a run of the consumer; else it lives until the next run of the producer."""
