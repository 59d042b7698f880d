"""Drawing a model of one operator: tensors, numbers and inputs from a random generator."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.ir import options as o
from usmp_build.ir.graph import DType, Operator, Quantization, Subgraph, Tensor

Random: TypeAlias = np.random.Generator
Array: TypeAlias = NDArray[Any]

INT8, INT16, FLOAT = DType.INT8, DType.INT16, DType.FLOAT32
ACTIVATIONS = tuple(o.Activation)


@dataclass(frozen=True)
class Case:
    """A model of one operator, and what goes into it."""

    graph: Subgraph
    inputs: tuple[Array, ...]


def case(
    r: Random,
    kind: str,
    inputs: Sequence[Tensor | None],
    outputs: Tensor | Sequence[Tensor],
    options: o.Options | None = None,
) -> Case:
    """Put a model together, and draw its inputs: mostly anything, at times the ends of the range."""
    tensors = [tensor for tensor in inputs if tensor is not None]
    numbers = iter(range(len(tensors)))
    indices = tuple(None if tensor is None else next(numbers) for tensor in inputs)
    results = [outputs] if isinstance(outputs, Tensor) else outputs
    result_indices = tuple(range(len(tensors), len(tensors) + len(results)))
    operator = Operator(kind, indices, result_indices, options, 0)
    ports = tuple(i for i, tensor in enumerate(tensors) if not tensor.is_constant)
    graph = Subgraph("main", (*tensors, *results), ports, result_indices, (operator,))
    return Case(graph, tuple(values(r, tensors[i]) for i in ports))


def values(r: Random, tensor: Tensor) -> Array:
    """Draw values for an input."""
    if tensor.dtype is FLOAT:
        return r.normal(0, 4, tensor.shape).astype(np.float32)
    if tensor.dtype is DType.BOOL:
        return r.integers(2, size=tensor.shape).astype(np.bool_)
    limits = np.iinfo(tensor.dtype.numpy)
    low, high = pick(r, [(limits.min, limits.max)] * 5 + [(limits.min, limits.min), (limits.max, limits.max)])
    return r.integers(low, high, tensor.shape, limits.dtype, endpoint=True)


def pick(r: Random, choices: Sequence[Any]) -> Any:
    """Draw one of several things."""
    return choices[int(r.integers(len(choices)))]


def span(r: Random, low: int, high: int) -> int:
    """Draw an integer; both ends are possible."""
    return int(r.integers(low, high, endpoint=True))


def single(value: float) -> float:
    """Round to float32."""
    return float(np.float32(value))


def activation(
    name: str,
    shape: Sequence[int],
    dtype: DType,
    scale: float = 1.0,
    zero_point: int | None = None,
    r: Random | None = None,
) -> Tensor:
    """Return a tensor that is computed or given; without a zero point, with any.  Some types are never quantized."""
    if dtype in {FLOAT, DType.BOOL, DType.INT64}:
        return Tensor(name, tuple(shape), dtype)
    if zero_point is None:
        assert r is not None
        limits = np.iinfo(dtype.numpy)
        zero_point = span(r, int(limits.min), int(limits.max))
    return Tensor(name, tuple(shape), dtype, Quantization((single(scale),), (zero_point,)))


def plain(name: str, shape: Sequence[int], dtype: DType) -> Tensor:
    """Return a tensor that is computed or given, and that nothing quantizes."""
    return Tensor(name, tuple(shape), dtype)


def constant(
    name: str, data: Array, scales: Sequence[float] = (), zero_points: Sequence[int] = (), axis: int = 0
) -> Tensor:
    """Return a constant tensor."""
    quantization = None
    if len(scales):
        points = tuple(zero_points) or (0,) * len(scales)
        quantization = Quantization(tuple(map(single, scales)), points, axis)
    return Tensor(name, data.shape, DType(data.dtype.name.upper()), quantization, np.ascontiguousarray(data).tobytes())
