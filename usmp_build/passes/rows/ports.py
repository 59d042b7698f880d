"""Says where inputs and outputs are: which arrive or leave row by row, and which are in the caller's arrays.

By rows are the largest input, and the largest output, of a model whose manifest says so: their rows are in pools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usmp_build.ir.graph import Subgraph
from usmp_build.request import InputOutput, ModelRequest


def row_ports(settings: ModelRequest, main: Subgraph) -> frozenset[int]:
    """Return the tensors that the application gives, or gets, row by row; of equally large ones the first.

    `main` is the main subgraph of the model.
    """
    sides = ((settings.inputs_by_rows, main.inputs), (settings.outputs_by_rows, main.outputs))
    return frozenset(tensor for is_asked, ports in sides if is_asked for tensor in _largest(main, ports))


def caller_ports(settings: ModelRequest, main: Subgraph) -> frozenset[int]:
    """Return the inputs and outputs that are in arrays of the caller."""
    ports = (*main.inputs, *main.outputs) if settings.io is InputOutput.APPLICATION else ()
    return frozenset(ports) - row_ports(settings, main)


def _largest(main: Subgraph, ports: Sequence[int]) -> Iterator[int]:
    sized = [(main.tensors[tensor].size, -position, tensor) for position, tensor in enumerate(ports)]
    if sized:
        yield max(sized)[-1]
