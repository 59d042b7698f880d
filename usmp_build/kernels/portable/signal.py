"""Operators of the signal library that compute each number of a spectrum or a channel by itself, or sums of some.

What they read is checked here as far as the model has it: their C reads where these numbers say.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from types import MappingProxyType

import numpy as np

from usmp_build.interfaces.accesses import Accesses, Part, Touch
from usmp_build.interfaces.kernels import (
    Constant,
    Derived,
    Input,
    Kernel,
    KernelCall,
    Operand,
    Output,
    Parameters,
    Traffic,
    Value,
    Whole,
)
from usmp_build.ir.graph import DType, Tensor
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
    turn = (Touch(0, 1, (weights.elements, 1)), Touch(2, 1, (weights.elements, 1), writes=True))
    accesses = Accesses((Part((rounds, weights.elements), turn),), (2, 0, 2))
    fields = (("size", source.elements), ("window", weights.elements), ("shift", shift))
    return _kernel("signal_window", (Input(0), Input(1), Output(0)), fields, accesses, {1: Traffic(source.size)})


def energy(node: Node) -> Kernel:
    """SignalEnergy: what TensorFlow Lite Micro leaves as it is, is 0 here."""
    source, output, options = node.input(0), node.output, node.options(o.Energy)
    check_types(node, (DType.INT16,), (DType.UINT32,))
    node.expect(source.elements == 2 * output.elements, "has an output of another size than its input")
    begin, end = options.start_index, options.end_index
    node.expect(begin >= 0 and end <= output.elements, f"computes numbers {begin} to {end} of {output.elements}")
    fields = (("size", output.elements), ("begin", begin), ("end", end))
    turn = (Touch(0, 2, (2,)), Touch(1, 1, (1,), writes=True))
    accesses = Accesses((Part((output.elements,), turn),), (2, 4))
    return _kernel("signal_energy", (Input(0), Output(0)), fields, accesses)


def fft_auto_scale(node: Node) -> Kernel:
    """SignalFftAutoScale: it looks over all samples first; then it reads each of them once more."""
    source, (output, shift) = node.input(0), _outputs(node, 2)
    check_types(node, (DType.INT16,), (DType.INT16, DType.INT32))
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    node.expect(shift.elements == 1, f"has {shift.elements} numbers of bits")
    turn = (Touch(0, 1, (1,)), Touch(1, 1, (1,), writes=True))
    parts = (Part((source.elements,), turn), Part((1,), (Touch(2, 1, writes=True),)))
    accesses = Accesses(parts, (2, 2, 4), phases=True)
    traffic = {0: Traffic(2 * source.size)}
    fields = (("size", source.elements),)
    return _kernel("signal_fft_auto_scale", (Input(0), Output(0), Output(1)), fields, accesses, traffic)


def square_root(node: Node) -> Kernel:
    """SignalFilterBankSquareRoot."""
    source, shift, output = node.input(0), node.input(1), node.output
    check_types(node, (DType.UINT64, DType.INT32), (DType.UINT32,))
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    node.expect(shift.elements == 1, f"has {shift.elements} numbers of bits")
    turn = (Touch(0, 1, (1,)), Touch(2, 1, (1,), writes=True))
    parts = (Part((1,), (Touch(1, 1),)), Part((source.elements,), turn))
    accesses = Accesses(parts, (8, 4, 4), phases=True)
    operands = (Input(0), Input(1), Output(0))
    return _kernel("signal_square_root", operands, (("size", source.elements),), accesses)


def logarithm(node: Node) -> Kernel:
    """SignalFilterBankLog."""
    source, output, options = node.input(0), node.output, node.options(o.FilterBankLog)
    check_types(node, (DType.UINT32,), (DType.INT16,))
    check_shift(node, options.input_correction_bits, 32)
    node.expect(source.elements == output.elements, "has an output of another size than its input")
    turn = (Touch(0, 1, (1,)), Touch(2, 1, (1,), writes=True))
    accesses = Accesses((Part((source.elements,), turn),), (4, 0, 2))
    fields = (
        ("size", source.elements),
        ("correction", options.input_correction_bits),
        ("scale", options.output_scale),
    )
    call = _call("signal_log", (Input(0), Derived(0), Output(0)), fields, accesses, {1: Traffic(source.size)})
    entries = [round(65536 * (log2(1 + i / 128) - i / 128)) for i in range(129)]
    return Kernel((call,), constants=(Constant("logarithms", DType.UINT16, np.array(entries, "<u2").tobytes()),))


def pcan(node: Node) -> Kernel:
    """SignalPCAN."""
    source, noise, gains, output = node.input(0), node.input(1), node.input(2), node.output
    check_types(node, (DType.UINT32, DType.UINT32, DType.INT16), (DType.UINT32,))
    shift = node.options(o.Pcan).snr_shift
    check_shift(node, shift, 64)
    sizes = {source.elements, noise.elements, output.elements}
    node.expect(len(sizes) == 1, "has operands of several sizes")
    node.expect(gains.elements >= _GAINS, f"has a table of {gains.elements} gains, not {_GAINS}")
    turn = (Touch(0, 1, (1,)), Touch(1, 1, (1,)), Touch(3, 1, (1,), writes=True))
    accesses = Accesses((Part((source.elements,), turn),), (4, 4, 0, 4))
    operands = (Input(0), Input(1), Input(2), Output(0))
    traffic = {2: Traffic(6 * source.elements)}
    return _kernel("signal_pcan", operands, (("size", source.elements), ("shift", shift)), accesses, traffic)


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
    read = sum(wide)
    weighed, placed = Traffic(2 * read), Traffic(2 * len(wide))
    traffic = {1: weighed, 2: weighed, 3: placed, 4: placed, 5: Traffic(2 * (channels + 1))}
    reads = [(Touch(0, width, start=start),) if width > 0 else () for start, width in zip(starts, widths, strict=False)]
    writes = [(), *((Touch(6, 1, start=channel, writes=True),) for channel in range(channels))]
    parts = tuple(Part((1,), (*read, *write)) for read, write in zip(reads, writes, strict=False) if read or write)
    accesses = Accesses(parts, (4, 0, 0, 0, 0, 0, 8))
    operands: tuple[Operand, ...] = (*(Input(position) for position in range(6)), Output(0))
    return _kernel("signal_filter_bank", operands, (("channels", channels),), accesses, traffic)


def apart(read: int, output: int, written: int, widths: tuple[int, ...]) -> Accesses:
    """Return the accesses of a function that reads all of its first operand once more after it wrote its output.

    `read` and `written` are elements, `output` is the number of the operand.
    """
    parts = (Part((1,), (Touch(output, written, writes=True),)), Part((1,), (Touch(0, read),)))
    return Accesses(parts, widths)


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


def _kernel(
    function: str,
    operands: tuple[Operand, ...],
    fields: tuple[tuple[str, Value], ...],
    accesses: Accesses,
    traffic: Mapping[int, Traffic] = MappingProxyType({}),
) -> Kernel:
    return Kernel((_call(function, operands, fields, accesses, traffic),))


def _call(
    function: str,
    operands: tuple[Operand, ...],
    fields: tuple[tuple[str, Value], ...],
    accesses: Accesses,
    traffic: Mapping[int, Traffic] = MappingProxyType({}),
) -> KernelCall:
    return KernelCall(
        function, Whole(), operands, Parameters(f"{function}_parameters", fields), traffic, accesses=accesses
    )


KERNELS = {
    f"{o.CUSTOM}SignalEnergy": energy,
    f"{o.CUSTOM}SignalFftAutoScale": fft_auto_scale,
    f"{o.CUSTOM}SignalFilterBankLog": logarithm,
    f"{o.CUSTOM}SignalFilterBankSquareRoot": square_root,
    f"{o.CUSTOM}SignalPCAN": pcan,
    f"{o.CUSTOM}SignalWindow": window,
}
KERNELS_OF_ONE_DIRECTION = {f"{o.CUSTOM}SignalFilterBank": filter_bank}
