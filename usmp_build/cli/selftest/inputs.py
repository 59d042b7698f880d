"""Makes inputs that expose faults: full-range random ones, and the two extremes; indices are those that there are."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from usmp_build.cli.selftest.indices import Indices, highest_indices
from usmp_build.ir.graph import Model, Tensor

Sample: TypeAlias = tuple[NDArray[Any], ...]
"""One array for each input of a model."""

_FLOAT_RANGE = 4.0
"""Floats are drawn from [-4, 4]: networks are trained on inputs of about that size."""


def samples(model: Model, runs: int, seed: int) -> list[Sample]:
    """Draw inputs for `runs` runs: random, lowest, highest, then random again; the same for the same seed."""
    generator = np.random.default_rng(seed)
    highest = highest_indices(model.main)
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
