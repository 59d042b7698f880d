"""Who calls whom in a program, and what functions do with their parameters, anywhere below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from typing import NamedTuple

from usmp_build.errors import one_line
from usmp_build.ir.graph import Model, Subgraph, Tensor
from usmp_build.ir.statements import Access, Invoke, walk


class Uses(NamedTuple):
    """Tensors of a function."""

    read: frozenset[int]
    written: frozenset[int]


def calls_of(graph: Subgraph) -> list[int]:
    """Return the functions that a function calls, in the order of the text."""
    return [statement.function for statement in walk(graph.body) if isinstance(statement, Invoke)]


def callees_first(model: Model) -> Iterable[int]:
    """Order the functions of a program.  Raises CycleError when one leads back to itself."""
    return TopologicalSorter({f: calls_of(graph) for f, graph in enumerate(model.subgraphs)}).static_order()


def called_by_main(model: Model) -> list[int]:
    """Return the functions that main calls, itself or through others, by number."""
    found: set[int] = set()
    waiting = [0]
    while waiting:
        new = set(calls_of(model.subgraphs[waiting.pop()])) - found
        found |= new
        waiting += new
    return sorted(found)


class Demand(NamedTuple):
    """What a tensor, and all that it is handed to as a parameter, need of its bytes."""

    alignment: int
    """In bytes."""
    size: int
    """In bytes; 0 where nobody says."""


def demands(model: Model) -> Mapping[tuple[int, int], Demand]:
    """Return (function, tensor) → what is demanded of it.  Raises CycleError as `callees_first` does."""
    found: dict[tuple[int, int], Demand] = {}
    for function in callees_first(model):
        for index, tensor in enumerate(model.subgraphs[function].tensors):
            found[function, index] = Demand(tensor.dtype.alignment, known_size(tensor) or 0)
        for call in walk(model.subgraphs[function].body):
            if isinstance(call, Invoke):
                for parameter, argument in enumerate(call.arguments):
                    if argument is not None:
                        own, inside = found[function, argument], found[call.function, parameter]
                        found[function, argument] = Demand(*map(max, own, inside))
    return found


def alignments(model: Model) -> Mapping[tuple[int, int], int]:
    """Return (function, tensor) → the alignment that is demanded of it.  Raises CycleError as `callees_first` does."""
    return {place: demand.alignment for place, demand in demands(model).items()}


def known_size(tensor: Tensor) -> int | None:
    """Return the bytes of a tensor; None when it does not say."""
    is_known = (tensor.dtype.bits > 0 or tensor.is_constant) and min(tensor.shape, default=0) >= 0
    return tensor.size if is_known else None


def uses_in_main(model: Model) -> Uses:
    """Return what main reads and writes, itself or by calls.  Raises CycleError when functions call each other."""
    return uses(model)[0]


def uses(model: Model) -> Mapping[int, Uses]:
    """Return what each function reads and writes, itself or by calls.  Raises CycleError as `callees_first` does."""
    found: dict[int, Uses] = {}
    for function in callees_first(model):
        read: set[int] = set()
        written: set[int] = set()
        for statement in walk(model.subgraphs[function].body):
            match statement:
                case Access(reads, writes):
                    read.update(reads)
                    written.update(writes)
                case Invoke(callee, arguments):
                    passed = [(parameter, t) for parameter, t in enumerate(arguments) if t is not None]
                    read.update(t for parameter, t in passed if parameter in found[callee].read)
                    written.update(t for parameter, t in passed if parameter in found[callee].written)
        found[function] = Uses(frozenset(read), frozenset(written))
    return found


def role_fault(name: str, is_read: bool, is_written: bool) -> str:
    """Say why a parameter of main is no input and no output; empty when it is one: only read, or only written."""
    if is_read != is_written:
        return ""
    what = "read and written" if is_read else "neither read nor written"
    return f'parameter "{one_line(name)}" of main is {what}: inputs are only read, outputs are only written'
