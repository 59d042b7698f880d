"""Checks that a model is well-formed: the guarantees of every importer to the passes.

`check` finds the first fault, in a fixed order; each check relies on those before it.  Data flow within a subgraph,
calls between subgraphs, and statements of programs have modules of their own (`check_flow`, `check_calls`,
`check_body`).  Requirements of operator kinds for their operands are checked later, in `operators.well_formed`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields

from usmp_build.errors import Diagnostic, one_line
from usmp_build.ir.axes import physical_shape
from usmp_build.ir.check_body import body_faults, program_faults
from usmp_build.ir.check_calls import call_faults
from usmp_build.ir.check_flow import flow_faults
from usmp_build.ir.graph import DType, Model, Operator, Quantization, Subgraph, Tensor
from usmp_build.ir.labels import operator_label, tensor_label
from usmp_build.ir.options import Options, Parts
from usmp_build.ir.statements import Provider, allocations
from usmp_build.ir.variables import ASSIGN, HANDLE, READ, accesses, handles
from usmp_build.units import MAX_BYTES, show_bytes

MAX_RANK = 16
"""Most dimensions of a tensor.  TensorFlow Lite's kernels support up to 8."""

_MINIMUM = {
    "stride_h": 1,
    "stride_w": 1,
    "dilation_h": 1,
    "dilation_w": 1,
    "filter_h": 1,
    "filter_w": 1,
    "depth_multiplier": 0,
    "values_count": 0,
}
"""Least value of options."""

_OPERAND_COUNTS = {READ: (1, 1), ASSIGN: (2, 0)}
"""Operator kind → its number of inputs and outputs; the first input is the handle."""
_CURE = "Convert the model so that every subgraph that uses a variable has a VAR_HANDLE of its own."


def check(model: Model) -> Diagnostic | None:
    """Return the first fault of `model`, without a place; None if there is none."""
    return next(_faults(model), None)


def _faults(model: Model) -> Iterator[Diagnostic]:
    if not model.subgraphs:
        yield Diagnostic("T230", "the model has no subgraph: there is nothing to run")
    for index, subgraph in enumerate(model.subgraphs):
        yield from _index_faults(index, subgraph)
        unsized = {each.tensor for each in allocations(subgraph.body) if each.provider is not Provider.PLAN}
        for position, tensor in enumerate(subgraph.tensors):
            for code, message in () if position in unsized else _tensor_faults(tensor):
                yield Diagnostic(code, f"{tensor_label(index, position, tensor.name)} {message}")
        for position, operator in enumerate(subgraph.operators):
            for message in (*_option_faults(operator.options), *_kind_faults(operator)):
                yield Diagnostic("T232", f"{operator_label(index, position, operator.kind)}: {message}")
        yield from body_faults(index, model) if model.is_program else flow_faults(index, subgraph)
    yield from call_faults(model)
    yield from _variable_faults(model)
    yield from program_faults(model) if model.is_program else ()
    yield from _port_faults(model)


def _index_faults(index: int, subgraph: Subgraph) -> Iterator[Diagnostic]:
    count = len(subgraph.tensors)

    def faults(who: str, role: str, tensors: tuple[int | None, ...]) -> Iterator[Diagnostic]:
        for position, tensor in enumerate(tensors):
            if tensor is not None and not 0 <= tensor < count:
                message = f"{who}: {role} {position} is tensor {tensor}, but subgraph {index} has {count} tensors"
                yield Diagnostic("T231", message)

    yield from faults(f"subgraph {index}", "input", subgraph.inputs)
    yield from faults(f"subgraph {index}", "output", subgraph.outputs)
    for position, operator in enumerate(subgraph.operators):
        label = operator_label(index, position, operator.kind)
        yield from faults(label, "input", operator.inputs)
        yield from faults(label, "output", operator.outputs)


def _tensor_faults(tensor: Tensor) -> Iterator[tuple[str, str]]:
    if len(tensor.shape) > MAX_RANK:
        yield "T220", f"has {len(tensor.shape)} dimensions; at most {MAX_RANK} are supported"
    elif min(tensor.shape, default=0) < 0:
        yield "T221", f"has an unknown shape, {list(tensor.shape)}: convert the model with all shapes fixed"
    elif tensor.size > MAX_BYTES:
        yield "T222", f"takes {show_bytes(tensor.size)} bytes; at most {show_bytes(MAX_BYTES)} are supported"
    elif tensor.data is not None and tensor.is_variable:
        yield "T223", "is a variable, but has constant data"
    elif tensor.data is not None and len(tensor.data) != tensor.size:
        yield "T224", _other_size(tensor, tensor.data)
    elif tensor.initial is not None and len(tensor.initial) != tensor.size:
        yield "T224", _other_size(tensor, tensor.initial)
    if tensor.axis_separators is not None:
        try:
            physical_shape(tensor.shape, tensor.axis_separators)
        except ValueError as reason:
            yield "T228", f"has the shape {list(tensor.shape)}: {reason}"
    if tensor.quantization:
        yield from _quantization_faults(tensor, tensor.quantization)


def _other_size(tensor: Tensor, data: bytes) -> str:
    kind, size = f"{tensor.dtype.name} {list(tensor.shape)}", show_bytes(tensor.size)
    return f"has {show_bytes(len(data))} bytes of data, but {kind} takes {size}"


def _quantization_faults(tensor: Tensor, quantization: Quantization) -> Iterator[tuple[str, str]]:
    scales, zero_points, axis = quantization.scales, quantization.zero_points, quantization.axis
    if len(scales) != len(zero_points) or not scales:
        yield "T225", f"has {len(scales)} scales and {len(zero_points)} zero points"
    elif quantization.per_channel and not 0 <= axis < len(tensor.shape):
        yield "T225", f"is quantized along axis {axis}, but has {len(tensor.shape)} dimensions"
    elif quantization.per_channel and len(scales) != tensor.shape[axis]:
        yield "T225", f"has {len(scales)} scales for {tensor.shape[axis]} indices along axis {axis}"
    for scale in scales:
        if not (math.isfinite(scale) and scale >= 0):
            yield "T226", f"has the scale {scale}"
    low, high = _range_of(tensor.dtype)
    for zero_point in zero_points:
        if not low <= zero_point <= high:
            yield "T227", f"has the zero point {zero_point}, which {tensor.dtype.name} cannot hold"


def _range_of(dtype: DType) -> tuple[float, float]:
    if dtype.name.startswith("UINT"):
        return 0, (1 << dtype.bits) - 1
    if dtype.name.startswith("INT"):
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return -math.inf, math.inf


def _option_faults(options: Options | None) -> Iterator[str]:
    for option in fields(options) if options else ():
        value, minimum = getattr(options, option.name), _MINIMUM.get(option.name)
        if minimum is not None and value < minimum:
            yield f"the option {option.name} is {value}, but must be {minimum} or more"
        if isinstance(value, tuple):
            yield from _numbers_faults(option.name, value)
        if isinstance(value, float) and not math.isfinite(value):
            yield f"the option {option.name} is {value}, but must be finite"


def _kind_faults(operator: Operator) -> Iterator[str]:
    """Yield a clause for JOIN and CUT: only our own pass may create them, which checks that aliasing is safe."""
    if isinstance(operator.options, Parts) or operator.kind in {"JOIN", "CUT"}:
        yield "no model file has operators that make tensors parts of others"


def _numbers_faults(name: str, numbers: tuple[int, ...]) -> Iterator[str]:
    """Yield the faults of an option that is a list of numbers: a frame or limits."""
    count = {"frame": 4, "limits": 2}.get(name, len(numbers))
    if len(numbers) != count:
        yield f"the option {name} has {len(numbers)} numbers, but must have {count}"
    elif name == "frame" and min(numbers) < 0:
        yield f"the option frame is {list(numbers)}, but must be 0 or more"
    elif name == "limits" and numbers[0] > numbers[1]:
        yield f"the option limits is {list(numbers)}: the first must not be above the second"


def _port_faults(model: Model) -> Iterator[Diagnostic]:
    sides = (("input", model.input_names, model.main.inputs), ("output", model.output_names, model.main.outputs))
    for role, ports, tensors in sides:
        indices = set(tensors)
        for port in ports:
            if port.tensor not in indices:
                message = f'the signature calls tensor {port.tensor} "{port.name}", but it is no {role} of the model'
                yield Diagnostic("T238", message)


def _variable_faults(model: Model) -> Iterator[Diagnostic]:
    """Yield the faults of the variables of a model; indices of tensors must be valid."""
    for index, graph in enumerate(model.subgraphs):
        yield from _handle_faults(index, graph)
    kinds: dict[str, str] = {}
    for name, subgraph, position in _named(model):
        tensor = model.subgraphs[subgraph].tensors[position]
        label = tensor_label(subgraph, position, tensor.name)
        if not tensor.dtype.bits:
            message = f'{label} is {tensor.dtype.name}, but values of the variable "{one_line(name)}" need a fixed size'
            yield Diagnostic("T267", message)
        kind = f"{tensor.dtype.name} of {show_bytes(tensor.size)} bytes"
        first = kinds.setdefault(name, kind)
        if kind != first:
            yield Diagnostic("T267", f'{label} is {kind}, but elsewhere the variable "{one_line(name)}" is {first}')


def _named(model: Model) -> Iterator[tuple[str, int, int]]:
    """Yield (variable, subgraph, tensor) for all tensors that are variables, or are read from or assigned to one."""
    yield from ((access.resource, access.subgraph, access.value) for access in accesses(model))
    for index, graph in enumerate(model.subgraphs):
        yield from ((t.resource, index, position) for position, t in enumerate(graph.tensors) if t.resource)


def _handle_faults(index: int, graph: Subgraph) -> Iterator[Diagnostic]:
    """Yield faults of handles: each must go from a VAR_HANDLE directly to operators that read and assign it."""
    names_by_handle = handles(graph)
    for operator in graph.operators:
        label = operator_label(index, operator.position, operator.kind)
        if operator.kind == HANDLE and (len(operator.outputs) != 1 or operator.inputs):
            yield Diagnostic("T268", f"{label} does not make one handle of nothing")
        elif operator.kind in _OPERAND_COUNTS:
            if (len(operator.inputs), len(operator.outputs)) != _OPERAND_COUNTS[
                operator.kind
            ] or None in operator.inputs:
                yield Diagnostic("T268", f"{label} does not have a handle and a value")
            elif operator.inputs[0] not in names_by_handle and not graph.tensors[operator.inputs[0] or 0].is_variable:
                yield Diagnostic(
                    "T268", f"{label} uses a variable that no VAR_HANDLE of its subgraph names", help=_CURE
                )
            elif any(tensor in names_by_handle for tensor in (*operator.inputs[1:], *operator.outputs)):
                yield Diagnostic("T268", f"{label} uses a handle as a value")
        elif passed := sorted(names_by_handle.keys() & set(operator.inputs)):
            label = tensor_label(index, passed[0], graph.tensors[passed[0]].name)
            yield Diagnostic(
                "T268", f"{label} is the handle of a variable, and goes to {one_line(operator.kind)}", help=_CURE
            )
    for tensor in sorted(names_by_handle.keys() & {*graph.inputs, *graph.outputs}):
        label = tensor_label(index, tensor, graph.tensors[tensor].name)
        yield Diagnostic("T268", f"{label} is the handle of a variable, and leaves subgraph {index}", help=_CURE)
