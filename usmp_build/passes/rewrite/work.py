"""Counts the operators, weights and multiplications of a model, to report the savings of rewrites."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import NamedTuple

from usmp_build.ir.graph import Model, Operator, Subgraph
from usmp_build.ir.rewritten import Record, Saving
from usmp_build.operators.table import traits


class Work(NamedTuple):
    """Totals over all subgraphs, each counted once."""

    operators: int = 0
    """Operators that run, so no views."""
    weights: int = 0
    """Elements of the constants that convolutions and FULLY_CONNECTED multiply with."""
    macs: int = 0
    """Multiply-accumulates of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED; padding counts like pixels."""
    constant_bytes: int = 0


def saving(rewrite: str, before: Model, after: Model) -> Saving:
    """Return what a rewrite removed from a model."""
    operators, weights, macs, constant_bytes = (old - new for old, new in zip(work(before), work(after), strict=True))
    return Saving(rewrite, operators, _channels(before, after), weights, macs, constant_bytes)


def with_saving(rewrite: str, record: Record, before: Model, after: Model) -> Record:
    """Return the record with the saving of one more rewrite, if any."""
    removed = saving(rewrite, before, after)
    return record if removed.is_empty else replace(record, savings=(*record.savings, removed))


def tensors_in_use(model: Model) -> set[tuple[int, int]]:
    """Return (subgraph, tensor) of all operands, inputs and outputs."""
    used: set[tuple[int, int]] = set()
    for index, graph in enumerate(model.subgraphs):
        touched = (t for op in graph.operators for t in (*op.inputs, *op.outputs) if t is not None)
        used.update((index, tensor) for tensor in (*graph.inputs, *graph.outputs, *touched))
    return used


def macs(graph: Subgraph) -> int:
    """Return the multiply-accumulates of one run of a subgraph."""
    return sum(operator_macs(op, graph) for op in graph.operators)


def work(model: Model) -> Work:
    """Return the totals of a model."""
    parts = [_in_subgraph(graph) for graph in model.subgraphs]
    return Work(*map(sum, zip(*parts, strict=True)))


def _in_subgraph(graph: Subgraph) -> Work:
    constants = {t for op in graph.operators for t in op.inputs if t is not None and graph.tensors[t].is_constant}
    weights = {op.inputs[1] for op in graph.operators if traits(op.kind).summed and len(op.inputs) > 1} & constants
    return Work(
        operators=sum(op.runs for op in graph.operators),
        weights=sum(graph.tensors[t].elements for t in weights if t is not None),
        macs=macs(graph),
        constant_bytes=sum(graph.tensors[t].size for t in constants),
    )


def operator_macs(op: Operator, graph: Subgraph) -> int:
    """Return the multiplications of an operator: for each output element, those of one filter."""
    summed = traits(op.kind).summed
    weights = op.inputs[1] if len(op.inputs) > 1 else None
    if summed is None or weights is None or len(op.outputs) != 1:
        return 0
    return graph.tensors[op.outputs[0]].elements * prod(graph.tensors[weights].shape[summed])


def _channels(before: Model, after: Model) -> int:
    """Return the channels lost by tensors that are computed both before and after."""
    lost = 0
    for old, new in zip(before.subgraphs, after.subgraphs, strict=True):
        for tensor in old.producers.keys() & new.producers.keys():
            lost += sum(old.tensors[tensor].shape[-1:]) - sum(new.tensors[tensor].shape[-1:])
    return lost
