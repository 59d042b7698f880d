"""Weights of int4, two to a byte: kernels read them as int8, from a constant that is unpacked at build time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

import numpy as np

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, KernelCall
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.node import Node, unsupported_types

_WEIGHTS = Input(1)
_INT8, _FLOAT32 = DType.INT8, DType.FLOAT32
_TYPES = {(_INT8, _INT8), (_FLOAT32, _FLOAT32), (DType.INT32, _FLOAT32)}
"""Of the first input and the output; the last pair is EMBEDDING_LOOKUP's."""


def perhaps_packed(kernel_of: Callable[[Node], Kernel]) -> Callable[[Node], Kernel]:
    """Return a function that makes kernels for weights of int4, too, from one that makes those for int8."""

    @wraps(kernel_of)
    def made(node: Node) -> Kernel:
        weights = node.optional(_WEIGHTS.position)
        if weights is None or weights.dtype is not DType.INT4 or not weights.is_constant:
            return kernel_of(node)
        if (node.input(0).dtype, node.output.dtype) not in _TYPES:
            raise unsupported_types(node.input(0), weights, node.output)
        tensors = list(node.graph.tensors)
        tensors[node.index(_WEIGHTS)] = unpacked = _unpacked(weights)
        assert unpacked.data is not None
        kernel = kernel_of(replace(node, graph=replace(node.graph, tensors=tuple(tensors))))
        return _with_constant(kernel, Constant("weights", DType.INT8, unpacked.data))

    return made


def _unpacked(weights: Tensor) -> Tensor:
    """Return weights as int8; the first one of a byte is in its lower half."""
    both = np.frombuffer(weights.data or b"", np.int8)
    halves = np.stack([both << 4, both], axis=1).ravel()[: weights.elements] >> 4
    return replace(weights, dtype=DType.INT8, data=halves.tobytes())


def _with_constant(kernel: Kernel, weights: Constant) -> Kernel:
    """Return a kernel that reads a constant of its own in place of the weights."""
    place = Derived(len(kernel.constants))

    def moved(call: KernelCall) -> KernelCall:
        return replace(call, operands=tuple(place if each == _WEIGHTS else each for each in call.operands))

    by_rows = kernel.by_rows and _with_constant(kernel.by_rows, weights)
    constants = (*kernel.constants, weights)
    return replace(kernel, calls=tuple(map(moved, kernel.calls)), constants=constants, by_rows=by_rows)
