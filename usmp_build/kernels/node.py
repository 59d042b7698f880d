"""An operator with its tensors, and the checks that all kernel families share.

What the library cannot run raises `Unsupported`, which becomes a `NoKernel`; what makes no sense raises KernelError.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from usmp_build.errors import Diagnostic, KernelError
from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import Input, Output
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.labels import operator_label, tensor_label
from usmp_build.ir.options import Options
from usmp_build.operators.reductions import Reducer
from usmp_build.request import Isa

LARGEST = (1 << 31) - 1
"""The largest number of elements or bytes that the kernels count."""

AnyOptions = TypeVar("AnyOptions", bound=Options)


class Unsupported(Exception):
    """The library cannot run the operator; the text is a clause, as in `NoKernel`."""


@frozen
class Node:
    """An operator of a graph."""

    operator: Operator
    graph: Subgraph
    isa: Isa = Isa.PORTABLE

    def __post_init__(self) -> None:
        axes = self.operator.inputs[1:2] if isinstance(self.operator.options, Reducer) else ()
        for index in (*self.operator.inputs, *self.operator.outputs):
            if index is None:
                continue
            tensor = self.graph.tensors[index]
            if tensor.elements == 0 and index not in axes:  # without axes, each element is reduced to itself
                raise Unsupported(f"{self.label(tensor)} is empty")
            if tensor.size > LARGEST:
                raise Unsupported(f"{self.label(tensor)} has more than {LARGEST:,} bytes")

    def input(self, position: int) -> Tensor:
        """Return the input at a position; raise when it is omitted."""
        tensor = self.optional(position)
        if tensor is None:
            raise self.error("K408", f"has no input {position}", _DAMAGED)
        return tensor

    def optional(self, position: int) -> Tensor | None:
        """Return the input at a position; None when it is omitted."""
        inputs = self.operator.inputs
        index = inputs[position] if position < len(inputs) else None
        return None if index is None else self.graph.tensors[index]

    def index(self, operand: Input | Output) -> int:
        """Return which tensor of the graph an operand is; raise when it is omitted."""
        if isinstance(operand, Output):
            return self.operator.outputs[operand.position]
        self.input(operand.position)
        return self.operator.inputs[operand.position] or 0

    def tensor(self, operand: Input | Output) -> Tensor:
        """Return the tensor that is an operand."""
        return self.graph.tensors[self.index(operand)]

    @cached_property
    def inputs(self) -> tuple[Tensor, ...]:
        """All inputs, none of which is omitted."""
        return tuple(self.input(position) for position in range(len(self.operator.inputs)))

    @cached_property
    def output(self) -> Tensor:
        """The only output."""
        self.expect(len(self.outputs) == 1, f"has {len(self.outputs)} outputs")
        return self.outputs[0]

    @cached_property
    def outputs(self) -> tuple[Tensor, ...]:
        """All outputs."""
        return tuple(self.graph.tensors[index] for index in self.operator.outputs)

    def with_tensors(self, change: Callable[[int, Tensor], Tensor], options: Options | None = None) -> Node:
        """Return the operator alone, with changed tensors, given their index and each of them, and perhaps options."""
        used = [index for index in (*self.operator.inputs, *self.operator.outputs) if index is not None]
        tensors = tuple(change(index, self.graph.tensors[index]) for index in used)
        inputs = tuple(None if index is None else used.index(index) for index in self.operator.inputs)
        outputs = tuple(map(used.index, self.operator.outputs))
        alone = replace(self.operator, inputs=inputs, outputs=outputs, options=options or self.operator.options)
        return replace(self, operator=alone, graph=Subgraph("", tensors, (), (), (alone,)))

    def options(self, kind: type[AnyOptions]) -> AnyOptions:
        """Return the options, which must be of this kind."""
        if not isinstance(self.operator.options, kind):
            raise self.error("K408", "has no options of its kind", _DAMAGED)
        return self.operator.options

    def array(self, position: int, role: str) -> NDArray[np.generic]:
        """Return the constant input at a position; `role` names it in the plural."""
        tensor = self.input(position)
        if not tensor.is_constant:
            raise Unsupported(f"its {role} are not constant")
        if not tensor.dtype.numpy:
            raise Unsupported(f"it has no kernel for {role} of type {tensor.dtype.name}")
        return tensor.as_array()

    def integers(self, position: int, role: str) -> list[int]:
        """Return the constant input at a position as a flat list; `role` names it in the plural."""
        array = self.array(position, role)
        self.expect(array.dtype.kind in "iu", f"has {role} that are not integers")
        numbers: list[int] = array.reshape(-1).tolist()
        return numbers

    def streamed(self, position: int = 0) -> Tensor:
        """Return the input that is read row by row."""
        tensor = self.input(position)
        if tensor.is_constant:
            raise Unsupported("its input is a constant")
        return tensor

    def scale(self, tensor: Tensor) -> float:
        """Return the only scale of a tensor: a positive number, exactly a float32."""
        return self.scales(tensor, 1)[0]

    def scales(self, tensor: Tensor, most: int) -> tuple[float, ...]:
        """Return the scales of a tensor: one for all of it or `most`, one for each channel."""
        if tensor.quantization is None or not tensor.quantization.scales:
            raise self.error("K401", f"needs the scale of {self.label(tensor)}, which has none", _AGAIN)
        scales = tensor.quantization.scales
        if len(scales) not in (1, most):
            raise Unsupported(f"{self.label(tensor)} has {len(scales)} scales")
        for scale in scales:
            if not (math.isfinite(scale) and scale > 0):
                raise self.error("K401", f"divides by the scale of {self.label(tensor)}, which is {scale:g}", _AGAIN)
        return scales

    def zero_point(self, tensor: Tensor) -> int:
        """Return the only zero point of a tensor, which is a value of its type."""
        zero_point = tensor.quantization.zero_points[0] if tensor.quantization else 0
        low, high = integer_range(tensor.dtype)
        if not low <= zero_point <= high:
            what = f"zero point {zero_point} of {self.label(tensor)}"
            raise self.error("K402", f"needs the {what}, which {tensor.dtype.name} does not hold", _DAMAGED)
        return zero_point

    def expect(self, holds: bool, message: str) -> None:
        """Raise an error about shapes unless something holds."""
        if not holds:
            raise self.error("K408", message, _DAMAGED)

    def expect_same_size(self) -> None:
        """Raise an error unless the output has as many elements as the first input."""
        self.expect(self.input(0).elements == self.output.elements, "has an output of another size than its input")

    def error(self, code: str, message: str, help_: str) -> KernelError:
        """Return an error whose message begins with the operator; the caller of the library adds its place."""
        subgraph = self.graph.operators
        position = self.operator.position if self.operator.position >= 0 else subgraph.index(self.operator)
        return KernelError(Diagnostic(code, f"{operator_label(0, position, self.operator.kind)} {message}", help=help_))

    def label(self, tensor: Tensor) -> str:
        """Return the name of a tensor in messages."""
        index = next(i for i, other in enumerate(self.graph.tensors) if other is tensor)
        return tensor_label(0, index, tensor.name)


_DAMAGED = "the model contradicts itself; convert it again"
_AGAIN = "quantize the model again, with samples that make every layer produce values other than 0"


def unsupported_types(*tensors: Tensor) -> Unsupported:
    """Return the error for tensors of unsupported types."""
    names = dict.fromkeys(tensor.dtype.name for tensor in tensors)
    return Unsupported(f"it has no kernel for {' with '.join(names)}")


def check_symmetric(node: Node, *tensors: Tensor) -> None:
    """Refuse tensors with a zero point."""
    for tensor in tensors:
        if node.zero_point(tensor):
            raise Unsupported(f"{node.label(tensor)} has a zero point other than 0")


def check_plain(node: Node, *tensors: Tensor) -> None:
    """Refuse integers that stand for real numbers where they count as what they are."""
    for tensor in tensors:
        if tensor.quantization is not None and tensor.quantization.scales:
            raise Unsupported(f"{node.label(tensor)} is a quantized {tensor.dtype.name}")


def check_alike(node: Node, *tensors: Tensor) -> None:
    """Refuse quantized tensors that do not all have one scale and one zero point."""
    quantized = {(node.scale(tensor), node.zero_point(tensor)) for tensor in tensors}
    if len(quantized) > 1:
        raise Unsupported("its inputs and its output are quantized in different ways")


def integer_range(dtype: DType) -> tuple[int, int]:
    """Return the smallest and largest value of an integer type."""
    info = np.iinfo(dtype.numpy)
    return int(info.min), int(info.max)
