"""Describes copies in memory of pages: between rows of different lengths, and running piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, replace

from usmp_build.interfaces.kernels import Kernel, KernelCall, Pieces
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.ir.labels import short_label
from usmp_build.passes.axes.question import Reading
from usmp_build.passes.copies import NewCopy


@dataclass(frozen=True, slots=True)
class RowCopy:
    """A copy of a tensor with rows of another length, for some of its readers."""

    tensor: int
    row: int
    """Elements of a row."""
    readings: tuple[Reading, ...]

    def wanted(self, graph: Subgraph) -> NewCopy:
        """Return the copy to be inserted; its name gives the length of its rows."""
        source = graph.tensors[self.tensor]
        name = f"{short_label(source.name, self.tensor)}.in_rows_of_{self.row}"
        readers = tuple((reading.operator, reading.position) for reading in self.readings)
        return NewCopy(self.tensor, replace(source, name=name, axis_separators=None), readers)


def piece_of(graph: Subgraph, op: Operator, elements: int) -> Subgraph:
    """Return a subgraph in which a COPY moves only `elements`, to query a kernel for one piece."""
    tensors = list(graph.tensors)
    for tensor in (*op.inputs, *op.outputs):
        if tensor is not None:
            tensors[tensor] = replace(tensors[tensor], shape=(elements,), quantization=None)
    return replace(graph, tensors=tuple(tensors))


def in_pieces(kernel: Kernel, count: int, elements: int) -> Kernel:
    """Return a kernel that runs the kernel of one piece `count` times, in both directions."""

    def repeated(call: KernelCall) -> KernelCall:
        return replace(call, form=Pieces(count, (elements,) * len(call.operands)))

    backward = kernel.backward and in_pieces(kernel.backward, count, elements)
    return replace(kernel, calls=tuple(map(repeated, kernel.calls)), backward=backward)
