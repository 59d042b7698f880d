"""Analyzes calls in a program: call order, and how functions and their callees use parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from typing import NamedTuple

from usmp_build.errors import one_line
from usmp_build.ir.graph import Model, Subgraph, Tensor
from usmp_build.ir.statements import Access, If, Invoke, walk


class Uses(NamedTuple):
    """The tensors that a function reads and writes."""

    read: frozenset[int]
    written: frozenset[int]


def calls_of(graph: Subgraph) -> list[int]:
    """Return the functions that a function calls, in the order of the text."""
    return [statement.function for statement in walk(graph.body) if isinstance(statement, Invoke)]


def callees_first(model: Model) -> Iterable[int]:
    """Return the functions of a program, callees before callers.  Raises CycleError for recursion."""
    return TopologicalSorter({f: calls_of(graph) for f, graph in enumerate(model.subgraphs)}).static_order()


def called_by_main(model: Model) -> list[int]:
    """Return the functions that main calls, directly or indirectly, by number."""
    callees: set[int] = set()
    waiting = [0]
    while waiting:
        new = set(calls_of(model.subgraphs[waiting.pop()])) - callees
        callees |= new
        waiting += new
    return sorted(callees)


class Demand(NamedTuple):
    """The requirements on the bytes of a tensor, including those of parameters that it is passed to."""

    alignment: int
    """In bytes."""
    size: int
    """In bytes; 0 if unknown."""


def demands(model: Model) -> Mapping[tuple[int, int], Demand]:
    """Return (function, tensor) → the demand on a parameter or argument.  Raises CycleError as `callees_first` does."""
    by_tensor: dict[tuple[int, int], Demand] = {}
    for function in callees_first(model):
        graph = model.subgraphs[function]
        by_tensor |= {(function, index): _own_demand(graph.tensors[index]) for index in range(graph.parameters)}
        for call in walk(graph.body):
            if isinstance(call, Invoke):
                for parameter, argument in enumerate(call.arguments):
                    if argument is not None:
                        demand = by_tensor.get((function, argument)) or _own_demand(graph.tensors[argument])
                        by_tensor[function, argument] = Demand(*map(max, demand, by_tensor[call.function, parameter]))
    return by_tensor


def _own_demand(tensor: Tensor) -> Demand:
    return Demand(tensor.dtype.alignment, known_size(tensor) or 0)


def alignments(model: Model) -> Mapping[tuple[int, int], int]:
    """Return (function, tensor) → the alignment in bytes that it needs.  Raises CycleError as `callees_first` does."""
    return {place: demand.alignment for place, demand in demands(model).items()}


def known_size(tensor: Tensor) -> int | None:
    """Return the bytes of a tensor; None if its type or shape is unknown."""
    is_known = (tensor.dtype.bits > 0 or tensor.is_constant) and min(tensor.shape, default=0) >= 0
    return tensor.size if is_known else None


def uses(model: Model) -> Mapping[int, Uses]:
    """Return the tensors that each function and its callees read and write.  Raises CycleError for recursion."""
    by_function: dict[int, Uses] = {}
    for function in callees_first(model):
        read: set[int] = set()
        written: set[int] = set()
        for statement in walk(model.subgraphs[function].body):
            match statement:
                case Access(reads, writes):
                    read.update(reads)
                    written.update(writes)
                case If(condition):
                    read.add(condition)
                case Invoke(callee, arguments):
                    passed = [(parameter, t) for parameter, t in enumerate(arguments) if t is not None]
                    read.update(t for parameter, t in passed if parameter in by_function[callee].read)
                    written.update(t for parameter, t in passed if parameter in by_function[callee].written)
        by_function[function] = Uses(frozenset(read), frozenset(written))
    return by_function


def role_fault(name: str, is_output: bool | None, is_read: bool, is_written: bool) -> str:
    """Return why a parameter of main is neither an input nor an output, or not what `is_output` says; else empty.

    Inputs are never written, outputs always are.  Where the program lists no outputs, what is read is none, either.
    """
    label = f'parameter "{one_line(name)}" of main'
    if is_output is not None:
        if is_output == is_written:
            return ""
        return f"{label} is an output, but never written" if is_output else f"{label} is an input, but it is written"
    if is_read != is_written:
        return ""
    what = "read and written" if is_read else "neither read nor written"
    return f"{label} is {what}: inputs are only read, outputs are only written"
