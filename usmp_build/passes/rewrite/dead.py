"""Removes operators whose outputs are not needed (dead code elimination).

    %3 = TANH(%1)           →                          (%3 is not read, and not an output)
    %4 = RELU(%1)                %4 = RELU(%1)

Operators stay if they may have side effects, call a subgraph, are named by a rule or run by another library than the
reference one, or write a tensor that a rule names.  Of variables, reading one is not a side effect.
"""

from __future__ import annotations

from usmp_build.ir.graph import Model, Operator
from usmp_build.ir.variables import READ
from usmp_build.operators.table import traits
from usmp_build.passes.rewrite.dead_parts import dead_parts
from usmp_build.passes.rewrite.edit import Net, in_each_subgraph
from usmp_build.passes.rewrite.pins import NO_PINS, Pins
from usmp_build.passes.state import touches_state


def dead(model: Model, pins: Pins = NO_PINS) -> Model:
    """Remove operators that are not needed, from the last one on; then parts of splits that are not."""
    return dead_parts(in_each_subgraph(model, pins, _step), pins)


def _step(net: Net) -> None:
    for place, op in reversed([*enumerate(net.operators)]):
        if op is not None and _is_dead(op, net):
            net.put(place, None)


def _is_dead(op: Operator, net: Net) -> bool:
    only_reads = op.kind == READ or not touches_state(op, net.graph)
    if not traits(op.kind).is_pure or not only_reads or not net.pins.is_free(net.index, op):
        return False
    return all(net.may_go(tensor) and not net.readers[tensor] for tensor in op.outputs)
