"""Models of the signal library's operators that remember something, and of CIRCULAR_BUFFER, drawn at random."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from tests.support.kernels.drawing import pick, span
from usmp_build.ir.graph import DType, Operator, Quantization, Subgraph, Tensor
from usmp_build.ir.options import Options
from usmp_build.operators import signal
from usmp_build.operators.circular_buffer import CIRCULAR_BUFFER, CircularBuffer

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


def circular_buffer(r: Random) -> Subgraph:
    """Periods that are stated or follow from the shape, with a flag or without; what is kept is read before or after.

    A second buffer takes the first one as it is if that has one slot.
    """
    has_flag, width, depth = bool(r.integers(2)), span(r, 1, 3), span(r, 1, 9)
    slots = pick(r, [1, span(r, 1, 9), 5, 13])
    by_shape = [0] if has_flag or slots in (5, 13) else []
    cycles = pick(r, [1, *by_shape, *([span(r, 2, 4)] if has_flag else [])])
    same = Quantization((0.5,), (span(r, -128, 127),))

    def held(name: str, length: int, is_variable: bool) -> Tensor:
        return Tensor(name, (1, length, width, depth), DType.INT8, same, is_variable=is_variable)

    tensors = [held("x", 1, False), held("y", slots, True), held("z", slots, False), held("next", 5, True)]
    flag = (len(tensors),) if has_flag else ()
    buffer = Operator(CIRCULAR_BUFFER, (0,), (1, *flag), CircularBuffer(cycles), 0)
    reader = Operator("RELU", (1,), (2,), None, 0)
    operators = [buffer, reader] if r.integers(2) else [reader, buffer]
    outputs = [1, 2, *flag]
    if slots == 1:
        operators.append(Operator(CIRCULAR_BUFFER, (1,), (3,), CircularBuffer(0), 0))
        outputs.append(3)
    placed = tuple(replace(op, position=position) for position, op in enumerate(operators))
    flags = (Tensor("valid", (1,), BOOL),) * has_flag
    return Subgraph("main", (*tensors, *flags), (0,), tuple(outputs), placed)


STATEFUL: dict[str, Callable[[Random], Subgraph]] = {
    each.__name__: each for each in (circular_buffer, delay, framer, overlap_add, spectral_subtraction, stacker)
}


def features(r: Random) -> Subgraph:
    """The way from samples to features of speech: all that is not told by itself in one graph."""
    uint32, uint64, int32 = DType.UINT32, DType.UINT64, DType.INT32
    bins, channels = 33, 6
    widths = np.array([3, 4, 4, 5, 5, 6, 6])
    starts = np.cumsum(widths) - widths
    weights = r.integers(0, 4096, int(widths.sum()))
    gains = r.integers(0, 20000, 125)
    given = {
        "window": np.hanning(60) * 4096,
        "weights": weights,
        "unweights": 4096 - weights,
        "starts": starts,
        "firsts": starts,
        "widths": widths,
        "gains": gains,
    }
    tensors = [
        Tensor("samples", (60,), INT16),
        *(Tensor(name, data.shape, INT16, data=data.astype("<i2").tobytes()) for name, data in given.items()),
        Tensor("windowed", (60,), INT16),
        Tensor("scaled", (60,), INT16),
        Tensor("bits", (), int32),
        Tensor("spectrum", (2 * bins,), INT16),
        Tensor("energy", (bins,), uint32),
        Tensor("banks", (channels,), uint64),
        Tensor("roots", (channels,), uint32),
        Tensor("cleaned", (channels,), uint32),
        Tensor("noise", (channels,), uint32),
        Tensor("normalized", (channels,), uint32),
        Tensor("features", (channels,), INT16),
    ]
    at = {tensor.name: index for index, tensor in enumerate(tensors)}
    banks = "energy weights unweights starts firsts widths"
    smoothing = signal.SpectralSubtraction(15400, 983, False, 819, channels, 15975, 409, 10, 14)
    steps: list[tuple[str, str, str, Options | None]] = [
        ("Window", "samples window", "windowed", signal.Window(12)),
        ("FftAutoScale", "windowed", "scaled bits", None),
        ("Rfft", "scaled", "spectrum", signal.Fft(64)),
        ("Energy", "spectrum", "energy", signal.Energy(0, bins)),
        ("FilterBank", banks, "banks", signal.FilterBank(channels)),
        ("FilterBankSquareRoot", "banks bits", "roots", None),
        ("FilterBankSpectralSubtraction", "roots", "cleaned noise", smoothing),
        ("PCAN", "cleaned noise gains", "normalized", signal.Pcan(6)),
        ("FilterBankLog", "normalized", "features", signal.FilterBankLog(3, 1600)),
    ]
    operators = tuple(
        Operator(
            f"{signal.CUSTOM}Signal{kind}",
            tuple(at[name] for name in inputs.split()),
            tuple(at[name] for name in outputs.split()),
            options,
            number,
        )
        for number, (kind, inputs, outputs, options) in enumerate(steps)
    )
    return Subgraph("main", tuple(tensors), (at["samples"],), (at["features"],), operators)
