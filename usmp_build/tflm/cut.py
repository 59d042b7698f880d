"""Cuts a .tflite file: some operators of its main subgraph become a model of their own, with the same tensors.

x → CONV_2D → y → GELU → z      operator 1 alone is      y → GELU → z
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from usmp_build.frozen import frozen
from usmp_build.importers.tflite.flatbuffer import Record, decode, position, positions, scalar, tables
from usmp_build.tflm.front import Numbers, Old, Table, front


@frozen
class _SubGraph(Record):
    tensors: int = position(0)
    operators: tuple[int, ...] = positions(3)


@frozen
class _Root(Record):
    version: int = scalar(0, "I")
    operator_codes: int = position(1)
    subgraphs: tuple[int, ...] = positions(2)
    buffers: int = position(4)


@frozen
class _Graphs(Record):
    subgraphs: tuple[_SubGraph, ...] = tables(2, _SubGraph)


_NONE = Numbers(())
_EMPTY = Table([(), _NONE, _NONE, (), None])
"""In place of a subgraph that is not called: an interpreter would want all of its operators."""


class Cuts:
    """Cuts one file, which is valid."""

    def __init__(self, data: bytes) -> None:
        self._root = decode(_Root, data)
        self._main = decode(_Graphs, data).subgraphs[0]

    def front(
        self, operators: Collection[int], inputs: Sequence[int], outputs: Sequence[int], called: Collection[int]
    ) -> bytes:
        """Return what in front of the file makes a model of these operators, by their positions.

        `inputs` and `outputs` are tensors, and `called` the other subgraphs that these operators run.
        """
        root, tensors = self._root, Old(self._main.tensors)
        kept = tuple(Old(self._main.operators[index]) for index in sorted(operators))
        others = (Old(place) if index in called else _EMPTY for index, place in enumerate(root.subgraphs[1:], 1))
        main = Table([tensors, Numbers(inputs), Numbers(outputs), kept])
        return front(Table([root.version, Old(root.operator_codes), (main, *others), None, Old(root.buffers)]))
