"""Names of layers: what decides how many instructions a kernel takes.  Equal layers of two models have one name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from usmp_build.importers.tflite import import_tflite
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.passes.rewrite.work import operator_macs

_WINDOWS = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D")


class Layer(NamedTuple):
    """A layer of a model file."""

    name: str
    macs: int
    """Multiply-accumulates, padding included."""


def layers_of(path: Path) -> dict[int, Layer]:
    """Return a model file's layers by their positions in it, before any rewrite."""
    graph = import_tflite(path.read_bytes(), path.name, "model").main
    return {
        operator.position: Layer(layer(operator, graph), operator_macs(operator, graph)) for operator in graph.operators
    }


def layer(operator: Operator, graph: Subgraph) -> str:
    """Return a name such as `CONV_2D 3x3, 3 to 8, stride 2, 48x48 of 96x96`, or `ADD 32x32x16`."""
    inputs = [graph.tensors[index] for index in operator.inputs if index is not None]
    outputs = [graph.tensors[index] for index in operator.outputs]
    if not outputs:
        return operator.kind
    types = "" if outputs[0].dtype.name == "INT8" else f" {outputs[0].dtype.name.lower()}"
    sizes = [tensor.shape for tensor in (*inputs[:2], outputs[0])]
    if operator.kind in _WINDOWS and len(sizes[0]) == 4:
        return f"{operator.kind}{types} {_window(operator, *sizes)}"
    if operator.kind == "FULLY_CONNECTED":
        *rows, count = sizes[-1]
        return f"{operator.kind}{types} {_by(rows)}{sizes[1][-1]} to {count}"
    return f"{operator.kind}{types} {_across(sizes[-1])}"


def _window(operator: Operator, source: Sequence[int], *others: Sequence[int]) -> str:
    options, made = operator.options, others[-1]
    if operator.kind.endswith("POOL_2D"):
        size, channels = (options.filter_h, options.filter_w), f"{made[3]}"
    else:
        size = others[0][1:3]
        channels = f"{source[3]}" if source[3] == made[3] and "DEPTH" in operator.kind else f"{source[3]} to {made[3]}"
    stride, apart = (options.stride_h, options.stride_w), _dilation(options)
    words = [_across(size), channels]
    words += [f"stride {_short(stride)}"] if stride != (1, 1) else []
    words += [f"dilation {_short(apart)}"] if apart != (1, 1) else []
    return ", ".join([*words, _across(made[1:3]) + (f" of {_across(source[1:3])}" if source[1:3] != made[1:3] else "")])


def _dilation(options: object) -> tuple[int, int]:
    return getattr(options, "dilation_h", 1), getattr(options, "dilation_w", 1)


def _short(pair: tuple[int, int]) -> str:
    return str(pair[0]) if pair[0] == pair[1] else _across(pair)


def _by(rows: Sequence[int]) -> str:
    return "".join(f"{count} x " for count in rows if count != 1)


def _across(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes[1:] if len(sizes) > 2 and sizes[0] == 1 else sizes))
