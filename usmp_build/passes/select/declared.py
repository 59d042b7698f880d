"""Validates what a kernel library declares: accesses of its calls, and that a backward kernel matches the forward one.

Libraries are written by third parties, and their declarations decide which bytes get overwritten.  A declaration that
cannot be true is refused when the kernel is selected.  Whether a plausible one is true, `selftest --accesses` finds
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from math import prod

from usmp_build.errors import Diagnostic, KernelError
from usmp_build.interfaces.accesses import Accesses, Touch, Window
from usmp_build.interfaces.call_accesses import call_accesses
from usmp_build.interfaces.kernels import Input, Kernel, KernelCall, Operand, Output, Pieces, Scratch, Traffic
from usmp_build.interfaces.row_jobs import row_jobs
from usmp_build.ir.graph import Operator, Subgraph
from usmp_build.passes.separations.turns import NOWHERE, turns

_ACCESSES = "correct the library; a call that declares no accesses overlaps nothing, and is always right"
_BACKWARD = "correct the library; with None as its backward kernel the operator runs forward only"
_BY_ROWS = "correct the library: calls in pieces, or a reduction, of several rows, that declare their accesses"

_LARGEST = 1 << 40
"""Largest absolute value of any number in a declaration."""
_FARTHEST = 1 << 50
"""Most bytes that all loops of a touch go through together: sums then fit into 64 bits."""


def check_declared(kernel: Kernel, op: Operator, graph: Subgraph) -> None:
    """Check the declarations of a kernel, and of its kernel by rows.

    Raises KernelError: K410 for accesses, K411 for the backward kernel, K412 for one that does not go by rows.
    """
    for variant in filter(None, (kernel, kernel.backward)):
        for call in variant.calls:
            fault = next(_wrong_accesses(variant, call, op, graph), None)
            if fault:
                message = f'the kernel library "{kernel.library}" declares impossible accesses of {call.function}: '
                raise KernelError(Diagnostic("K410", message + fault, help=_ACCESSES))
    unequal = next(_unequal(kernel, kernel.backward), None) if kernel.backward is not None else None
    if unequal:
        name = kernel.calls[0].function if kernel.calls else op.kind
        message = f'the kernel library "{kernel.library}" has a backward kernel of {name} with other {unequal} '
        raise KernelError(Diagnostic("K411", message + "than the forward one", help=_BACKWARD))
    if kernel.by_rows is not None:
        if row_jobs(kernel.by_rows) is None or kernel.by_rows.by_rows is not None:
            message = f'the kernel library "{kernel.library}" has a kernel by rows for {op.kind} that has no rows'
            raise KernelError(Diagnostic("K412", message, help=_BY_ROWS))
        check_declared(kernel.by_rows, op, graph)


def _wrong_accesses(kernel: Kernel, call: KernelCall, op: Operator, graph: Subgraph) -> Iterator[str]:
    """Yield a clause for each fault in the accesses that a call declares."""
    declared = call.accesses
    if isinstance(call.form, Pieces) and len(call.form.pitches) != len(call.operands):
        yield f"its pieces have {len(call.form.pitches)} pitches, and the call has {len(call.operands)} operands"
    if unknown := sorted(call.traffic.keys() - range(len(call.operands))):
        yield f"it states the traffic of operand {unknown[0]}, and has {len(call.operands)}"
    if declared is None:
        return
    if len(declared.widths) != len(call.operands):
        yield f"it has {len(declared.widths)} widths, and the call has {len(call.operands)} operands"
    if min((*declared.widths, *declared.loops), default=0) < 0:
        yield "a width or the length of a loop is negative"
    for part in declared.parts:
        if min(part.loops, default=0) < 0:
            yield "the length of a loop is negative"
        for touch in part.touches:
            yield from _wrong_touch(touch, len(call.operands), len(declared.loops) + len(part.loops))
    whole = call_accesses(call)
    if whole is None:
        yield f"they do not fit its form, {type(call.form).__name__}"
        return
    yield from _wrong_loops(whole)
    yield from _outside(kernel, call, whole, op, graph)


def _wrong_loops(whole: Accesses) -> Iterator[str]:
    """Yield a clause for each fault in loops, including those of the form: lengths and extents beyond 64-bit sums."""
    for part in whole.parts:
        loops = (*whole.loops, *part.loops)
        if not 0 <= min(loops, default=0) <= max(loops, default=0) <= _LARGEST:
            yield f"the length of a loop is not between 0 and {_LARGEST:,}"
        for touch in part.touches:
            if any(map(_is_impossible, touch.windows)):
                yield f"a window of operand {touch.operand} has taps, a step or a dilation below 1, or a wrong repeat"
            if _way(touch, loops) * max(1, whole.widths[touch.operand]) > _FARTHEST:
                yield f"it goes through more than {_FARTHEST:,} bytes of operand {touch.operand}"


def _is_impossible(window: Window) -> bool:
    counts = (window.taps, window.step, window.dilation, window.every, window.repeat)
    return min(counts) < 1 or not 0 <= window.phase < window.repeat


def _way(touch: Touch, loops: tuple[int, ...]) -> int:
    """Return an upper bound on the elements that loops and windows go through, whatever their direction."""
    lasts = [max(0, loop - 1) for loop in loops]
    strides = sum(abs(stride) * last for stride, last in zip(touch.strides, lasts, strict=False))
    windows = (
        max(1, abs(w.pitch)) * (lasts[w.loop] * w.step + abs(w.before) + abs(w.size) * w.every + w.taps * w.dilation)
        for w in touch.windows
    )
    return abs(touch.start) + touch.size + strides + sum(windows)


def _wrong_touch(touch: Touch, operands: int, loops: int) -> Iterator[str]:
    operand = f"operand {touch.operand}"
    if not 0 <= touch.operand < operands:
        yield f"it touches {operand}, and has {operands}"
    if touch.size < 0:
        yield f"it touches {touch.size} elements of {operand}"
    if max(len(touch.strides), len(touch.rows)) > loops:
        yield f"it has {max(len(touch.strides), len(touch.rows))} strides of {operand}, and {loops} loops"
    for window in touch.windows:
        if not 0 <= window.loop < loops:
            yield f"a window of {operand} is moved by loop {window.loop}, and there are {loops} loops"
        if _is_impossible(window) or window.size < 0:
            yield f"a window of {operand} has taps, a step or a dilation below 1, a wrong repeat, or a negative size"
    numbers = (
        (touch.start, touch.size, *touch.strides, *touch.rows),
        *((w.pitch, w.size, w.taps, w.step, w.dilation, w.before, w.every, w.repeat) for w in touch.windows),
    )
    if max(map(abs, chain(*numbers))) > _LARGEST:
        yield f"a number of {operand} is beyond {_LARGEST:,}"


def _outside(kernel: Kernel, call: KernelCall, whole: Accesses, op: Operator, graph: Subgraph) -> Iterator[str]:
    for position, low, end in _reach(whole):
        size = _extent(kernel, call.operands[position], op, graph)
        if size is not None and low < end and (low < 0 or end > size):
            yield f"it touches bytes [{low:,}, {end:,}) of operand {position}, which has {size:,}"


@lru_cache(maxsize=4096)
def _reach(whole: Accesses) -> tuple[tuple[int, int, int], ...]:
    """Return (operand, lowest byte touched, end of the highest one); cached, since many operators are alike."""
    extents = sorted(turns(whole, 1).extents.items())
    return tuple(
        (n, int(extent.low.min(initial=NOWHERE)), int(extent.end.max(initial=-NOWHERE))) for (n, _), extent in extents
    )


def _extent(kernel: Kernel, operand: Operand, op: Operator, graph: Subgraph) -> int | None:
    """Return the bytes from the start of an operand to its end; None for operands that are never planned."""
    if isinstance(operand, Scratch):
        return kernel.scratch[operand.position].size
    if not isinstance(operand, Input | Output):
        return None
    index = (op.inputs if isinstance(operand, Input) else op.outputs)[operand.position]
    if index is None:
        return None
    tensor = graph.tensors[index]
    if index not in graph.pitches:
        return tensor.size
    pixels = prod(tensor.shape[:-1])
    return graph.pitches[index] * (pixels - 1) + tensor.size // pixels


def _unequal(forward: Kernel, backward: Kernel) -> Iterator[str]:
    for name in ("scratch", "constants", "alignment", "updates", "strikes", "pitched"):
        if getattr(forward, name) != getattr(backward, name):
            yield name
    if _moved(forward) != _moved(backward):
        yield "traffic"
    if backward.backward is not None:
        yield "directions"


def _moved(kernel: Kernel) -> dict[Operand, tuple[Traffic, int]]:
    """Return for each operand the stated traffic of all calls, and the number of calls that state none."""
    moved: dict[Operand, tuple[Traffic, int]] = {}
    for call in kernel.calls:
        for position, operand in enumerate(call.operands):
            total, silent = moved.get(operand, (Traffic(), 0))
            stated = call.traffic.get(position)
            moved[operand] = (total, silent + 1) if stated is None else (total + stated, silent)
    return moved
