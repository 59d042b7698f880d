"""Describes the operands of an operator for its function: names, types, quantization.

The name of the function ends in what its prototype depends on, so that equal names have equal prototypes:

    conv_2d_s8              all tensors have the type that such an operator has them in
    concatenation_3_s8      three inputs and an output of one type
    gather_s8_s32_s8        every tensor's type, inputs first
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from types import MappingProxyType

from usmp_build.frozen import frozen
from usmp_build.interfaces.kernels import LONGEST_RANK
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.operators.kind import ArgumentType
from usmp_build.operators.table import traits

_CODES = MappingProxyType(
    {
        DType.BFLOAT16: "bf16", DType.BOOL: "bool", DType.COMPLEX64: "c64", DType.COMPLEX128: "c128",
        DType.FLOAT8_E4M3FN: "f8e4m3", DType.FLOAT8_E5M2: "f8e5m2", DType.FLOAT16: "f16", DType.FLOAT32: "f32",
        DType.FLOAT64: "f64", DType.INT2: "s2", DType.INT4: "s4", DType.INT8: "s8", DType.INT16: "s16",
        DType.INT32: "s32", DType.INT64: "s64", DType.UINT4: "u4", DType.UINT8: "u8", DType.UINT16: "u16",
        DType.UINT32: "u32", DType.UINT64: "u64",
    }
)  # fmt: skip
_QUANTIZED = frozenset({DType.INT4, DType.INT8, DType.INT16, DType.UINT4, DType.UINT8})
"""Types that are passed with scale and zero point; wider ones are sums, indices and counts."""
_SUMS = MappingProxyType({DType.FLOAT32: DType.FLOAT32, DType.INT16: DType.INT64})
"""Type of the data → type of the bias; all others have 32 bits."""


@frozen
class Side:
    """An input or output."""

    name: str
    position: int
    tensor: Tensor | None
    """None for an input that was left out."""
    dtype: DType | None
    """The type of its pointer; also for a bias that was left out."""
    output: bool
    filter_axis: int | None = None
    """For a filter: the axis of the output's channels."""

    @property
    def scaled_by_channel(self) -> bool:
        """Whether it comes with an array of scales."""
        quantization = self.tensor.quantization if self.tensor else None
        return self.is_filter or (quantization is not None and quantization.per_channel and self.is_quantized)

    @property
    def is_filter(self) -> bool:
        """Whether it is a filter of integers, which has a scale for each channel of the output."""
        return self.filter_axis is not None and self.is_quantized

    @property
    def is_quantized(self) -> bool:
        """Whether its numbers have a scale and a zero point."""
        return self.dtype in _QUANTIZED

    @property
    def code(self) -> str:
        """Its type as part of the function's name."""
        if self.dtype is None:
            return "none"
        return _CODES[self.dtype] + ("c" if self.scaled_by_channel and not self.is_filter else "")


@frozen
class Description:
    """An operator, and all sides of it in order: inputs first."""

    operator: Operator
    graph: Subgraph

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        """All inputs, those left out too, then all outputs."""
        return (*self._inputs(), *self._outputs())

    @cached_property
    def suffix(self) -> str:
        """The part of the function's name that the prototype depends on, besides the kind."""
        codes = [side.code for side in self.sides]
        if self._is_regular():
            return _CODES[self._data]
        if traits(self.operator.kind).arguments is None and len(set(codes)) == 1 and len(self.operator.outputs) == 1:
            inputs = len(self.operator.inputs)
            return codes[0] if inputs == 1 else f"{inputs}_{codes[0]}"
        return "_".join(codes)

    @cached_property
    def _data(self) -> DType:
        """The type of what the operator computes."""
        return self.graph.tensors[self.operator.outputs[0]].dtype

    def _is_regular(self) -> bool:
        roles = traits(self.operator.kind).arguments or {}
        expected = [_CODES[self._of_role(role)] for role in (*roles.values(), ArgumentType.SAME)]
        return bool(roles) and [side.code for side in self.sides] == expected

    def _of_role(self, role: ArgumentType) -> DType:
        if role is ArgumentType.BIAS:
            return _SUMS.get(self._data, DType.INT32)
        return self._data if role is ArgumentType.SAME else DType.INT32

    def _inputs(self) -> Iterator[Side]:
        indices = self.operator.inputs
        roles = tuple((traits(self.operator.kind).arguments or {}).items())
        count = len(indices)
        if count > len(roles):  # more than the kind has: they are told apart by position
            roles = tuple(("input" if count == 1 else f"input_{i}", ArgumentType.SAME) for i in range(count))
        for position, (name, role) in enumerate(roles):
            index = indices[position] if position < count else None
            tensor = None if index is None else self.graph.tensors[index]
            absent = self._of_role(role) if role is ArgumentType.BIAS else None
            weights = traits(self.operator.kind).weights if name == "filter" else None
            axis = weights.axis if weights else None
            yield Side(name, position, tensor, tensor.dtype if tensor else absent, False, axis)

    def _outputs(self) -> Iterator[Side]:
        several = len(self.operator.outputs) > 1
        for position, index in enumerate(self.operator.outputs):
            tensor = self.graph.tensors[index]
            yield Side(f"output_{position}" if several else "output", position, tensor, tensor.dtype, True)


def refusal(operator: Operator, graph: Subgraph) -> str:
    """Return why no C function can be called for an operator, as a clause; empty when one can."""
    for index in (*operator.inputs, *operator.outputs):
        tensor = graph.tensors[index] if index is not None else None
        if tensor is None:
            continue
        if tensor.dtype not in _CODES:
            return f"it works on {tensor.dtype.name}, which has no form in C"
        if tensor.elements == 0:
            return "a tensor of it is empty"
        if len(tensor.shape) > LONGEST_RANK:
            return f"a tensor of it has {len(tensor.shape)} dimensions; calls tell {LONGEST_RANK} at the most"
        if tensor.quantization and len(set(tensor.quantization.zero_points)) > 1:
            return "a tensor of it has several zero points"
    if not operator.outputs:
        return "it has no output"
    for side in Description(operator, graph).sides:
        if side.is_filter and not _has_channels(side):
            return "its filter has scales that are not those of the output's channels"
    return ""


def _has_channels(side: Side) -> bool:
    """Whether the scales of a filter are one, or one for each channel of the output."""
    assert side.tensor is not None
    assert side.filter_axis is not None
    scales = side.tensor.quantization.scales if side.tensor.quantization else ()
    shape = side.tensor.shape
    return side.filter_axis < len(shape) and len(scales) in (1, shape[side.filter_axis])
