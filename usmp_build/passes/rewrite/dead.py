"""Removes operators whose outputs are not needed (dead code elimination).

    %3 = TANH(%1)           →                          (%3 is not read, and not an output)
    %4 = RELU(%1)                %4 = RELU(%1)

Operators stay if they may have side effects, call a subgraph, are named by a rule or run by another library than the
reference one, or write a tensor that a rule names.  Of variables, reading one is not a side effect.

Then a split with a single output that is read becomes a slice.

    %3, %4, %5 = SPLIT(%2, %1)    →    %4 = STRIDED_SLICE(%1, %6, %7, %8)         (%3 and %5 are not read)

The bounds and steps of the slice are new constants.
"""

from __future__ import annotations

from collections.abc import Sequence

from usmp_build.ir.graph import Model, Operator
from usmp_build.ir.variables import READ
from usmp_build.operators.slicing import StridedSlice
from usmp_build.operators.table import traits
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


_SOURCE = {"SPLIT": 1, "SPLIT_V": 0}
_AXIS = {"SPLIT": 0, "SPLIT_V": 2}
"""Operator kind → position of the operand."""


def dead_parts(model: Model, pins: Pins) -> Model:
    """Replace every split with a single needed output by a slice."""
    return in_each_subgraph(model, pins, _sliced)


def _sliced(net: Net) -> None:
    for place, op in enumerate(net.graph.operators):
        needed = [part for part in op.outputs if net.readers[part] or not net.may_go(part)]
        if op.kind not in _SOURCE or len(op.outputs) < 2 or len(needed) != 1 or not net.may_change(op):
            continue
        bounds = _bounds(op, needed[0], net)
        if bounds is not None:
            inputs = (op.inputs[_SOURCE[op.kind]], *(net.add_numbers("bounds", numbers) for numbers in bounds))
            net.put(place, Operator("STRIDED_SLICE", inputs, (needed[0],), StridedSlice(), op.position))


def _bounds(op: Operator, part: int, net: Net) -> tuple[list[int], list[int], list[int]] | None:
    """Return the begins, ends and strides of a part; None unless the parts cover the whole input."""
    source, axes = net.tensor(op.inputs[_SOURCE[op.kind]]), net.integers(op, _AXIS[op.kind])
    shapes = [net.graph.tensors[each].shape for each in op.outputs]
    if source is None or not axes or len(axes) != 1 or not -len(source.shape) <= axes[0] < len(source.shape):
        return None
    axis = axes[0] % len(source.shape)
    if any(len(shape) != len(source.shape) or _around(shape, axis) != _around(source.shape, axis) for shape in shapes):
        return None
    sizes = [shape[axis] for shape in shapes]
    if sum(sizes) != source.shape[axis] or not _as_given(op, sizes, net):
        return None
    begin = sum(sizes[: op.outputs.index(part)])
    begins, ends = [0] * len(source.shape), [*source.shape]
    begins[axis], ends[axis] = begin, begin + sizes[op.outputs.index(part)]
    return begins, ends, [1] * len(source.shape)


def _around(shape: Sequence[int], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _as_given(op: Operator, sizes: list[int], net: Net) -> bool:
    """Tell whether the sizes are valid: SPLIT makes equal parts; SPLIT_V declares sizes, with -1 for the rest."""
    if op.kind == "SPLIT":
        return len(set(sizes)) == 1
    given = net.integers(op, 1) or []
    return len(given) == len(sizes) and all(declared in (-1, size) for declared, size in zip(given, sizes, strict=True))
