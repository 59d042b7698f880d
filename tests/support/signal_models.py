"""Models of the signal library's operators that remember something, drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tests.support.kernels.drawing import pick, span
from usmp_build.ir.graph import DType, Operator, Subgraph, Tensor
from usmp_build.ir.options import Options
from usmp_build.operators import signal

Random: TypeAlias = np.random.Generator
INT16, FLOAT, BOOL, UINT32 = DType.INT16, DType.FLOAT32, DType.BOOL, DType.UINT32


def graph(kind: str, source: Tensor, outputs: tuple[Tensor, ...], options: Options) -> Subgraph:
    """Return the graph of one operator."""
    results = tuple(range(1, 1 + len(outputs)))
    op = Operator(f"{signal.CUSTOM}{kind}", (0,), results, options, 0)
    return Subgraph("main", (source, *outputs), (0,), results, (op,))


def delay(r: Random) -> Subgraph:
    """Signals of any number, later by less or more than a run is long."""
    shape = (*pick(r, [(), (2,), (1, 3)]), span(r, 1, 12))
    options = signal.Delay(pick(r, [0, 1, span(r, 0, 30)]))
    return graph("SignalDelay", Tensor("x", shape, INT16), (Tensor("y", shape, INT16),), options)


def framer(r: Random) -> Subgraph:
    """Frames that are a multiple of their step or not, one in a run or more."""
    step, frames, outer = span(r, 1, 6), span(r, 1, 3), pick(r, [(), (2,), (1,)])
    size = pick(r, [step, 2 * step, step + span(r, 0, 9)])
    outputs = (Tensor("y", (*outer, frames, size), INT16), Tensor("valid", (), BOOL))
    source = Tensor("x", (*outer, frames * step), INT16)
    return graph("SignalFramer", source, outputs, signal.Framer(size, step, bool(pick(r, [True, False]))))


def overlap_add(r: Random) -> Subgraph:
    """Frames of integers and floats."""
    size, frames, outer = span(r, 1, 12), span(r, 1, 3), pick(r, [(), (2,), (1, 2)])
    step, dtype = span(r, 1, size), pick(r, [INT16, FLOAT])
    output = Tensor("y", (*outer, frames * step), dtype)
    options = signal.OverlapAdd(step)
    return graph("SignalOverlapAdd", Tensor("x", (*outer, frames, size), dtype), (output,), options)


def stacker(r: Random) -> Subgraph:
    """Stacks that overlap, and such that do not."""
    channels, left, right = span(r, 1, 5), span(r, 0, 3), span(r, 0, 3)
    options = signal.Stacker(channels, left, right, span(r, 1, left + right + 1))
    outputs = (Tensor("y", (channels * (left + right + 1),), INT16), Tensor("valid", (), BOOL))
    return graph("SignalStacker", Tensor("x", (channels,), INT16), outputs, options)


def spectral_subtraction(r: Random) -> Subgraph:
    """Smoothing with 14 bits after the point, as converters write it, and other numbers."""
    channels, bits, smoothing, other = span(r, 1, 9), pick(r, [14, 8]), span(r, 0, 255), span(r, 0, 255)
    one = 1 << bits
    options = signal.SpectralSubtraction(
        alternate_one_minus_smoothing=one - other,
        alternate_smoothing=other,
        clamping=bool(pick(r, [True, False])),
        min_signal_remaining=span(r, 0, one),
        num_channels=channels,
        one_minus_smoothing=one - smoothing,
        smoothing=smoothing,
        smoothing_bits=pick(r, [10, 0, 4]),
        spectral_subtraction_bits=bits,
    )
    outputs = (Tensor("y", (channels,), UINT32), Tensor("noise", (channels,), UINT32))
    return graph("SignalFilterBankSpectralSubtraction", Tensor("x", (channels,), UINT32), outputs, options)


STATEFUL: dict[str, Callable[[Random], Subgraph]] = {
    each.__name__: each for each in (delay, framer, overlap_add, spectral_subtraction, stacker)
}
