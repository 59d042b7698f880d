"""Makes inputs that expose faults: full-range random ones, and the two extremes; indices are those that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.ir.graph import Model, Operator, Subgraph, Tensor
from usmp_build.operators.gathering import Gather
from usmp_build.operators.table import traits

Sample: TypeAlias = tuple[NDArray[Any], ...]
"""One array for each input of a model."""

_FLOAT_RANGE = 4.0
"""Floats are drawn from [-4, 4]: networks are trained on inputs of about that size."""

Indices: TypeAlias = NDArray[Any]
"""The highest index: one for all elements of a tensor, or one for each element of its last axis."""


def samples(model: Model, runs: int, seed: int) -> list[Sample]:
    """Draw inputs for `runs` runs: random, lowest, highest, then random again; the same for the same seed."""
    generator = np.random.default_rng(seed)
    highest = _highest_indices(model.main)
    tensors = [(model.main.tensors[t], highest.get(t)) for t in model.main.inputs]
    return [tuple(_draw(*tensor, index, generator) for tensor in tensors) for index in range(runs)]


def _draw(tensor: Tensor, highest: Indices | None, index: int, generator: np.random.Generator) -> NDArray[Any]:
    low, high = _range(tensor)
    kind = np.dtype(tensor.dtype.numpy or "uint8")
    shape = tensor.shape if tensor.dtype.numpy else (tensor.size,)
    if highest is not None:
        lowest = highest if index == 2 else np.zeros_like(highest)
        return generator.integers(lowest, lowest if index == 1 else highest, shape, endpoint=True).astype(kind)
    if index in (1, 2):
        return np.full(shape, high if index == 2 else low, kind)
    if kind.kind == "f":
        return generator.uniform(low, high, shape).astype(kind)
    return generator.integers(int(low), int(high), shape, endpoint=True).astype(kind)


def _range(tensor: Tensor) -> tuple[float, float]:
    """Narrow integers take their full range; wide ones are mostly indices and counts, and stay small."""
    name = tensor.dtype.numpy or "uint8"
    if name == "bool":
        return 0, 1
    if tensor.dtype.is_float or name.startswith("complex"):
        return -_FLOAT_RANGE, _FLOAT_RANGE
    info = np.iinfo(name)
    return (info.min, info.max) if info.bits <= 16 else (max(info.min, -128), 127)


def _highest_indices(graph: Subgraph) -> Mapping[int, Indices]:
    """Return the tensors whose elements are indices, each with the highest that all of its readers have.

    With a higher one, TensorFlow Lite Micro makes nothing, or reads outside.  In `GATHER(table, CAST(words))`, with a
    table of 10 rows, `words` are 0 to 9.
    """
    highest: dict[int, Indices] = {}
    for op in reversed(graph.operators):
        of_output = highest.get(op.outputs[0]) if op.outputs else None
        for position, by in [*_read(op, graph), *(() if of_output is None else _passed_on(op, of_output, graph))]:
            tensor = op.inputs[position]
            if tensor is not None:
                highest[tensor] = np.minimum(highest[tensor], by) if tensor in highest else by
    return highest


def _passed_on(op: Operator, highest: Indices, graph: Subgraph) -> Iterator[tuple[int, Indices]]:
    """Yield the inputs of an operator whose elements are its output's, each with the highest."""
    if traits(op.kind).only_shape or op.kind == "CAST":
        yield 0, highest.min()
    elif op.kind in {"SELECT", "SELECT_V2"}:
        yield from ((1, highest), (2, highest))
    elif op.kind in {"CONCATENATION", "PACK"}:
        sizes = [graph.tensors[index].elements for index in op.inputs if index is not None]
        is_list = highest.ndim and len(graph.tensors[op.outputs[0]].shape) == 1
        for position, end in enumerate(accumulate(sizes)):
            yield position, highest[end - sizes[position] : end].min() if is_list else highest.min()


def _read(op: Operator, graph: Subgraph) -> Iterator[tuple[int, Indices]]:
    """Yield which input of an operator has indices, and the highest."""
    match op.kind, [graph.tensors[index].shape for index in op.inputs if index is not None]:
        case "EMBEDDING_LOOKUP", [_, shape]:
            yield 0, np.array(shape[0] - 1)
        case "GATHER", [shape, _] if isinstance(op.options, Gather):
            yield 1, np.array(shape[op.options.axis] - 1)
        case "GATHER_ND", [shape, (*_, depth)]:
            yield 1, np.array(shape[:depth]) - 1
        case "SLICE", [shape, _, _]:
            yield 1, np.array(shape) - graph.tensors[op.outputs[0]].shape
