"""Makes the call of an operator's function: operands, parameters, and the prototype."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, EnumMeta

import numpy as np

from usmp_build.interfaces.kernels import (
    Absent,
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Member,
    Operand,
    Output,
    Parameters,
    Prototype,
    Scratch,
    ScratchRequest,
    Value,
    Whole,
)
from usmp_build.ir.c_types import pool_type
from usmp_build.ir.graph import DType, Operator, Subgraph
from usmp_build.ir.options import Options
from usmp_build.kernels.extern.describe import Description, Side
from usmp_build.naming import c_identifier


def copy(operator: Operator, graph: Subgraph, target: str) -> Kernel:
    """Return the kernel that copies a tensor from one pool to another."""
    function = f"{target}_copy"
    size = graph.tensors[operator.outputs[0]].size
    comment = f'Brings a tensor to or from where target "{target}" works'
    prototype = Prototype(comment, (Member("int32_t", "size", "bytes"),), ("const void *source", "void *destination"))
    parameters = Parameters(f"{function}_parameters", (("size", size),))
    call = KernelCall(function, Whole(), (Input(0), Output(0)), parameters, prototype=prototype)
    return Kernel((call,))


def compute(operator: Operator, graph: Subgraph, target: str, scratch: int) -> Kernel:
    """Return the kernel of an operator as one call with `scratch` bytes of scratch."""
    described = Description(operator, graph)
    function = f"{target}_{c_identifier(operator.kind).lower()}_{described.suffix}"
    arguments = list(_arguments(described.sides))
    if scratch:
        arguments.append((Scratch(0), "uint8_t *scratch"))
    rows = list(_rows(described))
    call = KernelCall(
        function,
        Whole(),
        tuple(operand for operand, _ in arguments),
        Parameters(f"{function}_parameters", tuple((member.name, value) for member, value in rows)),
        prototype=Prototype(
            f'{operator.kind} on target "{target}"' + (f", with {scratch} bytes of scratch" if scratch else ""),
            tuple(member for member, _ in rows),
            tuple(declaration for _, declaration in arguments),
        ),
    )
    return Kernel(
        (call,),
        constants=tuple(map(_scales, _scaled(described.sides))),
        scratch=(ScratchRequest("scratch", scratch, DType.UINT8),) if scratch else (),
        updates=frozenset(side.position for side in described.sides if _is_state(side)),
    )


def _scaled(sides: tuple[Side, ...]) -> list[Side]:
    return [side for side in sides if side.scaled_by_channel]


def _scales(side: Side) -> Constant:
    """Return the scales of a tensor; for a filter one for each channel, even where all are equal."""
    assert side.tensor is not None
    assert side.tensor.quantization is not None
    scales = side.tensor.quantization.scales
    if side.filter_axis is not None and len(scales) == 1:
        scales *= side.tensor.shape[side.filter_axis]
    return Constant(f"{side.name}_scales", DType.FLOAT32, np.array(scales, "<f4").tobytes())


def _arguments(sides: tuple[Side, ...]) -> Iterator[tuple[Operand, str]]:
    """Yield the pointers and their declarations: inputs, arrays of scales, outputs."""
    for side in sides:
        if not side.output:
            c_type = pool_type(side.dtype) if side.dtype else "void"
            const = "" if _is_state(side) else "const "
            yield Absent() if side.tensor is None else Input(side.position), f"{const}{c_type} *{side.name}"
    for number, side in enumerate(_scaled(sides)):
        yield Derived(number), f"const {pool_type(DType.FLOAT32)} *{side.name}_scales"
    for side in sides:
        if side.output and side.dtype:
            yield Output(side.position), f"{pool_type(side.dtype)} *{side.name}"


def _is_state(side: Side) -> bool:
    """Whether an operand is a variable: the function may change it."""
    return not side.output and side.tensor is not None and side.tensor.is_variable


def _rows(described: Description) -> Iterator[tuple[Member, Value]]:
    """Yield the members of the parameters and their values: shapes, quantization, options."""
    for side in described.sides:
        if side.name != "bias":  # one for each channel of the output
            shape = side.tensor.shape if side.tensor else ()
            value = (len(shape), shape or (0,))
            yield Member("struct usmp_shape", side.name, "" if side.dtype else "left out"), value
    for side in described.sides:
        yield from _quantization(side)
    if described.operator.options is not None:
        yield from _options(described.operator.options)


def _quantization(side: Side) -> Iterator[tuple[Member, Value]]:
    if not side.is_quantized or side.tensor is None:
        return
    quantization = side.tensor.quantization
    scale = quantization.scales[0] if quantization else 0.0
    zero_point = quantization.zero_points[0] if quantization else 0
    if side.scaled_by_channel:
        yield Member("int32_t", f"{side.name}_zero_point"), zero_point
    else:
        yield Member("struct usmp_quantization", f"{side.name}_quantization"), (float(scale), zero_point)


def _options(options: Options) -> Iterator[tuple[Member, Value]]:
    """Yield the options by their names in TFLite's schema, as numbers."""
    for name in type(options).__dataclass_fields__:
        value = getattr(options, name)
        match value:
            case None:
                pass  # only rewrites set it, and not for kernels of the application
            case Enum():
                yield Member("int32_t", name, _choices(type(value))), int(value.value)
            case float():
                yield Member("float", name), value
            case _:
                yield Member("int32_t", name), int(value)


def _choices(kind: EnumMeta) -> str:
    """Return a comment that explains the numbers of an enumeration."""
    choices: list[Enum] = list(kind.__members__.values())
    return ", ".join(f"{choice.value} {choice.name}" for choice in choices)
