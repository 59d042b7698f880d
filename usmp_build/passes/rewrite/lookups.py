"""Fuses chains of elementwise int8 operators into one LOOKUP, which maps each value through a table.

    %3 = LOGISTIC(%1)
    %4 = MUL(%1, %3)        →    %4 = LOOKUP(%1) table=[...]

An int8 has 256 values: the result for each is computed here, with the arithmetic of the operators.  Tensors between
them must have no other readers.  A look-up takes fewer instructions than any two of them; its table takes 256 bytes, so
a chain is fused if one of its kernels has a table anyway (LOGISTIC, TANH, ELU, ...), or the tensor is as large.
RELU_N1_TO_1 is replaced even alone, since there is no other kernel for it.  So is a QUANTIZE after a DEQUANTIZE, which
avoids floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from usmp_build.ir.graph import Model, Operator
from usmp_build.operators.kind import Int8Kernel
from usmp_build.operators.table import traits
from usmp_build.operators.unary import Lookup
from usmp_build.passes.rewrite.edit import Net, in_each_subgraph
from usmp_build.passes.rewrite.elements import VALUES, changes_nothing, elements_read, int8_behind_floats, table
from usmp_build.passes.rewrite.pins import NO_PINS, Pins

_MOST = 16
"""Most operators that are fused at once; longer chains are fused step by step."""


class _Chain(NamedTuple):
    """Operators between two tensors."""

    source: int
    places: tuple[int, ...]


def lookups(model: Model, pins: Pins = NO_PINS) -> Model:
    """Fuse operators with those before them, in the order in which they run."""
    return in_each_subgraph(model, pins, _step)


def _step(net: Net) -> None:
    for place, op in enumerate(net.graph.operators):
        if traits(op.kind).only_shape or not net.may_change(op):
            continue
        for chain in reversed([*_chains(place, net)]):
            joined = _joined(chain, net)
            if joined is not None:
                for each in chain.places:
                    net.put(each, None)
                net.put(place, joined)
                break


def _chains(place: int, net: Net) -> Iterator[_Chain]:
    """Yield the chains that end at a place, and are worth a table; longer ones last.

    Of the tensors that the operators read, the one computed last is replaced by its inputs first: so no tensor is
    skipped from which all others are computed.
    """
    places = {place}
    read = elements_read(net.operators[place], net)
    while read:
        chain = _Chain(min(read), tuple(sorted(places)))
        if len(read) == 1 and _pays(chain, net):
            yield chain
        inner = [tensor for tensor in read if _is_between(tensor, place, places, net)]
        if not inner or len(places) == _MOST:
            return
        last = max(inner, key=lambda tensor: net.writers[tensor])
        places.add(net.writers[last])
        read = (read - {last}) | elements_read(net.producer(last), net)


def _is_between(tensor: int, place: int, places: set[int], net: Net) -> bool:
    """Tell whether a tensor is written by an operator that may be fused with those at `places`, its only readers."""
    op, last = net.producer(tensor), net.operators[place]
    if op is None or last is None or not net.may_go(tensor) or not net.readers[tensor] <= places:
        return False
    return bool(elements_read(op, net)) and net.pins.may_join(net.index, op, last)


def _pays(chain: _Chain, net: Net) -> bool:
    """Tell whether a table is worth its bytes: some operator has one anyway, or no kernel without one."""
    kinds = [traits(op.kind) for op in _operators(chain, net)]
    kernels = [kind.int8.kernel if kind.int8 else None for kind in kinds if not kind.only_shape]
    has_room = Int8Kernel.TABLE in kernels or net.graph.tensors[chain.source].elements >= len(VALUES)
    behind_floats = any(int8_behind_floats(op, net) is not None for op in _operators(chain, net))
    return behind_floats or Int8Kernel.NONE in kernels or (len(kernels) > 1 and has_room)


def _joined(chain: _Chain, net: Net) -> Operator | None:
    """Return the operator that replaces a chain; None if its table cannot be computed."""
    operators = _operators(chain, net)
    last, values = operators[-1], table(operators, chain.source, net)
    if values is None:
        return None
    if changes_nothing(values, chain.source, net):
        return Operator("RESHAPE", (chain.source,), last.outputs, None, last.position)
    return Operator("LOOKUP", (chain.source,), last.outputs, Lookup(tuple(values.tolist())), last.position)


def _operators(chain: _Chain, net: Net) -> list[Operator]:
    return [op for op in map(net.operators.__getitem__, chain.places) if op is not None]
