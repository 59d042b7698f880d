"""Models with something wrong in them: the records of a sound file, changed at random as no bit flip would.

A mutant is sound as a file, so it gets as far as its contents allow: past the reader, past the door, into the passes.
Half of all changes leave operators well formed: other scales, other constants, other outputs, other kinds of one form.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from random import Random
from typing import Any, TypeVar

import numpy as np
from tflite.TensorType import TensorType

from usmp_build.importers.tflite import schema
from usmp_build.importers.tflite.enums import OPERATORS, TYPES

Change = Callable[[schema.Model, Random], schema.Model]
Item = TypeVar("Item")

_KINDS = dict(enumerate(OPERATORS))
_NUMBERS = {kind: number for number, kind in _KINDS.items()}
_SIDES = (0, 1, 1, 2, 3, 4, 7, 8, 16, 255, 256, 1 << 16, (1 << 31) - 1, -1)
_INTEGERS = (0, 1, 2, 3, -1, -2, 4, 127, 128, 255, 256, 65_536, (1 << 31) - 1, -(1 << 31))
_SCALES = (0.0, 1e-45, 1e-38, 1e-30, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 1e4, 1e9, 3e38, float("inf"), float("nan"), -1.0)
_ZEROS = (0, 1, -1, -128, 127, 128, 255, 32_767, -32_768, 1 << 31, -(1 << 31), (1 << 63) - 1)
_TYPES = (TensorType.INT8,) * 3 + (TensorType.FLOAT32,) * 2 + tuple(range(TYPES.index("BFLOAT16") + 1))
_ALIKE = (
    ("RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "QUANTIZE", "DEQUANTIZE", "SOFTMAX", "CAST", "ABS", "SQUEEZE"),
    ("ELU", "RSQRT", "ROUND", "LOGICAL_NOT", "GELU", "RELU", "TANH", "QUANTIZE"),
    ("PRELU", "EQUAL", "GREATER_EQUAL", "LESS", "LOGICAL_AND", "FLOOR_MOD", "DIV", "ADD", "MAXIMUM"),
    ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "DIV", "PACK", "CONCATENATION", "MEAN", "PAD"),
    ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D", "MEAN"),
    ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "PADV2", "SLICE", "SPLIT_V"),
    ("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE", "TILE", "BROADCAST_TO", "SUM", "MEAN", "REDUCE_MAX", "GATHER"),
    ("SPLIT", "UNPACK", "SPLIT_V", "SHAPE", "RANK", "RESIZE_BILINEAR", "STRIDED_SLICE", "SVDF"),
)
"""Kinds whose operators have as many operands."""


def mutant(file: schema.Model, seed: int) -> schema.Model:
    """Return the records of a file with one to four changes."""
    random = Random(seed)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        file = random.choice(CHANGES)(file, random)
    return file


def _put(items: Sequence[Item], at: int, item: Item) -> tuple[Item, ...]:
    return (*items[:at], item, *items[at + 1 :])


def _with_graph(file: schema.Model, at: int, **changes: Any) -> schema.Model:
    """Change a subgraph."""
    return replace(file, subgraphs=_put(file.subgraphs, at, replace(file.subgraphs[at], **changes)))


def _in_subgraph(change: Callable[[schema.SubGraph, Random, schema.Model], schema.SubGraph]) -> Change:
    def changed(file: schema.Model, random: Random) -> schema.Model:
        at = random.randrange(len(file.subgraphs)) if file.subgraphs else 0
        if not file.subgraphs or not file.subgraphs[at].tensors:
            return file
        return replace(file, subgraphs=_put(file.subgraphs, at, change(file.subgraphs[at], random, file)))

    return changed


def _of_operator(change: Callable[[schema.Operator, Random, int], schema.Operator]) -> Change:
    """Change an operator; the number is that of tensors."""

    def changed(graph: schema.SubGraph, random: Random, _: schema.Model) -> schema.SubGraph:
        if not graph.operators:
            return graph
        at = random.randrange(len(graph.operators))
        mutant_operator = change(graph.operators[at], random, len(graph.tensors))
        return replace(graph, operators=_put(graph.operators, at, mutant_operator))

    return _in_subgraph(changed)


def _indices(given: tuple[int, ...], random: Random, tensors: int) -> tuple[int, ...]:
    """Remove, repeat, swap or exchange one."""
    at = random.randrange(len(given)) if given else 0
    other = random.choice((*range(tensors), -1))
    if not given:
        return (other,)
    return random.choice(
        (
            (*given[:at], *given[at + 1 :]),
            (*given, given[at]),
            (*given, other),
            _put(given, at, other),
            _put(given, at, other),
            given[::-1],
            (*given[at:], *given[:at]),
        )
    )


def _operands(op: schema.Operator, random: Random, tensors: int) -> schema.Operator:
    return replace(op, inputs=_indices(op.inputs, random, tensors))


def _results(op: schema.Operator, random: Random, tensors: int) -> schema.Operator:
    return replace(op, outputs=_indices(op.outputs, random, tensors))


def _options(op: schema.Operator, random: Random, _: int) -> schema.Operator:
    if not op.options or not fields(op.options[0]):
        return replace(op, options=(), options_type=random.choice((0, op.options_type)))
    option = random.choice(fields(op.options[0]))
    old = getattr(op.options[0], option.name)
    new: Any = random.choice((*range(6), *_INTEGERS))
    new = str(new) if isinstance(old, str) else bool(new % 2) if isinstance(old, bool) else new
    new = random.choice(_SCALES) if isinstance(old, float) else new
    return replace(op, options=(replace(op.options[0], **{option.name: new}),))


def _kind(file: schema.Model, random: Random) -> schema.Model:
    """Make an operator one of another kind, most often of one with as many operands."""
    at = random.randrange(len(file.subgraphs)) if file.subgraphs else 0
    if not file.subgraphs or not file.subgraphs[at].operators:
        return file
    graph = file.subgraphs[at]
    place = random.randrange(len(graph.operators))
    op = graph.operators[place]
    old = file.operator_codes[op.opcode_index] if op.opcode_index < len(file.operator_codes) else schema.OperatorCode()
    name = _KINDS.get(max(old.builtin_code, old.deprecated_builtin_code), "")
    alike = [kind for group in _ALIKE if name in group for kind in group]
    kind = random.choice(alike if alike and random.random() < 0.8 else sorted(_NUMBERS))
    code = schema.OperatorCode(builtin_code=_NUMBERS[kind], custom_code="Own" if kind == "CUSTOM" else "")
    tag, stored = schema.OPTIONS.get(kind, (0, None))
    table = schema.options_table(stored) if stored else None
    options = op.options if table and op.options_type == tag else (table(),) if table else ()
    operator = replace(op, opcode_index=len(file.operator_codes), options=options, options_type=tag)
    file = _with_graph(file, at, operators=_put(graph.operators, place, operator))
    return replace(file, operator_codes=(*file.operator_codes, code))


def _operators(graph: schema.SubGraph, random: Random, _: schema.Model) -> schema.SubGraph:
    """Remove an operator, repeat it, once more with results of its own, or move it."""
    ops = list(graph.operators)
    if not ops:
        return graph
    op, tensors = ops[random.randrange(len(ops))], list(graph.tensors)
    at = random.randrange(len(ops) + 1)
    match random.randrange(4):
        case 0:
            ops.remove(op)
        case 1:
            ops.insert(at, op)
        case 2:
            ops.remove(op)
            ops.insert(at, op)
        case _:
            results = tuple(range(len(tensors), len(tensors) + len(op.outputs)))
            tensors += [graph.tensors[max(0, min(t, len(tensors) - 1))] for t in op.outputs]
            ops.append(replace(op, outputs=results))
            outputs = (*graph.outputs, *results[: random.randrange(2)])
            return replace(graph, operators=tuple(ops), tensors=tuple(tensors), outputs=outputs)
    return replace(graph, operators=tuple(ops))


def _ports(graph: schema.SubGraph, random: Random, _: schema.Model) -> schema.SubGraph:
    side = random.choice(("inputs", "outputs", "outputs"))
    return replace(graph, **{side: _indices(getattr(graph, side), random, len(graph.tensors))})


def _of_tensor(change: Callable[[schema.Tensor, Random], schema.Tensor]) -> Change:
    def changed(file: schema.Model, random: Random) -> schema.Model:
        at = random.randrange(len(file.subgraphs)) if file.subgraphs else 0
        if not file.subgraphs or not file.subgraphs[at].tensors:
            return file
        tensors = file.subgraphs[at].tensors
        place = random.randrange(len(tensors))
        file = _with_graph(file, at, tensors=_put(tensors, place, change(tensors[place], random)))
        return _with_data(file, at, place, random) if random.random() < 0.8 else file

    return changed


_WIDTHS = {TensorType.FLOAT32: 4, TensorType.INT32: 4, TensorType.INT64: 8, TensorType.INT16: 2, TensorType.FLOAT16: 2}


def _with_data(file: schema.Model, subgraph: int, place: int, random: Random, always: bool = False) -> schema.Model:
    """Give a constant as many bytes as its shape takes."""
    graph = file.subgraphs[subgraph]
    tensor = graph.tensors[place]
    old = file.buffers[tensor.buffer].data if 0 < tensor.buffer < len(file.buffers) else b""
    size = int(np.prod([max(0, side) for side in tensor.shape], dtype=object)) * _WIDTHS.get(tensor.type, 1)
    if not (old or always) or len(old) == size or size > 1 << 16:
        return file
    data = (old * (size // len(old) + 1))[:size] if old else random.randbytes(size)
    tensors = _put(graph.tensors, place, replace(tensor, buffer=len(file.buffers)))
    file = _with_graph(file, subgraph, tensors=tensors)
    return replace(file, buffers=(*file.buffers, schema.Buffer(data)))


def _shape(tensor: schema.Tensor, random: Random) -> schema.Tensor:
    shape = list(tensor.shape)
    at = random.randrange(len(shape)) if shape else 0
    match random.randrange(6):
        case 0 if shape:
            del shape[at]
        case 1:
            shape.insert(at, random.choice(_SIDES))
        case 2 if shape:
            shape[at] += random.choice((-1, 1))
        case 3:
            random.shuffle(shape)
        case _ if shape:
            shape[at] = random.choice(_SIDES)
    return replace(tensor, shape=tuple(shape))


def _type(tensor: schema.Tensor, random: Random) -> schema.Tensor:
    return replace(tensor, type=random.choice(_TYPES))


def _quantization(tensor: schema.Tensor, random: Random) -> schema.Tensor:
    old = tensor.quantization[0] if tensor.quantization else schema.QuantizationParameters((0.1,), (0,))
    at = random.randrange(max(1, len(old.scale)))
    scale = float(np.float32(random.choice(_SCALES) if random.random() < 0.7 else random.uniform(0, 2)))
    match random.randrange(7):
        case 0:
            return replace(tensor, quantization=())
        case 1 if old.scale:
            new = replace(old, scale=_put(old.scale, at, scale))
        case 2 if old.zero_point:
            new = replace(old, zero_point=_put(old.zero_point, min(at, len(old.zero_point) - 1), random.choice(_ZEROS)))
        case 3:
            new = replace(old, quantized_dimension=random.choice((0, 1, 2, 3, 4, -1)))
        case 4:
            count = random.choice((1, 2, *tensor.shape[-1:], *tensor.shape[:1]))
            count = count if 0 < count <= 256 else 1
            new = replace(old, scale=(scale,) * count, zero_point=(random.choice(_ZEROS),) * count)
        case _:
            new = schema.QuantizationParameters((scale,), (random.choice(_ZEROS[:5]),))
    return replace(tensor, quantization=(new,))


def _variable(tensor: schema.Tensor, random: Random) -> schema.Tensor:
    return replace(tensor, is_variable=not tensor.is_variable, buffer=random.choice((0, tensor.buffer)))


def _constant(file: schema.Model, random: Random) -> schema.Model:
    """Make a tensor a constant, or one that is a constant no longer; or change what it holds."""
    at = random.randrange(len(file.subgraphs)) if file.subgraphs else 0
    if not file.subgraphs or not file.subgraphs[at].tensors:
        return file
    graph = file.subgraphs[at]
    place = random.randrange(len(graph.tensors))
    tensor = graph.tensors[place]
    data = file.buffers[tensor.buffer].data if 0 < tensor.buffer < len(file.buffers) else b""
    if not data:
        return _with_data(file, at, place, random, always=True)
    if random.random() < 0.2:
        return _with_graph(file, at, tensors=_put(graph.tensors, place, replace(tensor, buffer=0)))
    changed = bytearray(data)
    if tensor.type == TensorType.INT32 and len(data) >= 4:
        place = 4 * random.randrange(len(data) // 4)
        changed[place : place + 4] = random.choice(_INTEGERS).to_bytes(4, "little", signed=True)
    else:
        start = random.randrange(len(data))
        count = min(8, len(data) - start)
        changed[start : start + count] = bytes([random.choice((0, 0x7F, 0x80, 0xFF))]) * count
    return replace(file, buffers=_put(file.buffers, tensor.buffer, schema.Buffer(bytes(changed))))


CHANGES: list[Change] = [
    _of_operator(_operands),
    _of_operator(_operands),
    _of_operator(_results),
    _of_operator(_options),
    _of_operator(_options),
    _kind,
    _kind,
    _in_subgraph(_operators),
    _in_subgraph(_ports),
    _in_subgraph(_ports),
    _of_tensor(_shape),
    _of_tensor(_type),
    _of_tensor(_quantization),
    _of_tensor(_quantization),
    _of_tensor(_variable),
    _constant,
    _constant,
]
