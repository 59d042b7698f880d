"""Operators of the signal library that compute each number of a spectrum or a channel by itself, or sums of some.

What they read is checked here as far as the model has it: their C reads where these numbers say.
"""

from __future__ import annotations

from math import log2

import numpy as np

from usmp_build.interfaces.kernels import Constant, Derived, Input, Kernel, Output, Traffic
from usmp_build.ir.graph import DType, Tensor
from usmp_build.kernels.nest import InTurn, Nest, aside, kernel, reads, writes
from usmp_build.kernels.node import Node, unsupported_types
from usmp_build.operators import signal as o

_GAINS = 125
"""Numbers in a table of gains: three, then four for each number of bits from 2 to 32, without the last."""


def window(node: Node) -> Kernel:
    """SignalWindow."""
    source, weights, output = node.input(0), node.input(1), node.output
    check_types(node, (DType.INT16, DType.INT16), (DType.INT16,))
    shift = node.options(o.Window).shift
    check_shift(node, shift, 32)
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    node.expect(source.elements % weights.elements == 0, "has a window that does not divide its input")
    rounds = source.elements // weights.elements
    spans = reads(Input(0)), aside(Input(1)), writes(Output(0))
    nest = Nest({"rounds": rounds, "samples": weights.elements}, spans)
    fields = (("size", source.elements), ("window", weights.elements), ("shift", shift))
    return kernel(node, "signal_window", nest, fields)


def energy(node: Node) -> Kernel:
    """SignalEnergy: what TensorFlow Lite Micro leaves as it is, is 0 here."""
    source, output, options = node.input(0), node.output, node.options(o.Energy)
    check_types(node, (DType.INT16,), (DType.UINT32,))
    node.expect(source.elements == 2 * output.elements, "has an output of another size than its input")
    begin, end = options.start_index, options.end_index
    node.expect(begin >= 0 and end <= output.elements, f"computes numbers {begin} to {end} of {output.elements}")
    fields = (("size", output.elements), ("begin", begin), ("end", end))
    nest = Nest({"numbers": output.elements}, (reads(Input(0), 2), writes(Output(0))))
    return kernel(node, "signal_energy", nest, fields)


def fft_auto_scale(node: Node) -> Kernel:
    """SignalFftAutoScale: it looks over all samples first; then it reads each of them once more."""
    source, (output, shift) = node.input(0), _outputs(node, 2)
    check_types(node, (DType.INT16,), (DType.INT16, DType.INT32))
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    node.expect(shift.elements == 1, f"has {shift.elements} numbers of bits")
    scaled = Nest({"samples": source.elements}, (reads(Input(0)), writes(Output(0))))
    nest = InTurn((scaled, Nest({}, (writes(Output(1)),))), phases=True)
    moved = Traffic(2 * source.size)
    return kernel(node, "signal_fft_auto_scale", nest, (("size", source.elements),), moved={Input(0): moved})


def square_root(node: Node) -> Kernel:
    """SignalFilterBankSquareRoot."""
    source, shift, output = node.input(0), node.input(1), node.output
    check_types(node, (DType.UINT64, DType.INT32), (DType.UINT32,))
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    node.expect(shift.elements == 1, f"has {shift.elements} numbers of bits")
    rooted = Nest({"numbers": source.elements}, (reads(Input(0)), writes(Output(0))))
    return kernel(
        node,
        "signal_square_root",
        InTurn((Nest({}, (reads(Input(1)),)), rooted), phases=True),
        (("size", source.elements),),
        operands=(Input(0), Input(1), Output(0)),
    )


def logarithm(node: Node) -> Kernel:
    """SignalFilterBankLog."""
    source, output, options = node.input(0), node.output, node.options(o.FilterBankLog)
    check_types(node, (DType.UINT32,), (DType.INT16,))
    check_shift(node, options.input_correction_bits, 32)
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    nest = Nest({"numbers": source.elements}, (reads(Input(0)), aside(Derived(0), 2), writes(Output(0))))
    fields = (
        ("size", source.elements),
        ("correction", options.input_correction_bits),
        ("scale", options.output_scale),
    )
    entries = [round(65536 * (log2(1 + i / 128) - i / 128)) for i in range(129)]
    table = Constant("logarithms", DType.UINT16, np.array(entries, "<u2").tobytes())
    return kernel(node, "signal_log", nest, fields, constants=(table,))


def pcan(node: Node) -> Kernel:
    """SignalPCAN."""
    source, noise, gains, output = node.input(0), node.input(1), node.input(2), node.output
    check_types(node, (DType.UINT32, DType.UINT32, DType.INT16), (DType.UINT32,))
    shift = node.options(o.Pcan).snr_shift
    check_shift(node, shift, 64)
    sizes = {source.elements, noise.elements, output.elements}
    node.expect(len(sizes) == 1, "has operands of several sizes")
    node.expect(gains.elements >= _GAINS, f"has a table of {gains.elements} gains, not {_GAINS}")
    spans = reads(Input(0)), reads(Input(1)), aside(Input(2), 3), writes(Output(0))
    nest = Nest({"numbers": source.elements}, spans)
    return kernel(node, "signal_pcan", nest, (("size", source.elements), ("shift", shift)))


def filter_bank(node: Node) -> Kernel:
    """SignalFilterBank, in one direction: what a channel hands on to the next goes forward."""
    source, output, channels = node.input(0), node.output, node.options(o.FilterBank).num_channels
    check_types(node, (DType.UINT32, *(DType.INT16,) * 5), (DType.UINT64,))
    node.expect(output.elements == channels, f"has an output of {output.elements} numbers for {channels} channels")
    starts, weight_starts, widths = (
        node.integers(position, role) for position, role in ((3, "places"), (4, "places"), (5, "widths"))
    )
    node.expect(min(map(len, (starts, weight_starts, widths))) > channels, "has fewer places than channels")
    weights = min(node.input(1).elements, node.input(2).elements)
    for start, first, width in zip(starts, weight_starts, widths[: channels + 1], strict=False):
        inside = width <= 0 or (0 <= start <= source.elements - width and 0 <= first <= weights - width)
        node.expect(inside, "has a channel that reaches beyond its spectrum or its weights")
    wide = [width for width in widths[: channels + 1] if width > 0]
    weighed, placed = Traffic(2 * sum(wide)), Traffic(2 * len(wide))
    read = [
        (reads(Input(0), width, start=start),) if width > 0 else ()
        for start, width in zip(starts, widths, strict=False)
    ]
    written = [(), *((writes(Output(0), start=channel),) for channel in range(channels))]
    turns = ((*one, *other) for one, other in zip(read, written, strict=False))
    return kernel(
        node,
        "signal_filter_bank",
        InTurn(tuple(Nest({}, turn) for turn in turns if turn)),
        (("channels", channels),),
        operands=(*map(Input, range(6)), Output(0)),
        moved={
            **dict.fromkeys(map(Input, (1, 2)), weighed),
            **dict.fromkeys(map(Input, (3, 4)), placed),
            Input(5): Traffic(2 * (channels + 1)),
        },
    )


def apart(read: int, written: int) -> InTurn:
    """Return the nests of a function that reads all of its input once more after it wrote its output."""
    return InTurn((Nest({}, (writes(Output(0), written),)), Nest({}, (reads(Input(0), read),))))


def check_types(node: Node, inputs: tuple[DType, ...], outputs: tuple[DType, ...]) -> None:
    """Raise Unsupported for other types than these, of the first operands."""
    sources, results = [node.input(i) for i in range(len(inputs))], _outputs(node, len(outputs))
    if tuple(tensor.dtype for tensor in (*sources, *results)) != (*inputs, *outputs):
        raise unsupported_types(*sources, *results)


def check_shift(node: Node, bits: int, width: int) -> None:
    """Raise KernelError for a shift that C does not define."""
    node.expect(0 <= bits < width, f"shifts numbers of {width} bits by {bits}")


def _outputs(node: Node, count: int) -> tuple[Tensor, ...]:
    node.expect(len(node.outputs) == count, f"has {len(node.outputs)} outputs, not {count}")
    return node.outputs
