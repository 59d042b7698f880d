"""Says which inputs arrive from outside row by row, and which outputs leave so: the largest ones, where asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from usmp_build.ir.graph import Model, Subgraph
from usmp_build.request import ModelRequest


def row_ports(settings: ModelRequest, model: Model) -> frozenset[int]:
    """Return the tensors of main that the application gives, or gets, row by row; of equally large ones the first."""
    sides = ((settings.inputs_by_rows, model.main.inputs), (settings.outputs_by_rows, model.main.outputs))
    return frozenset(tensor for is_asked, ports in sides if is_asked for tensor in _largest(model.main, ports))


def _largest(graph: Subgraph, ports: Sequence[int]) -> Iterator[int]:
    sized = [(graph.tensors[tensor].size, -position, tensor) for position, tensor in enumerate(ports)]
    if sized:
        yield max(sized)[-1]
