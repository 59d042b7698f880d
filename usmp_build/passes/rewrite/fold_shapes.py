"""Shape arithmetic is done now: SHAPE → STRIDED_SLICE → PACK → RESHAPE leaves only the RESHAPE.

Converters emit such chains for models with a batch size left open.  All shapes are known here, so every operator
of the chain has constant inputs; its outputs become constants and the operator goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.arithmetic import slices
from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Model, Operator, Subgraph, Tensor
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_LARGEST = 1024
"""Elements.  Shapes are short; folding must not turn a small model into a large one."""

_INTEGERS = {DType.INT32, DType.INT64, DType.UINT32, DType.UINT64, DType.INT16, DType.BOOL}

Array: TypeAlias = NDArray[Any]
Evaluator: TypeAlias = Callable[[Operator, Sequence[Tensor]], Array]


def fold_shapes(model: Model, pins: Pins = NO_PINS) -> Model:
    """Compute integer operators whose inputs are all known."""
    subgraphs = (_in_subgraph(graph, index, pins) for index, graph in enumerate(model.subgraphs))
    return replace(model, subgraphs=tuple(subgraphs))


def _in_subgraph(graph: Subgraph, index: int, pins: Pins) -> Subgraph:
    tensors = list(graph.tensors)
    operators = []
    for op in graph.operators:
        foldable = _foldable(op, tensors, graph) and pins.may_fold(index, op)
        value = _evaluate(op, tensors) if foldable else None
        if value is None:
            operators.append(op)
        else:
            tensors[op.outputs[0]] = value
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))


def _foldable(op: Operator, tensors: list[Tensor], graph: Subgraph) -> bool:
    """Only small integers, and never a pin: an output stays computed into its buffer."""
    if op.kind not in EVALUATORS or len(op.outputs) != 1 or op.outputs[0] in graph.outputs:
        return False
    target = tensors[op.outputs[0]]
    if target.dtype not in _INTEGERS or target.quantization is not None or target.elements > _LARGEST:
        return False
    sources = [tensors[i] for i in op.inputs if i is not None]
    if op.kind in {"SHAPE", "RANK"}:
        return len(sources) == 1
    if sum(t.elements for t in sources) > 4 * _LARGEST:  # one constant may be named many times
        return False
    return all(t.is_constant and t.dtype in _INTEGERS and t.elements <= _LARGEST for t in sources)


def _evaluate(op: Operator, tensors: list[Tensor]) -> Tensor | None:
    """Return the constant that the operator computes, or None when its operands make no sense."""
    target = tensors[op.outputs[0]]
    sources = [tensors[i] for i in op.inputs if i is not None]
    try:
        result = np.asarray(EVALUATORS[op.kind](op, sources))
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    if result.size != target.elements:
        return None
    little = np.dtype(target.dtype.numpy).newbyteorder("<")
    return replace(target, data=result.astype(little).tobytes())


def _arrays(sources: Sequence[Tensor]) -> list[Array]:
    return [t.as_array() for t in sources]


def _strided_slice(op: Operator, sources: Sequence[Tensor]) -> Array:
    data, *numbers = _arrays(sources)
    if not isinstance(op.options, o.StridedSlice):
        raise ValueError
    taken = slices.strided(op.options, data.shape, *_flat(numbers))
    return _taken(data, taken).reshape(slices.shape_left(op.options, taken or ()))


def _slice(_: Operator, sources: Sequence[Tensor]) -> Array:
    data, *numbers = _arrays(sources)
    return _taken(data, slices.sliced(data.shape, *_flat(numbers)))


def _flat(numbers: Sequence[Array]) -> list[list[int]]:
    return [[int(number) for number in each.reshape(-1)] for each in numbers]


def _taken(data: Array, taken: slices.Taken | None) -> Array:
    if taken is None:
        raise ValueError
    return data[np.ix_(*taken)] if taken else data


def _gather(op: Operator, sources: Sequence[Tensor]) -> Array:
    data, indices = _arrays(sources)
    gather = op.options if isinstance(op.options, o.Gather) else o.Gather()
    if gather.batch_dims:
        raise ValueError
    return np.take(data, indices, axis=gather.axis)


def _pack(op: Operator, sources: Sequence[Tensor]) -> Array:
    return np.stack(_arrays(sources), axis=op.options.axis if isinstance(op.options, o.Pack) else 0)


def _concatenation(op: Operator, sources: Sequence[Tensor]) -> Array:
    return np.concatenate(_arrays(sources), axis=op.options.axis if isinstance(op.options, o.Concatenation) else 0)


def _reduce_prod(op: Operator, sources: Sequence[Tensor]) -> Array:
    data, axes = _arrays(sources)
    keep = isinstance(op.options, o.Reducer) and op.options.keep_dims
    return np.asarray(np.prod(data, axis=tuple(int(a) for a in axes.ravel()), keepdims=keep))


def _binary(function: Callable[[Array, Array], Array]) -> Callable[[Operator, Sequence[Tensor]], Array]:
    def evaluate(op: Operator, sources: Sequence[Tensor]) -> Array:
        if isinstance(op.options, o.Binary) and op.options.activation is not o.Activation.NONE:
            raise ValueError
        left, right = _arrays(sources)
        return function(left, right)

    return evaluate


def _same_elements(_: Operator, sources: Sequence[Tensor]) -> Array:
    return sources[0].as_array()


EVALUATORS: Mapping[str, Evaluator] = {
    "ADD": _binary(np.add),
    "CAST": _same_elements,
    "CONCATENATION": _concatenation,
    "EXPAND_DIMS": _same_elements,
    "GATHER": _gather,
    "MUL": _binary(np.multiply),
    "PACK": _pack,
    "RANK": lambda _, sources: np.asarray(len(sources[0].shape)),
    "REDUCE_PROD": _reduce_prod,
    "RESHAPE": _same_elements,
    "SHAPE": lambda _, sources: np.asarray(sources[0].shape),
    "SLICE": _slice,
    "SQUEEZE": _same_elements,
    "STRIDED_SLICE": _strided_slice,
    "SUB": _binary(np.subtract),
}
