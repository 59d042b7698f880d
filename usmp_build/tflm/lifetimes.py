"""When TensorFlow Lite Micro needs each tensor, by its own rules (`micro_allocation_info.cc`).

It counts scopes: one for the inputs, one for each operator, and one for each subgraph that an operator calls, whose
operators follow.  A lifetime ends with the scope of the last use, so inputs and outputs of an operator never overlap:

    scope      0        1        2        3
    input      |========|
    hidden              |========|
    output                       |========|
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from usmp_build import effort
from usmp_build.frozen import frozen
from usmp_build.ir.graph import DType, Model, Tensor
from usmp_build.ir.options import called_subgraphs
from usmp_build.operators.table import OPERATORS

ALIGNMENT = 16
"""Bytes: offsets and sizes are multiples of it."""


@frozen
class Buffer:
    """Bytes that the interpreter plans."""

    first: int
    """The first scope that needs it."""
    last: int
    """The last one, which needs it, too."""
    size: int
    """Bytes, a multiple of `ALIGNMENT`."""


@frozen
class Demand:
    """What a model needs of the part of the arena that is planned, its head."""

    tensors: int
    """Of all subgraphs, constants included."""
    buffers: Mapping[int, Buffer]
    """By the tensor's number, which counts on from one subgraph to the next."""
    scratch: tuple[Buffer, ...]
    """Scratch buffers that kernels request, in the order of the operators."""


def unplanned(model: Model) -> str:
    """Return why lifetimes or sizes of a model's tensors cannot be computed, as a clause; empty where they can."""
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            if operator.kind not in OPERATORS:
                return f"only the kernel of {operator.kind} can tell what memory it needs"
        for tensor in subgraph.tensors:
            if not tensor.dtype.bits and not tensor.is_constant:
                return f"tensors of {tensor.dtype.name} have no fixed size"
    tensors = sum(len(subgraph.tensors) for subgraph in model.subgraphs)
    return f"{tensors:,} tensors are too many" if tensors > effort.TFLM_TENSORS else ""


def demand(model: Model, reserves: Mapping[str, tuple[int, ...]]) -> Demand:
    """Return what a model needs; `reserves` has the bytes of scratch buffers that kernels request, by operator kind."""
    walk = _Walk(model, reserves)
    walk.enter(0)
    buffers = {
        number: Buffer(first, walk.last[number], rounded(size))
        for number, first in sorted(walk.first.items())
        if (size := walk.sizes[number])
    }
    return Demand(len(walk.sizes), buffers, tuple(walk.scratch))


def rounded(size: int) -> int:
    """Return bytes rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _size(tensor: Tensor) -> int:
    """Return the bytes that are planned: none for constants, and for variables, which have memory of their own."""
    if tensor.is_constant or tensor.is_variable:
        return 0
    width = DType.INT8.bits if tensor.dtype.bits < DType.INT8.bits else tensor.dtype.bits
    return tensor.elements * width // 8


class _Walk:
    """Follows the operators of all subgraphs; the importer has refused recursion, and too many calls."""

    def __init__(self, model: Model, reserves: Mapping[str, tuple[int, ...]]) -> None:
        self._model = model
        self._reserves = reserves
        counts = (len(subgraph.tensors) for subgraph in model.subgraphs)
        self._begins = list(accumulate(counts, initial=0))
        self.sizes = [_size(tensor) for subgraph in model.subgraphs for tensor in subgraph.tensors]
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.scratch: list[Buffer] = []
        self._scope = 0

    def enter(self, index: int) -> None:
        subgraph, begin = self._model.subgraphs[index], self._begins[index]
        self._create(begin, subgraph.inputs)
        self._use(begin, subgraph.inputs)
        for operator in subgraph.operators:
            self._scope += 1
            start = self._scope
            self._create(begin, operator.outputs)
            if operator.kind == "VAR_HANDLE":  # its handle is in memory of its own
                self.sizes[begin + operator.outputs[0]] = 0
            for called in called_subgraphs(operator.options):
                self._scope += 1
                self.enter(called)
            self._use(begin, tuple(tensor for tensor in operator.inputs if tensor is not None))
            self._use(begin, operator.outputs)
            sizes = self._reserves.get(operator.kind, ())
            self.scratch += (Buffer(start, self._scope, rounded(size)) for size in sizes)
        self._create(begin, subgraph.outputs)
        self._use(begin, subgraph.outputs)

    def _create(self, begin: int, tensors: tuple[int, ...]) -> None:
        for tensor in tensors:
            self.first.setdefault(begin + tensor, self._scope)

    def _use(self, begin: int, tensors: tuple[int, ...]) -> None:
        for tensor in tensors:
            self.last[begin + tensor] = self._scope
