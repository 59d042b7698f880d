"""Expands the access declaration of one call by the loop of its form: all accesses of the operator.

The loop is derived from the `Form`, which also determines the generated loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest

from usmp_build.interfaces.accesses import Accesses, Part, Touch, Window
from usmp_build.interfaces.kernels import KernelCall, Pieces, Reduce, Rows, Whole


def call_accesses(call: KernelCall) -> Accesses | None:
    """Return the accesses of a call, in the order in which it runs; None if it declares none."""
    declared = call.accesses
    if declared is None or len(declared.widths) != len(call.operands):
        return None
    first, last = 0, len(call.operands) - 1
    match call.form:
        case Whole():
            accesses: Accesses | None = declared
        case Rows() as form:
            pitches = {
                first: (form.input_rows * form.input_row_elements, 0),
                last: (form.rows * form.output_row_elements, form.output_row_elements),
            }  # the rows of the input that a turn reads are those under the window
            parts = tuple(_inside_loops(part, 2, pitches) for part in declared.parts)
            rows = tuple(_under_window(part, form) for part in parts)
            accesses = replace(declared, loops=(form.images, form.rows, *declared.loops), parts=rows)
        case Pieces(count, pitches):
            steps = {operand: (pitch,) for operand, pitch in enumerate(pitches)}
            parts = tuple(_inside_loops(part, 1, steps) for part in declared.parts)
            accesses = replace(declared, loops=(count, *declared.loops), parts=parts)
        case Reduce() as form:
            accesses = _reduced(declared, form, last)
    return accesses.reversed() if accesses is not None and call.backward else accesses


def _reduced(declared: Accesses, form: Reduce, last: int) -> Accesses | None:
    """Return the accesses of a reduction, declared as three parts: those of `_begin`, `_row` and `_finish`."""
    if len(declared.parts) != 3 or declared.loops:
        return None
    begin, row, finish = declared.parts
    row = _inside_loops(row, 2, {0: (form.rows * form.input_row_elements, form.input_row_elements)})
    row = replace(row, loops=(form.rows, *row.loops))
    finish = _inside_loops(finish, 1, {last: (form.output_row_elements,)})
    return replace(declared, loops=(form.images,), parts=(_inside_loops(begin, 1, {}), row, finish), phases=True)


def _inside_loops(part: Part, loops: int, pitches: Mapping[int, tuple[int, ...]]) -> Part:
    """Put a part into this many outer loops; `pitches` are strides of operands along them, 0 for others."""

    def moved(touch: Touch) -> Touch:
        strides = (*pitches.get(touch.operand, (0,) * loops), *touch.strides)
        windows = tuple(replace(window, loop=window.loop + loops) for window in touch.windows)
        return replace(touch, strides=strides, windows=windows)

    return replace(part, touches=tuple(map(moved, part.touches)))


def _under_window(part: Part, form: Rows) -> Part:
    """Return a part that reads the streamed input in all rows under the window of the second loop, or in one."""
    rows = Window(
        1,
        form.input_row_elements,
        form.input_rows,
        form.window,
        form.stride,
        form.dilation,
        form.before,
        form.repeat,
        form.phase,
    )

    def moved(touch: Touch) -> Touch:
        if touch.operand != 0:
            return touch
        if not touch.rows:
            return replace(touch, windows=(rows, *touch.windows))
        further = (0, form.stride, *(form.dilation * each for each in touch.rows))
        both = zip_longest(touch.strides, further, fillvalue=0)
        strides = tuple(stride + form.input_row_elements * each for stride, each in both)
        return replace(touch, strides=strides, start=touch.start - form.before * form.input_row_elements, rows=())

    return replace(part, touches=tuple(map(moved, part.touches)))
